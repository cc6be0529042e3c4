package run

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/tree"
)

// maxInstallReads is the largest number of files whose change needs another install.
const maxInstallReads = 1 << 16

const readsVersion = 2

// lastReads is what the state knows of the observed installs of a scope.
type lastReads struct {
	basis    cache.Digest // the command and the tool of the last install
	observed int          // the number of good installs with this basis that were observed
	files    []readFile   // that the last observed one has read, by path
}

// installReads collects what the commands of one install use. It is safe for concurrent use.
type installReads struct {
	mu   sync.Mutex
	uses map[string]action.Use // by absolute path
}

// observes reports whether an install of d is observed. As for tasks, dish.ObserveAuto observes the first of a command,
// and then some, by the files that decide the install.
func (in *installer) observes(ctx context.Context, d *dish.Dish, id, toolchain string) bool {
	if in.Observer == nil || in.Tree == nil {
		return false
	}
	switch in.Installs.Observe {
	case dish.ObserveAlways:
		return true
	case dish.ObserveAuto:
		last := in.loadReads(id)
		return last.observed < firstObserved || last.basis != readsBasis(d, toolchain) || in.manifests(ctx, d)[0]%oneObservedIn == 0
	}
	return false
}

// readsBasis returns the digest of what decides which files an install reads, as far as it is no file.
func readsBasis(d *dish.Dish, toolchain string) cache.Digest {
	var w pack.Writer
	w.Strings([]string{d.Adapter.Manifest().Identity, d.Scope.Command, d.Options(), toolchain})
	return cache.Sum(w.Payload())
}

// manifests returns the digest of the content of the files that decide an install. It is the same in each checkout.
func (in *installer) manifests(ctx context.Context, d *dish.Dish) cache.Digest {
	var w pack.Writer
	for _, name := range in.deciding(d) {
		if sum, err := digestOf(ctx, name); err == nil {
			w.Raw(sum[:])
		}
	}
	return cache.Sum(w.Payload())
}

// observing returns a context whose commands are observed.
func (r *installReads) observing(ctx context.Context, observer action.Executor) context.Context {
	return proc.WithRunner(ctx, func(ctx context.Context, s proc.Spec) (proc.Result, error) { return r.run(ctx, observer, s) })
}

// run runs a command. One that fails because it is observed runs again.
func (r *installReads) run(ctx context.Context, observer action.Executor, s proc.Spec) (proc.Result, error) {
	if ctx.Err() != nil {
		return proc.Run(ctx, s)
	}
	var used *action.Used
	x, err := observer.Start(ctx, &action.Command{Spec: s, Used: func(u *action.Used) { used = u }})
	if err != nil {
		return proc.Run(ctx, s) // for its error
	}
	res, err := x.Wait()
	if used != nil && used.LacksRights && res.ExitCode != 0 && ctx.Err() == nil {
		return proc.Run(ctx, s)
	}
	if used != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, f := range used.Files {
			r.uses[f.Path] |= f.Use
		}
	}
	return res, err
}

// keepReads saves the files of the workspace that an install has read, except those that stamp covers, with their
// digests. If the install was not observed, the files are those of the last one that was.
func (in *installer) keepReads(d *dish.Dish, id, toolchain string, i *Install) {
	last := in.loadReads(id)
	now := lastReads{basis: readsBasis(d, toolchain)}
	if last.basis == now.basis {
		now.observed = last.observed
	}
	var paths []string
	if i.reads != nil {
		paths = in.readBy(d, i.reads)
		now.observed++
	} else {
		for _, f := range last.files {
			paths = append(paths, f.path)
		}
	}
	if now.observed == 0 && len(paths) == 0 {
		_ = in.State.Remove("installs/" + id + ".reads") // a missing file is the same
		return
	}
	for _, p := range paths {
		f := readFile{path: p, sum: in.sumOf([]string{p})}
		if e, err := in.Tree.Stat(p); err == nil && max(e.Mtime, e.Ctime) >= i.Started.UnixNano() {
			f.sum = [32]byte{} // the install may have read another content
		}
		now.files = append(now.files, f)
	}
	if err := in.State.Store("installs/"+id+".reads", readsVersion, now.encode()); err != nil {
		in.warn("state_unwritable", "the state of this workspace cannot be written: "+err.Error(), "")
	}
}

func (l *lastReads) encode() []byte {
	var w pack.Writer
	w.Raw(l.basis[:])
	w.Uint(uint64(l.observed))
	w.Uint(uint64(len(l.files)))
	for _, f := range l.files {
		w.String(f.path)
		w.Raw(f.sum[:])
	}
	return w.Payload()
}

// readBy returns the files that decide an install because it has read them, by path relative to the workspace.
func (in *installer) readBy(d *dish.Dish, reads *installReads) (paths []string) {
	deciding := make(map[string]bool)
	for _, name := range in.deciding(d) {
		deciding[name] = true
	}
	derived, err := tree.CompileSet(d.Path, d.Adapter.Manifest().DerivedPaths)
	if err != nil {
		return nil
	}
	homes := record.HomesIn(in.Root, in.environ(d), d.Adapter.Manifest().PassEnv)
	for path, use := range reads.uses {
		rel, err := filepath.Rel(in.Root, path)
		if err != nil || !filepath.IsLocal(rel) || deciding[path] || use&action.Read == 0 || use&(action.Write|action.Remove) != 0 {
			continue
		}
		rel = filepath.ToSlash(rel)
		e, err := in.Tree.Stat(rel)
		made := slices.ContainsFunc(d.Scope.Made, func(m string) bool { return key.Inside(path, absolute(d.ScopeDir(), m)) })
		if err != nil || e.Kind != tree.File && e.Kind != tree.Link || made || key.IsOwn(rel) || derived.Match(rel) && !in.Tree.Tracked(rel) || in.isNarrowed(rel) ||
			slices.ContainsFunc(strings.Split(rel, "/"), func(name string) bool { return isNeverCopied(name) || key.IsCache(name) }) ||
			slices.ContainsFunc(homes, func(dir string) bool { return key.Inside(rel, dir) }) {
			continue
		}
		paths = append(paths, rel)
	}
	slices.Sort(paths)
	return paths[:min(len(paths), maxInstallReads)]
}

func absolute(dir, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// isNarrowed reports whether a path lies in a dish whose [install] inputs say which of its files an install reads.
func (in *installer) isNarrowed(p string) bool {
	for dir := range in.Installs.Inputs {
		if key.Inside(p, dir) {
			return true
		}
	}
	return false
}

// readFile is a file that an install has read.
type readFile struct {
	path string
	sum  [32]byte
}

// loadReads returns what the state knows of the observed installs of the scope with an id, nothing if it cannot be read.
func (in *installer) loadReads(id string) (l lastReads) {
	blob, err := in.State.Load("installs/"+id+".reads", readsVersion)
	if err != nil {
		return lastReads{}
	}
	r := pack.NewReader(blob)
	copy(l.basis[:], r.Raw(uint64(len(l.basis))))
	l.observed = int(r.Uint())
	for range r.Count(33) {
		f := readFile{path: r.String()}
		copy(f.sum[:], r.Raw(32))
		if cache.CheckPath(f.path) == nil {
			l.files = append(l.files, f)
		}
	}
	if r.End() != nil {
		return lastReads{}
	}
	return l
}

// readChanged returns the first file that the last install has read and that has changed since, "" for none.
func (in *installer) readChanged(id string) string {
	if in.Tree == nil || in.Installs.Observe != dish.ObserveAlways && in.Installs.Observe != dish.ObserveAuto {
		return ""
	}
	for _, f := range in.loadReads(id).files {
		if in.sumOf([]string{f.path}) != f.sum {
			return f.path
		}
	}
	return ""
}
