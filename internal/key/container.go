package key

import (
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
