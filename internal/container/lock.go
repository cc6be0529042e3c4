package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// LockFile is the file at the root of a workspace with the digests of images.
const LockFile = "bento.lock"

// Lock has the digests of images by the names that the configuration has for them.
type Lock map[string]string

// ReadLock reads the LockFile of a workspace; a missing one is empty.
func ReadLock(root string) (Lock, error) {
	data, err := clone.At(root).Read(LockFile, tomlfile.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", LockFile, err)
	}
	f, problems := tomlfile.Parse(LockFile, data)
	var raw struct {
		Images map[string]tomlfile.At[string] `toml:"images"`
	}
	if f != nil {
		problems = append(problems, f.Decode(&raw)...)
	}
	lock := make(Lock, len(raw.Images))
	for name, v := range raw.Images {
		if v.Given && !digest.MatchString(v.Value) {
			problems = append(problems, v.Pos.Error(diagnostics.RuleInvalid, "%q is no digest of an image, expected sha256: and 64 hexadecimal digits", v.Value).
				WithHint("run bento container update"))
		}
		lock[name] = v.Value
	}
	return lock, diagnostics.AsError(diagnostics.Sorted(problems))
}

var digest = pattern.New(`^sha256:[0-9a-f]{64}$`)

// Text returns the content of the LockFile.
func (l Lock) Text() string {
	var b strings.Builder
	b.WriteString("# The digests of the images in which tasks run. `bento container lock` writes this file: commit it.\n[images]\n")
	for _, name := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintf(&b, "%s = %s\n", strconv.Quote(name), strconv.Quote(l[name]))
	}
	return b.String()
}

// pinned returns the digest of an image, from its reference or from the LockFile.
func (h *Host) pinned(c *dish.Container) (string, error) {
	if _, sum, ok := strings.Cut(c.Image, "@"); ok {
		return sum, nil
	}
	lock, err := h.locked()
	if err != nil {
		return "", err
	}
	if sum := lock[c.Image]; sum != "" {
		return sum, nil
	}
	return "", &key.UnknownImage{Image: c.Image, Pos: c.Pos}
}

// Resolve asks the engine for the present digest of a tag. With fresh it pulls the image, unless only this machine has it;
// else it pulls what the machine lacks.
func (h *Host) Resolve(ctx context.Context, c *dish.Container, fresh bool) (string, error) {
	e, err := h.engine(ctx, c)
	if err != nil {
		return "", err
	}
	known, err := e.inspect(ctx, c.Image)
	if err != nil && !isMissing(err) {
		return "", err
	}
	if known == nil || fresh {
		_, perr := e.ask(ctx, "pull", "--quiet", c.Image)
		switch {
		case perr == nil:
			if known, err = e.inspect(ctx, c.Image); err != nil {
				return "", err
			}
		case known == nil || !known.local(c.Image):
			return "", fmt.Errorf("the image %s cannot be pulled: %w", c.Image, perr)
		}
	}
	return known.digestOf(c.Image), nil
}
