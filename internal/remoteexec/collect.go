package remoteexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/tree"
)

// Bounds of what a server sends.
const (
	maxLog     = 256 << 20 // of each of the two, in bytes
	maxTree    = 64 << 20  // of the description of a directory
	maxOutputs = 64 << 30  // of the outputs of a command together
	maxNear    = 1 << 20   // of what is fetched together before it is used
)

// emptyTree is the description of an empty directory. No server needs to be asked for it.
var emptyTree = []byte{1<<3 | 2, 0}

// answer is the result of a command, with the small blobs that say what it has printed and made.
type answer struct {
	*reapi.ActionResult
	near map[remote.Digest][]byte
}

// fetchNear returns the result with its small blobs, which come in one call. What cannot be fetched is asked for again by who
// needs it.
func (c *Cluster) fetchNear(ctx context.Context, client *reapi.Client, r *reapi.ActionResult) *answer {
	a := &answer{ActionResult: r, near: map[remote.Digest][]byte{remote.Sum(emptyTree): emptyTree}}
	var wants []remote.Want
	want := func(d remote.Digest) {
		if _, known := a.near[d]; !known && d.Size > 0 && d.Size <= maxNear {
			a.near[d] = nil
			wants = append(wants, remote.Want{Digest: d})
		}
	}
	for _, s := range []reapi.Stream{r.Stdout, r.Stderr} {
		if len(s.Raw) == 0 {
			want(s.Digest)
		}
	}
	for _, dir := range r.Dirs {
		want(dir.Digest)
	}
	_ = client.Fetch(ctx, wants, func(w remote.Want, r io.Reader) error {
		if r == nil {
			return nil
		}
		data, err := io.ReadAll(r)
		if err == nil {
			a.near[w.Digest] = data
		}
		return err
	})
	return a
}

// collect brings what a command has printed and made from the server: the files that its outputs match.
func (c *Cluster) collect(ctx context.Context, client *reapi.Client, cmd *action.Command, end *reapi.Executed) (proc.Result, error) {
	r := c.fetchNear(ctx, client, end.Result)
	res := proc.Result{ExitCode: r.ExitCode}
	for _, log := range []struct {
		from reapi.Stream
		to   io.Writer
	}{{r.Stdout, cmd.Stdout}, {r.Stderr, cmd.Stderr}} {
		if err := c.print(ctx, client, r, log.from, log.to); err != nil {
			return res, c.fault(ctx, err)
		}
	}
	if cmd.Outputs == nil {
		return res, nil
	}
	made, err := c.outputs(ctx, client, r, cmd.Outputs)
	if err == nil {
		err = c.write(ctx, client, made)
	}
	local := (*action.OutputError)(nil)
	switch {
	case err == nil || r.ExitCode != 0: // what a failed command has left is only for people
		return res, nil
	case errors.As(err, &local):
		return res, err
	}
	return res, c.fault(ctx, err)
}

// print writes what a command has printed.
func (c *Cluster) print(ctx context.Context, client *reapi.Client, r *answer, s reapi.Stream, to io.Writer) error {
	switch {
	case to == nil:
		return nil
	case len(s.Raw) > 0 || s.Digest.Size == 0:
		_, err := to.Write(s.Raw)
		return err
	case r.near[s.Digest] != nil:
		_, err := to.Write(r.near[s.Digest])
		return err
	case s.Digest.Size > maxLog:
		return fmt.Errorf("%s: the command has printed %d bytes, more than %d", c, s.Digest.Size, int64(maxLog))
	}
	return client.Fetch(ctx, []remote.Want{{Digest: s.Digest}}, func(_ remote.Want, r io.Reader) error {
		if r == nil {
			return fmt.Errorf("%s: the server lacks what the command has printed", c)
		}
		_, err := io.Copy(to, r)
		return err
	})
}

// made are the outputs of a command, by their paths relative to the workspace.
type made struct {
	files map[string]reapi.File
	links map[string]string // targets
	dirs  []string
}

// outputs returns the outputs of a result that match, which it has checked.
func (c *Cluster) outputs(ctx context.Context, client *reapi.Client, r *answer, want *tree.Set) (*made, error) {
	m := &made{files: make(map[string]reapi.File), links: make(map[string]string)}
	add := func(in string, d *reapi.Directory) error {
		if rel, ok := outputPath(in); ok && rel != "" && !strings.HasPrefix(in, movedDir) && (want.Match(rel) || want.Enters(rel)) {
			m.dirs = append(m.dirs, rel)
		}
		for _, f := range d.Files {
			if rel, ok := outputPath(path.Join(in, f.Path)); ok && want.Match(rel) {
				m.files[rel] = f
			}
		}
		for _, l := range d.Links {
			if rel, ok := outputPath(path.Join(in, l.Path)); ok && want.Match(rel) {
				m.links[rel] = l.Target
			}
		}
		return nil
	}
	_ = add("", &reapi.Directory{Files: r.Files, Links: r.Links})
	for _, dir := range r.Dirs {
		data, err := r.near[dir.Digest], error(nil)
		if data == nil {
			data, err = c.blob(ctx, client, dir.Digest)
		}
		if err == nil {
			err = reapi.DecodeTree(data, func(in string, d *reapi.Directory) error {
				if slices.ContainsFunc(names(d), badName) {
					return errors.New("a tree with a name that no file has")
				}
				return add(path.Join(dir.Path, in), d)
			})
		}
		if err != nil {
			return nil, fmt.Errorf("%s: the output %q: %w", c, dir.Path, err)
		}
	}
	return m, m.check(c.o.Root)
}

func names(d *reapi.Directory) (list []string) {
	for _, f := range d.Files {
		list = append(list, f.Path)
	}
	for _, l := range d.Links {
		list = append(list, l.Path)
	}
	for _, sub := range d.Dirs {
		list = append(list, sub.Path)
	}
	return list
}

func badName(name string) bool {
	return name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00")
}

// outputPath returns the path in the workspace of a path in the input root, which may be one for links.
func outputPath(p string) (rel string, ok bool) {
	for _, dir := range []string{workspaceDir, movedDir} {
		if rel, ok = strings.CutPrefix(p, dir+"/"); ok {
			return rel, true
		}
	}
	return "", p == workspaceDir
}

// check returns an error for outputs that no command can have made, or that are too many.
func (m *made) check(root string) error {
	var size int64
	all := slices.Clone(m.dirs)
	for p, f := range m.files {
		all = append(all, p)
		if size += f.Digest.Size; size > maxOutputs {
			return fmt.Errorf("the outputs have more than %d bytes", int64(maxOutputs))
		}
		if _, twice := m.links[p]; twice {
			return fmt.Errorf("the output %q is a file and a link", p)
		}
	}
	for p, target := range m.links {
		all = append(all, p)
		if err := cache.CheckTarget(root, p, target); err != nil {
			return err
		}
	}
	if len(all) > remote.MaxOutputs {
		return fmt.Errorf("%d outputs, more than %d", len(all), remote.MaxOutputs)
	}
	for _, p := range all {
		if err := cache.CheckPath(p); err != nil {
			return err
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			_, link := m.links[dir]
			if _, file := m.files[dir]; link || file {
				return fmt.Errorf("the output %q is in %q, which is no directory", p, dir)
			}
		}
	}
	return nil
}

// blob returns the bytes of a blob that describes a directory.
func (c *Cluster) blob(ctx context.Context, client *reapi.Client, d remote.Digest) (data []byte, err error) {
	if d.Size > maxTree {
		return nil, fmt.Errorf("its description has %d bytes, more than %d", d.Size, maxTree)
	}
	err = client.Fetch(ctx, []remote.Want{{Digest: d}}, func(_ remote.Want, r io.Reader) error {
		if r == nil {
			return errors.New("the server lacks its description")
		}
		data, err = io.ReadAll(r)
		return err
	})
	return data, err
}
