package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// installTimeout bounds one install.
const installTimeout = 30 * time.Minute

// A stamp is the digest of what the last good install of a scope was made from.
const stampVersion = 1

// installer brings dependencies up to date. It is safe for concurrent use.
type installer struct {
	env   *Env
	tree  *tree.Tree
	force bool
}

// needsInstall tells whether there is anything to install for a dish at all.
func needsInstall(d *discovery.Dish) bool {
	return d.Adapter != nil && !d.Scope.Nothing && d.Adapter.Manifest().Capabilities.Install
}

// scopeID names the scope of a dish: who installs, and where.
func scopeID(d *discovery.Dish) string {
	return d.Adapter.Manifest().AdapterID + "\x00" + scopeDir(d)
}

func scopeDir(d *discovery.Dish) string {
	if d.Scope.Dir == "" {
		return d.Dir
	}
	return d.Scope.Dir
}

// ensure installs the dependencies of d if the last good install was made from
// something else, or is gone. It gives nil when nothing was to do.
func (in *installer) ensure(ctx context.Context, d *discovery.Dish, toolchain string) *Install {
	i := &Install{Dish: d.Name, Dir: scopeDir(d), Command: d.Scope.Command}
	id := shortSum(scopeID(d))
	unlock, err := in.env.State.Lock(ctx, "locks/install-"+id+".lock", func(owner string) {
		in.env.warn("waiting", fmt.Sprintf("the dependencies of %s are being installed by another bento (%s); waiting for it", d.Name, owner), "")
	})
	if err == nil {
		defer unlock()
	} else if ctx.Err() != nil {
		i.Err = ctx.Err()
		return i
	}
	if i.Reason = in.reason(d, id, toolchain); i.Reason == "" {
		return nil
	}
	in.env.report(InstallStarted{Install: i})
	start := time.Now()
	i.Err = in.install(ctx, d, i, id)
	i.Duration = time.Since(start)
	if i.Err == nil {
		in.keepStamp(d, id, toolchain)
	}
	in.env.report(InstallFinished{Install: i})
	return i
}

func (in *installer) install(ctx context.Context, d *discovery.Dish, i *Install, id string) error {
	// Whatever happens now, the last good install is no more.
	if err := in.env.State.Remove("installs/" + id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		in.env.warn("state_unwritable", "bento's memory of this workspace cannot be written: "+err.Error(), "")
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	m := d.Adapter.Manifest()
	env := in.env.Environ
	if !in.env.Inherit {
		env = env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...)
	}
	return d.Adapter.Install(ctx, adapters.InstallRequest{
		DishDir: d.Dir, DishName: d.Name, Scope: d.Scope, Env: env.With(m.SetEnv),
	}, func(l adapters.Log) { in.env.report(InstallLog{Install: i, Log: l}) })
}

// reason says why an install is needed, "" when it is not.
func (in *installer) reason(d *discovery.Dish, id, toolchain string) string {
	if in.force {
		return "asked for"
	}
	kept, err := in.env.State.Load("installs/"+id, stampVersion)
	if err != nil {
		return "not installed yet"
	}
	for _, made := range d.Scope.Made {
		if isGone(filepath.Join(scopeDir(d), made)) {
			return made + " is gone"
		}
	}
	if string(kept) != in.stamp(d, toolchain) {
		return "manifests, lockfile or tool have changed"
	}
	return ""
}

// isGone tells whether a path is missing or an empty directory.
func isGone(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return true
	}
	if !fi.IsDir() {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

func (in *installer) keepStamp(d *discovery.Dish, id, toolchain string) {
	// An install may write a lockfile: the stamp is of what is there now.
	if err := in.env.State.Store("installs/"+id, stampVersion, []byte(in.stamp(d, toolchain))); err != nil {
		in.env.warn("state_unwritable", "bento's memory of this workspace cannot be written: "+err.Error(),
			"dependencies will be installed again")
	}
}

// stamp is the digest of the files that decide an install, of the tool and of the
// command.
func (in *installer) stamp(d *discovery.Dish, toolchain string) string {
	m := d.Adapter.Manifest()
	var w state.Writer
	w.Strings([]string{m.AdapterID, m.Identity, d.Scope.Command, toolchain})
	for _, name := range in.deciding(d) {
		w.String(name)
		data, err := os.ReadFile(name)
		if err != nil {
			w.Byte(0)
			continue
		}
		sum := blake3.Sum256(data)
		w.Raw(sum[:])
	}
	sum := blake3.Sum256(w.Payload())
	return string(sum[:])
}

// deciding lists the files that decide an install.
func (in *installer) deciding(d *discovery.Dish) []string {
	if len(d.Scope.Files) > 0 {
		return d.Scope.Files
	}
	set, err := tree.CompileSet(d.Path, d.Adapter.Manifest().FingerprintFiles)
	if err != nil {
		return nil
	}
	entries, err := in.tree.Select(set)
	if err != nil {
		return nil
	}
	files := make([]string, len(entries))
	for i, e := range entries {
		files[i] = filepath.Join(in.env.Root, filepath.FromSlash(e.Path))
	}
	return files
}

// scopeInstall is the install of one scope in this run.
type scopeInstall struct {
	done    bool
	err     error
	waiting []*evaluate.Result
}

// executeInstalled executes a task once its dependencies are installed.
func (e *engine) executeInstalled(ctx context.Context, ev *evaluate.Result) {
	d := ev.Task.Dish
	if e.opts.SkipInstall || !needsInstall(d) {
		e.execute(ctx, ev)
		return
	}
	id := scopeID(d)
	s := e.installs[id]
	switch {
	case s == nil:
		s = &scopeInstall{}
		e.installs[id] = s
		e.job(func() func() {
			in := &installer{env: e.env, tree: e.tree, force: e.opts.ForceInstall}
			i := in.ensure(ctx, d, ev.Toolchain)
			return func() { e.installed(ctx, s, i, ev) }
		})
	case !s.done:
		// Its place is free for others until then.
		e.queue.release(ev.Task)
		s.waiting = append(s.waiting, ev)
	case s.err != nil:
		e.end(installFailure(ev, s.err))
	default:
		e.execute(ctx, ev)
	}
}

// installed takes in the end of an install.
func (e *engine) installed(ctx context.Context, s *scopeInstall, i *Install, first *evaluate.Result) {
	s.done = true
	if i != nil {
		e.report = append(e.report, i)
		s.err = i.Err
		e.refresh(ctx, first.Task)
		e.staleAll() // an install may have written a lockfile
	}
	for _, ev := range s.waiting {
		e.queue.add(ev.Task)
	}
	e.begin(ctx, first.Task)
}

func installFailure(ev *evaluate.Result, err error) *Result {
	r := &Result{Task: ev.Task, Outcome: Failed, Reason: ReasonInstallFailed, Key: ev.Key, ExitCode: 1, Message: "its dependencies could not be installed: " + err.Error()}
	errors.As(err, &r.Failure)
	return r
}

// InstallAll installs the dependencies of dishes, each scope once, one after the
// other. It goes on after a failure.
func InstallAll(ctx context.Context, env *Env, t *tree.Tree, dishes []*discovery.Dish, force bool) ([]*Install, error) {
	in := &installer{env: env, tree: t, force: force}
	seen := make(map[string]bool)
	var installs []*Install
	for _, d := range dishes {
		if ctx.Err() != nil {
			return installs, ctx.Err()
		}
		if !needsInstall(d) || seen[scopeID(d)] {
			continue
		}
		seen[scopeID(d)] = true
		toolchain, err := env.Toolchains.Fingerprint(ctx, d.Adapter, d.Dir)
		if err != nil {
			return installs, err
		}
		if i := in.ensure(ctx, d, toolchain); i != nil {
			installs = append(installs, i)
		}
	}
	return installs, env.Toolchains.Save()
}
