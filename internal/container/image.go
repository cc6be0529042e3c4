package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/proc"
)

// image is an image that a run needs, and the engine that has it.
type image struct {
	mu     sync.Mutex // held while it is made
	engine *engine
	known  *inspected // nil until it is there
}

// inspected is what an engine knows of an image.
type inspected struct {
	ID          string `json:"Id"`
	Digest      string
	RepoDigests []string
	Config      struct{ Env []string }
}

// inspect returns what the engine knows of an image that is on the machine.
func (e *engine) inspect(ctx context.Context, ref string) (*inspected, error) {
	out, err := e.ask(ctx, "image", "inspect", ref)
	if err != nil {
		return nil, err
	}
	var list []inspected
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) == 0 || list[0].ID == "" {
		return nil, fmt.Errorf("%s image inspect %s: unexpected answer", e.Name, ref)
	}
	return &list[0], nil
}

// environ returns the variables of the image. Engines add PATH.
func (i *inspected) environ() adapters.Environ {
	env := adapters.NewEnviron(i.Config.Env)
	if env.Get("PATH") == "" {
		env = env.With(map[string]string{"PATH": defaultPath})
	}
	return env
}

// isMissing reports whether err is the answer for an image that is not on the machine.
func isMissing(err error) bool {
	var r *refusal
	if !errors.As(err, &r) {
		return false
	}
	said := strings.ToLower(r.said)
	for _, words := range []string{"no such image", "image not known", "no such object", "unable to find image"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// digestOf returns the digest that identifies the image on other machines, else on this one.
func (i *inspected) digestOf(ref string) string {
	name := dish.Repository(ref)
	var sums []string
	for _, d := range i.RepoDigests {
		repo, sum, _ := strings.Cut(d, "@")
		if digest.MatchString(sum) && (repo == name || path.Base(repo) == path.Base(name)) {
			sums = append(sums, sum)
		}
	}
	switch {
	case slices.Contains(sums, i.Digest) || len(sums) == 0 && digest.MatchString(i.Digest):
		return i.Digest
	case len(sums) > 0:
		return sums[0]
	}
	return "sha256:" + strings.TrimPrefix(i.ID, "sha256:")
}

// local reports whether no registry has the image: it was made on this machine.
func (i *inspected) local(ref string) bool {
	return len(i.RepoDigests) == 0 || strings.HasPrefix(dish.Repository(ref), "localhost/") ||
		!slices.ContainsFunc(i.RepoDigests, func(d string) bool { return !strings.HasPrefix(d, "localhost/") })
}

// image returns the image of c, which it pulls or builds if the machine lacks it. What that prints goes to log. sum is
// what ImageOf has returned.
func (h *Host) image(ctx context.Context, c *dish.Container, sum string, log io.Writer) (*image, error) {
	e, err := h.engine(ctx, c)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	i := h.images[e.Name+" "+sum]
	if i == nil {
		i = &image{engine: e}
		h.images[e.Name+" "+sum] = i
	}
	h.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known != nil {
		return i, nil
	}
	if c.Dockerfile != "" {
		i.known, err = h.built(ctx, e, c, sum, log)
	} else {
		i.known, err = e.pulled(ctx, c.Image, sum, log)
	}
	return i, err
}

// Variables returns those that the image of c sets, and PATH. sum is what ImageOf has returned.
func (h *Host) Variables(ctx context.Context, c *dish.Container, sum string) (adapters.Environ, error) {
	i, err := h.image(ctx, c, sum, io.Discard)
	if err != nil {
		return nil, err
	}
	return i.known.environ(), nil
}

// pulled returns the image with a digest.
func (e *engine) pulled(ctx context.Context, ref, sum string, log io.Writer) (*inspected, error) {
	exact := dish.Repository(ref) + "@" + sum
	for _, name := range []string{exact, sum} { // an image that was made here may have an id alone
		known, err := e.inspect(ctx, name)
		if err == nil || !isMissing(err) {
			return known, err
		}
	}
	if err := e.do(ctx, log, "", "pull", "--quiet", exact); err != nil {
		return nil, fmt.Errorf("the image %s is not on this machine and cannot be pulled: %w; %s", exact, err,
			"if its tag has another content now, bento container update writes the new digest to "+LockFile)
	}
	return e.inspect(ctx, exact)
}

// do runs a subcommand in a directory, and writes what it prints to log.
func (e *engine) do(ctx context.Context, log io.Writer, dir string, words ...string) error {
	last := &tail{to: log}
	if dir == "" {
		dir = "/"
	}
	res, err := proc.Run(ctx, proc.Spec{Argv: e.command(words...), Dir: dir, Env: e.env, Stdout: last, Stderr: last, Engine: true})
	switch {
	case err != nil:
		return err
	case res.Canceled:
		return context.Canceled
	case res.ExitCode != 0:
		return &refusal{said: lastLine(string(last.end)), code: res.ExitCode}
	}
	return nil
}

// tail keeps the end of what is written to another writer.
type tail struct {
	to  io.Writer
	end []byte
}

const tailSize = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.end = append(t.end, p...)
	if over := len(t.end) - tailSize; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	if t.to == nil {
		return len(p), nil
	}
	return t.to.Write(p)
}
