package remoteexec

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
)

// installDir is the directory of an input root with what installs have made outside of the workspace.
const installDir = ".bento-deps"

// Installed is what a command needs of an install.
type Installed struct {
	adapters.Portable
	Stamp string // is another one after another install; "": unknown
}

// installed is a directory that an install has made. Its files are read once for each install, and not at all if an earlier run
// has sent them to the server.
type installed struct {
	from  adapters.PortableTree
	place string // in an input root
	id    rootID
	turn  chan struct{} // is full while a goroutine has the fields below
	root  remote.Digest
	blobs map[remote.Digest]source // nil if they were not read, or were sent

	kept bool        // an earlier run has sent it
	sent atomic.Bool // the server has it, as far as this run knows
}

// errInstalled is the error of an install whose files are not those that it had left.
var errInstalled = errors.New("what the install has made was changed by something else")

// install adds what the command needs of an install to its action.
func (x *Executor) install(ctx context.Context, w *wired, t *directory) (needs Installed, err error) {
	if x.Installed == nil {
		return needs, nil
	}
	if needs, err = x.Installed(); err != nil {
		return needs, err
	}
	for _, from := range needs.Trees {
		in, err := x.installedTree(ctx, from, needs.Stamp)
		if err != nil {
			return needs, fmt.Errorf("%q: %w", from.Dir, err)
		}
		if in == nil {
			continue
		}
		d := t.enterAll(in.place)
		if len(d.nodes)+len(d.dirs) > 0 {
			return needs, fmt.Errorf("%q was made by an install, and has inputs of the task in it", from.Dir)
		}
		d.whole = &in.root
		w.installs = append(w.installs, in)
	}
	return needs, nil
}

// exports returns the variables of a worker that lead to what installs have made outside of the workspace, by lines of a shell.
func (n *Installed) exports() (lines string) {
	for _, t := range n.Trees {
		if t.Variable != "" {
			lines += fmt.Sprintf("export %s=\"$r\"/%s\n", t.Variable, quote(path.Join(installDir, t.Variable)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Set)) {
		lines += fmt.Sprintf("export %s=%s\n", name, quote(n.Set[name]))
	}
	return lines
}

// installedTree returns a directory that an install has made, nil if there is none.
func (c *Cluster) installedTree(ctx context.Context, from adapters.PortableTree, stamp string) (*installed, error) {
	info, err := os.Lstat(from.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("it is no directory")
	}
	in := &installed{from: from, turn: make(chan struct{}, 1), place: path.Join(installDir, from.Variable)}
	if from.Variable == "" {
		at, err := c.inside(from.Dir)
		if err != nil {
			return nil, err
		}
		in.place = path.Join(workspaceDir, at)
	}
	if stamp != "" {
		in.id = sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %d", c.o.Name, from.Dir, from.Only, from.Except, stamp, info.ModTime().UnixNano()))
		in = c.known(in)
	}
	if err := in.take(ctx); err != nil {
		return nil, err
	}
	defer in.leave()
	if in.root.Size > 0 {
		return in, nil
	}
	if in.root, in.kept = c.roots.find(in.id); in.kept {
		return in, nil
	}
	return in, c.read(ctx, in)
}

// known returns the directory with the id of another one, if this run has it already.
func (c *Cluster) known(in *installed) *installed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.installs[in.id]; old != nil {
		return old
	}
	c.installs[in.id] = in
	return in
}

func (in *installed) take(ctx context.Context) error {
	select {
	case in.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (in *installed) leave() { <-in.turn }

// isKept reports whether the server has the directory unless it has forgotten it since an earlier run.
func (in *installed) isKept() bool { return in.kept && !in.sent.Load() }

// send sends the directory. If the server had it, it does so only if lost is set.
func (c *Cluster) sendInstalled(ctx context.Context, client *reapi.Client, in *installed, lost bool) error {
	if err := in.take(ctx); err != nil {
		return err
	}
	defer in.leave()
	if !lost && (in.kept || in.sent.Load()) {
		in.sent.Store(true)
		return nil
	}
	if in.blobs == nil {
		if err := c.read(ctx, in); err != nil {
			return err
		}
	}
	missing, err := client.Missing(ctx, slices.Collect(maps.Keys(in.blobs)))
	if err != nil {
		return err
	}
	if err := client.Send(ctx, missing, func(d remote.Digest) (io.ReadSeekCloser, error) { return open(in.blobs[d]) }, func(remote.Digest) {}); err != nil {
		return err
	}
	in.blobs = nil
	in.sent.Store(true)
	c.roots.add(in.id, in.root)
	return nil
}

// read reads the files of the directory.
func (c *Cluster) read(ctx context.Context, in *installed) error {
	d, files, err := c.list(in)
	if err != nil {
		return err
	}
	w := &wired{blobs: make(map[remote.Digest]source)}
	if err := d.addFiles(ctx, w, files); err != nil {
		return err
	}
	root := d.wire(w)
	if in.root.Size > 0 && in.root != root {
		c.roots.drop(in.id)
		return errInstalled
	}
	in.root, in.blobs = root, w.blobs
	return nil
}

// installedFile is a file of such a directory.
type installedFile struct {
	rel, abs string
	exec     bool
	digest   remote.Digest
}

// list returns the links and directories, and the files.
func (c *Cluster) list(in *installed) (d *directory, files []installedFile, err error) {
	d = &directory{}
	starts := []string{in.from.Dir}
	if in.from.Only != nil {
		starts = nil
		for _, glob := range in.from.Only {
			found, err := filepath.Glob(filepath.Join(in.from.Dir, filepath.FromSlash(glob)))
			if err != nil {
				return nil, nil, fmt.Errorf("%q: %w", glob, err)
			}
			starts = append(starts, found...)
		}
	}
	add := func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(in.from.Dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch kind := e.Type(); {
		case slices.Contains(in.from.Except, rel) && e.IsDir():
			return fs.SkipDir
		case slices.Contains(in.from.Except, rel), rel == ".":
		case e.IsDir():
			d.enterAll(rel)
		case kind == fs.ModeSymlink:
			target, err := c.target(in, rel, name)
			if err != nil {
				return err
			}
			d.put(rel, node{target: target})
		case kind.IsRegular():
			info, err := e.Info()
			if err != nil {
				return err
			}
			files = append(files, installedFile{rel: rel, abs: name, exec: info.Mode()&0o100 != 0})
		default:
			return fmt.Errorf("%q is neither a file nor a directory nor a link", rel)
		}
		return nil
	}
	for _, start := range starts {
		if err := filepath.WalkDir(start, add); err != nil {
			return nil, nil, err
		}
	}
	return d, files, nil
}

// target returns the target of a link for a worker: relative, and in the workspace or in the directory.
func (c *Cluster) target(in *installed, rel, name string) (string, error) {
	target, err := os.Readlink(name)
	if err != nil {
		return "", err
	}
	top := workspaceDir
	if in.from.Variable != "" {
		top = in.place
	}
	if filepath.IsAbs(target) {
		at, err := c.inside(target)
		if err != nil || in.from.Variable != "" {
			return "", fmt.Errorf("the link %q leads out of the workspace", rel)
		}
		if target, err = filepath.Rel(path.Dir("/"+path.Join(in.place, rel)), "/"+path.Join(workspaceDir, at)); err != nil {
			return "", err
		}
		return filepath.ToSlash(target), nil
	}
	if to := path.Join(path.Dir(path.Join(in.place, rel)), filepath.ToSlash(target)); !below(to, top) {
		return "", fmt.Errorf("the link %q leads out of the workspace", rel)
	}
	return filepath.ToSlash(target), nil
}

// addFiles reads the files, as many at once as there are processors, and puts them into d.
func (d *directory) addFiles(ctx context.Context, w *wired, files []installedFile) error {
	var next atomic.Int64
	errs := make([]error, runtime.GOMAXPROCS(0))
	var reading sync.WaitGroup
	for i := range errs {
		reading.Go(func() {
			for errs[i] == nil && ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(files) {
					return
				}
				errs[i] = files[n].sum()
			}
		})
	}
	reading.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return err
	}
	for _, f := range files {
		w.blobs[f.digest] = source{file: f.abs}
		d.put(f.rel, node{digest: f.digest, exec: f.exec})
	}
	return nil
}

func (f *installedFile) sum() error {
	r, err := os.OpenFile(f.abs, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	hash := sha256.New()
	if f.digest.Size, err = io.Copy(hash, r); err != nil {
		return err
	}
	hash.Sum(f.digest.Hash[:0])
	return nil
}
