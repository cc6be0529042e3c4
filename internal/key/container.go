package key

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
)

// UnknownImage is the error of a container whose image has no known digest. A task in it has no key and does not run.
type UnknownImage struct {
	Image string
	Pos   diagnostics.Pos // of the container
}

// Error returns the sentence that says what to do.
func (u *UnknownImage) Error() string {
	return fmt.Sprintf("the image %s has no digest in bento.lock: run bento container lock", u.Image)
}

// Locate returns err, or for an *UnknownImage the problem at its place.
func Locate(err error) error {
	var u *UnknownImage
	if errors.As(err, &u) {
		return diagnostics.Problems{u.problem()}
	}
	return err
}

func (u *UnknownImage) problem() diagnostics.Diagnostic {
	return u.Pos.Error("image_unlocked", "the image %s has no digest in bento.lock", u.Image).
		WithHint("run bento container lock, which asks the engine, and commit bento.lock; or name the image as NAME@sha256:DIGEST")
}

// Image returns the digest of the image that has all that t can see of a machine. It is zero without a container, and for
// one that sees more: mounts of this machine, what an install of this machine has made, or an image of a dockerfile, which may
// fetch other things elsewhere.
func (e *Evaluator) Image(t *plan.Task) (sum [sha256.Size]byte) {
	c := t.Container
	if c == nil || c.Dockerfile != "" || len(c.Mounts) > 0 || t.AwaitsInstall() {
		return sum
	}
	text, err := e.o.ImageOf(c)
	if err != nil {
		return sum // it has no key either
	}
	digits, _ := strings.CutPrefix(text, "sha256:")
	if raw, err := hex.DecodeString(digits); err == nil && len(raw) == len(sum) {
		return [sha256.Size]byte(raw)
	}
	return sum
}

// containerOf returns the ingredient of the container of t, "" for none. The engine is no part of it, and no variable:
// those of the container are variables of the task.
func (e *Evaluator) containerOf(t *plan.Task) (string, error) {
	c := t.Container
	if c == nil {
		return "", nil
	}
	digest, err := e.o.ImageOf(c)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(digest)
	if c.User != "" {
		b.WriteString(" user " + c.User)
	}
	for _, m := range c.Mounts {
		fmt.Fprintf(&b, " mount %q at %q", m.Source, m.Target)
	}
	return b.String(), nil
}
