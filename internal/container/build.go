package container

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// buildContext is the files that an image is built of: those of a directory that git does not ignore, less those of its
// .dockerignore, and the file with the instructions.
type buildContext struct {
	host       *Host
	dir        string // relative to the workspace
	dockerfile string // likewise
	files      []tree.Entry
}

// maxIgnore is the largest size of a .dockerignore in bytes.
const maxIgnore = 1 << 20

// contextOf returns the context of c.
func (h *Host) contextOf(c *dish.Container) (*buildContext, error) {
	b := &buildContext{host: h, dir: c.Context, dockerfile: c.Dockerfile}
	file, ok := h.Tree.Lookup(c.Dockerfile)
	if !ok {
		return nil, diagnostics.Problems{c.Pos.Error("dockerfile_missing", "the dockerfile %s does not exist, or git ignores it", c.Dockerfile).
			WithHint("name a file relative to the directory of this file")}
	}
	ignored, err := h.ignores(c.Context)
	if err != nil {
		return nil, err
	}
	for _, e := range h.Tree.Under(c.Context) {
		if e.Path == c.Dockerfile || !ignored(b.rel(e.Path)) && !key.IsOwn(e.Path) {
			b.files = append(b.files, e)
		}
	}
	if !key.Inside(c.Dockerfile, c.Context) {
		b.files = append(b.files, file)
	}
	return b, nil
}

// rel returns a path relative to the context.
func (b *buildContext) rel(p string) string {
	if b.dir == "." {
		return p
	}
	return strings.TrimPrefix(p, b.dir+"/")
}

// ignores returns the rules of the .dockerignore of a directory: later lines go before earlier ones, "!" includes again.
func (h *Host) ignores(dir string) (func(p string) bool, error) {
	name := path.Join(dir, ".dockerignore")
	data, err := clone.At(h.Root).Read(name, maxIgnore)
	if errors.Is(err, fs.ErrNotExist) {
		return func(string) bool { return false }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	type rule struct {
		set     *glob.Set
		include bool
	}
	var rules []rule
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		text, include := strings.CutPrefix(line, "!")
		text = strings.TrimPrefix(path.Clean("/"+strings.TrimSpace(text)), "/")
		if text == "" {
			continue
		}
		set, err := glob.Compile("", []string{text, text + "/**"})
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		rules = append(rules, rule{set, include})
	}
	return func(p string) bool {
		ignored := false
		for _, r := range rules {
			if r.include == ignored && r.set.Match(p) {
				ignored = !r.include
			}
		}
		return ignored
	}, nil
}

// buildPrefix is in front of the digest of a context, in place of the digest of an image.
const buildPrefix = "build:"

// digest identifies the image: all that it is built of.
func (b *buildContext) digest() (string, error) {
	sum := blake3.New()
	fmt.Fprintf(sum, "bento image v1\x00%q\x00", b.dockerfileIn())
	for _, e := range b.files {
		fmt.Fprintf(sum, "%q %v ", b.rel(e.Path), key.Executable(e.Mode))
		if e.Kind == tree.Link {
			target, err := b.host.Tree.Readlink(e)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "-> %q\n", target)
			continue
		}
		content, err := b.host.Tree.Index().Sum(e)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%x\n", content)
	}
	return buildPrefix + hex.EncodeToString(sum.Sum(nil)), nil
}

// outside is the name in the staged context of a dockerfile that is not in the context.
const outside = ".bento.dockerfile"

// dockerfileIn returns the path of the dockerfile in the staged context.
func (b *buildContext) dockerfileIn() string {
	if key.Inside(b.dockerfile, b.dir) {
		return b.rel(b.dockerfile)
	}
	return outside
}

// stage copies the files to a directory. Their content must be that of the digest.
func (b *buildContext) stage(dir string) error {
	for _, e := range b.files {
		to := b.rel(e.Path)
		if e.Path == b.dockerfile {
			to = b.dockerfileIn()
		}
		at := filepath.Join(dir, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := b.copy(at, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *buildContext) copy(to string, e tree.Entry) error {
	if e.Kind == tree.Link {
		target, err := b.host.Tree.Readlink(e)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	want, err := b.host.Tree.Index().Sum(e)
	if err != nil {
		return err
	}
	in, err := os.OpenFile(filepath.Join(b.host.Root, filepath.FromSlash(e.Path)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	mode := fs.FileMode(0o644)
	if key.Executable(e.Mode) {
		mode = 0o755
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	sum := blake3.New()
	if _, err = io.Copy(io.MultiWriter(out, sum), in); err != nil {
		out.Close()
		return err
	}
	if [32]byte(sum.Sum(nil)) != [32]byte(want) {
		out.Close()
		return errChanged
	}
	return out.Close()
}

// errChanged is the error of files that are not those of the key any more.
var errChanged = errors.New("the files of the image have changed since the key was made: run again")

// built returns the image of a dockerfile, which it builds unless the engine has it. Its tag has the digest of all that it is
// built of, so the engine keeps it as long as it likes.
func (h *Host) built(ctx context.Context, e *engine, c *dish.Container, sum string, log io.Writer) (*inspected, error) {
	tag := "localhost/bento-build:" + strings.TrimPrefix(sum, buildPrefix)
	known, err := e.inspect(ctx, tag)
	if err == nil || !isMissing(err) {
		return known, err
	}
	b, err := h.contextOf(c)
	if err != nil {
		return nil, err
	}
	if now, err := b.digest(); err != nil || now != sum {
		return nil, errors.Join(err, errChanged)
	}
	dir, err := os.MkdirTemp("", "bento-build-")
	if err != nil {
		return nil, err
	}
	defer removeAll(dir)
	if err := b.stage(dir); err != nil {
		return nil, err
	}
	words := slices.Concat([]string{"build", "--tag", tag, "--file", filepath.Join(dir, filepath.FromSlash(b.dockerfileIn()))}, h.Settings.BuildArgs, []string{dir})
	if err := e.do(ctx, log, dir, words...); err != nil {
		return nil, fmt.Errorf("%s cannot build the image of %s: %w", e.Name, c.Dockerfile, err)
	}
	return e.inspect(ctx, tag)
}
