package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// installTimeout is the time limit of one install.
const installTimeout = 30 * time.Minute

// A stamp is the digest of the files, the tool and the command of the last good install of a scope.
// The state has two stamps if the install wrote a lockfile that changes the command of the next
// install.
const (
	stampVersion = 2
	stampSize    = 32
)

// Install is one install of a scope.
type Install struct {
	Dish     string // the name of the dish that needed it first
	Dir      string // absolute
	Command  string
	Reason   string
	Started  time.Time
	Duration time.Duration
	LogPath  string // absolute, "" when there is no log
	Err      error

	reads *installReads // nil if it was not observed
	first int           // the index of the task that needed it first
}

// ID returns the name of the install in lists of tasks.
func (i *Install) ID() string { return i.Dish + ": install" }

// UpToDate reports whether the last good install of d's scope matches the current files, tool and
// command.
func (in *installer) UpToDate(ctx context.Context, d *dish.Dish) bool {
	toolchain, err := in.toolchain(ctx, d)
	return err == nil && in.reason(ctx, d, cache.ShortSum(d.ScopeID()), toolchain) == ""
}

// toolchain returns the fingerprint of the tool that installs the scope of d. All dishes of the scope
// use the tool in the directory of the scope; if that tool fails, toolchain uses the one in the
// directory of d.
func (in *installer) toolchain(ctx context.Context, d *dish.Dish) (string, error) {
	found, err := in.Toolchains.Fingerprint(ctx, d.Adapter, d.ScopeDir())
	if err != nil && d.ScopeDir() != d.Dir {
		return in.Toolchains.Fingerprint(ctx, d.Adapter, d.Dir)
	}
	return found, err
}

// installer installs in a workspace. It is safe for concurrent use.
type installer struct {
	*Env
	Force bool // install even if it is up to date
	Tree  *tree.Tree
}

// Ensure installs the dependencies of d if its manifest, lockfile or tools have changed since the
// last good install, or if that install is gone. It returns nil if no install is needed.
func (in *installer) Ensure(ctx context.Context, d *dish.Dish) *Install {
	i := &Install{Dish: d.Name, Dir: d.ScopeDir(), Command: d.Scope.Command}
	toolchain, err := in.toolchain(ctx, d)
	if err != nil {
		i.Err = orInterrupted(err)
		return i
	}
	if i.Err = in.inOwnInstall(d); i.Err != nil {
		return i
	}
	id := cache.ShortSum(d.ScopeID())
	unlock, err := in.State.Lock(ctx, "locks/install-"+id+".lock", func(holder string) {
		in.warn("waiting", fmt.Sprintf("the dependencies of %s are being installed by another bento; waiting for it", d.Name), holder)
	})
	if err == nil {
		defer unlock()
	} else if ctx.Err() != nil {
		i.Err = errInterrupted
		return i
	}
	if i.Reason = in.reason(ctx, d, id, toolchain); i.Reason == "" {
		return nil
	}
	// From here on the last good install is invalid, even if this one fails.
	if err := in.State.Remove("installs/" + id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		in.warn("state_unwritable", "the state of this workspace cannot be written: "+err.Error(), "")
	}
	i.Started = time.Now()
	in.executing()
	in.report(InstallStarted{Install: i})
	log := action.CreateLog(in.State, action.LogName(d.Name, "install", "install\x00"+d.ScopeID()), action.LogOptions{})
	if in.observes(ctx, d, id, toolchain) {
		i.reads = &installReads{uses: make(map[string]action.Use)}
	}
	i.Err = orInterrupted(in.install(ctx, d, i, log))
	i.LogPath = log.Path()
	log.Close()
	i.Duration = time.Since(i.Started)
	if i.Err == nil {
		in.keepStamp(ctx, d, id, toolchain)
		in.keepReads(d, id, toolchain, i)
	}
	in.report(InstallFinished{Install: i})
	return i
}

// orInterrupted returns err, or errInterrupted if an interrupt caused err.
func orInterrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}

// install runs the adapter's install, whose output goes to log.
func (in *installer) install(ctx context.Context, d *dish.Dish, i *Install, log *action.Log) error {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	if err := LinksOut(in.Root, d); err != nil {
		return err
	}
	defer in.Snapshot.Changed()
	if i.reads != nil {
		ctx = i.reads.observing(ctx, in.Observer)
	}
	return d.Adapter.Install(ctx, adapters.InstallRequest{
		DishDir: d.Dir, DishName: d.Name, Scope: d.Scope, Force: in.Force, Env: in.environ(d),
		Claims: in.claims(d),
	}, func(l adapters.Log) {
		text := l.Message
		if !l.Verbatim {
			text += "\n"
		}
		_, _ = io.WriteString(log.Writer(action.Stdout), text) // a log never fails
		in.report(InstallLog{Install: i, Log: l})
	})
}

// environ returns the environment of the installs of d.
func (in *installer) environ(d *dish.Dish) adapters.Environ {
	m := d.Adapter.Manifest()
	env := in.Environ
	if !in.Inherit {
		env = env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv, in.Installs.passEnv(in.Root, d))...)
	}
	return env.With(m.SetEnv).With(map[string]string{state.Inside: in.chain().With(in.Root, installing(d))})
}

// reason returns the reason why an install is needed, "" if it is not.
func (in *installer) reason(ctx context.Context, d *dish.Dish, id, toolchain string) string {
	if in.Force {
		return "asked for"
	}
	kept, err := in.State.Load("installs/"+id, stampVersion)
	if err != nil {
		return "not installed yet"
	}
	for _, made := range d.Scope.Made {
		path := made
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.ScopeDir(), path)
		}
		if isGone(path) {
			return made + " is gone"
		}
	}
	now := in.stamp(ctx, d, toolchain)
	for stamp := range slices.Chunk(kept, stampSize) {
		if string(stamp) != now {
			continue
		}
		if p := in.readChanged(id); p != "" {
			return p + ", which it reads, has changed"
		}
		return ""
	}
	return "manifests, lockfile or tool have changed"
}

// isGone reports whether a path is missing or an empty directory.
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

func (in *installer) keepStamp(ctx context.Context, d *dish.Dish, id, toolchain string) {
	// The install may have written a lockfile, so the stamp is of the current files. With that
	// lockfile the next install may have another command, which would change nothing.
	stamps := in.stamp(ctx, d, toolchain)
	if scope, err := adapters.InstallScope(ctx, d.Adapter, d.Dir); err == nil && scope.Command != d.Scope.Command {
		after := *d
		after.Scope = scope
		stamps += in.stamp(ctx, &after, toolchain)
	}
	if ctx.Err() != nil {
		return // the stamps are of a part of the files
	}
	if err := in.State.Store("installs/"+id, stampVersion, []byte(stamps)); err != nil {
		in.warn("state_unwritable", "the state of this workspace cannot be written: "+err.Error(),
			"dependencies will be installed again")
	}
}

// stamp returns the digest of the files that decide an install, of the tool and of the command.
func (in *installer) stamp(ctx context.Context, d *dish.Dish, toolchain string) string {
	m := d.Adapter.Manifest()
	var w pack.Writer
	w.Strings([]string{m.AdapterID, m.Identity, d.Scope.Command, toolchain})
	if options := d.Options(); options != "" {
		w.String(options)
	}
	for _, name := range in.deciding(d) {
		// Missing files are not in the stamp: a glob of members may also match files that a build
		// makes.
		if sum, err := digestOf(ctx, name); err == nil {
			w.String(name)
			w.Raw(sum[:])
		}
	}
	in.addCopied(ctx, &w, d)
	sum := blake3.Sum256(w.Payload())
	return string(sum[:])
}

// digestOf returns the digest of a regular file. It does not block on a named pipe, and returns the
// error of ctx even in the middle of a file.
func digestOf(ctx context.Context, name string) (sum [32]byte, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return sum, cmp.Or(err, fs.ErrInvalid)
	}
	h, buf := blake3.New(), make([]byte, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		n, err := f.Read(buf)
		_, _ = h.Write(buf[:n])
		if err == io.EOF {
			return [32]byte(h.Sum(nil)), nil
		}
		if err != nil {
			return sum, err
		}
	}
}

// deciding returns the files that decide an install.
func (in *installer) deciding(d *dish.Dish) []string {
	if len(d.Scope.Files) > 0 {
		return d.Scope.Files
	}
	set, err := tree.CompileSet(d.Path, d.Adapter.Manifest().FingerprintFiles)
	if err != nil {
		return nil
	}
	entries, err := in.Tree.Select(set)
	if err != nil {
		return nil
	}
	files := make([]string, len(entries))
	for i, e := range entries {
		files[i] = filepath.Join(in.Root, filepath.FromSlash(e.Path))
	}
	return files
}
