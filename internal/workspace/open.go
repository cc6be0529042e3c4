// Package workspace opens a workspace: it walks the tree while it reads the configuration and
// starts the plugins, then finds the dishes and opens the cache. A command, a watcher, an
// editor or a server begins here.
package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
)

// Options say which workspace is opened, and how.
type Options struct {
	Root    string      // absolute, without links
	Exclude []dish.Glob // in addition to what bento.toml excludes; nil for nothing
	Cache   string      // the permission for the cache, over that of the configuration; "" for no change
	All     bool        // the caller needs all dishes
	// Configured receives the configuration as soon as it is read, before discovery. It must not block. It may be
	// nil.
	Configured func(*config.Workspace)
	// First is called after the walk of a workspace that has no state of earlier runs. It may be nil.
	First func()
	// Warn receives problems that are not in the user's files. Damaged receives the entries that the cache has
	// dropped, even after Open has returned.
	Warn    func(code, message, hint string)
	Damaged func(error)
}

// Workspace is an opened workspace.
type Workspace struct {
	*dish.Workspace
	Tree     *tree.Tree
	Config   *config.Workspace
	State    *state.Dir
	Snapshot *snapshot.Snapshot // the source of the answers of adapters
	Store    cache.Store
	Mode     config.CacheMode // what is done with Store, and with a remote cache
	Plugins  *adapter.Set
	History  *key.History             // of the tasks, as it was read before the search for dishes
	Problems []diagnostics.Diagnostic // of the user's files, sorted

	tools  Tools // zero if no task uses one
	saved  *state.Parts
	write  func()         // saves saved; nil if nothing is to be saved
	saving sync.WaitGroup // runs write
}

// The file of what adapters have answered and sources embed. The version is that of all parts: it changes with the
// type of one of them, or with what a part means.
const (
	answersFile    = "answers"
	answersVersion = 17
)

// Close waits until the results of Open are saved. It ends the plugins, unless they are kept, closes the tree and
// settles the cache.
func (w *Workspace) Close() {
	w.saving.Wait()
	_ = w.Plugins.Remember() // answers about toolchains, which discovery does not request
	w.Plugins.Close()
	if w.tools.Close != nil {
		w.tools.Close()
	}
	w.Tree.Close()
	if disk := cache.DiskOf(w.Store); disk != nil {
		disk.Settle()
	}
}

// Open opens a workspace. Problems of the user's files are in the result; an error means that there is no result.
// Open checks bento's own directory first: it neither reads nor changes files of a refused one.
func (h *Host) Open(ctx context.Context, o Options) (*Workspace, error) {
	st := state.Open(o.Root)
	prepare := st.Prepare
	if o.Exclude != nil {
		prepare = st.Check // such an invocation saves nothing
	}
	if err := prepare(ctx); err != nil {
		return nil, err
	}
	w := &Workspace{State: st}
	find, err := h.look(ctx, w, &o)
	if err != nil {
		return nil, err
	}
	ws, more := discovery.Find(ctx, find)
	w.Workspace, w.Tree, w.Config, w.Snapshot = ws, find.Tree, find.Config, find.Snapshot
	find.Memory.Wait()
	if err := ctx.Err(); err != nil {
		w.Close()
		return nil, err
	}
	_ = w.Plugins.Remember() // after a failure, the next command starts all plugins again
	w.Problems = append(w.Problems, missingPlugins(w, &find)...)
	if w.write != nil {
		w.saving.Go(w.write)
	}
	w.Problems = append(w.Problems, wrongOptions(w, &find)...)
	w.Problems = append(w.Problems, h.openTools(ctx, w, o.Warn)...)
	w.Problems = slices.Concat(w.Problems, w.Plugins.Warnings(), more, find.Clone.Warnings(), ofDishes(ws, find.Tree.Problems()))
	if err := machineFault(w.Problems); err != nil {
		w.Close()
		return nil, err
	}
	w.Problems = diagnostics.Sorted(w.Problems)
	w.Mode = modeOf(find.Config, &o)
	w.Store = h.storeFor(find.Tree, find.Config, w.Mode, &o)
	return w, nil
}

// look walks the tree while it reads the configuration and starts the plugins. It returns the options for
// discovery.
func (h *Host) look(ctx context.Context, w *Workspace, o *Options) (find discovery.Options, err error) {
	var files *tree.Tree
	var walk errgroup.Group
	out := h.cacheBelow(o.Root, &config.Workspace{})
	walk.Go(func() (err error) {
		files, err = tree.Walk(ctx, o.Root, &tree.Options{State: w.State, Out: out})
		return err
	})
	walk.Go(w.readHistory)
	memory := config.OpenParseCache(w.State, Program())
	if o.Exclude != nil {
		memory = nil // the saved configuration has only the exclusions of bento.toml
	}
	w.saved = w.State.OpenParts(answersFile, answersVersion)
	cfg, problems := memory.Load(o.Root, h.OwnConfig())
	cfg.Exclude = slices.Concat(cfg.Exclude, o.Exclude)
	if o.Configured != nil {
		o.Configured(cfg)
	}
	candidates, options, more := h.FindPlugins(cfg, w.State, w.saved)
	w.Problems = append(problems, more...)
	options.Notes, options.Lazy = host.NewNotes(w.State), cfg.Plugins.Lazy
	below, view := clone.At(o.Root), new(snapshot.Snapshot)
	about := snapshot.Options{Env: h.Environ, AllowDownload: cfg.Toolchain.AllowDownload, Scripts: cfg.Scripts, Clone: below, Snapshot: view}
	own := h.Adapters(about)
	defined, more := Defined(cfg.Adapters, own, about)
	own, w.Problems = append(own, defined...), append(w.Problems, more...)
	options.Source = about.Source()
	var settings dishSettings
	options.SettingsOf = settings.of
	if err = h.wrongVersion(o.Root, cfg); err == nil {
		w.Plugins, err = h.StartPlugins(ctx, candidates, options, own)
	}
	if err = cmp.Or(err, walk.Wait()); err == nil {
		files, err = h.walkAgain(ctx, files, cfg, out)
	}
	if err != nil {
		memory.Wait()
		if files != nil {
			files.Close()
		}
		if w.Plugins != nil {
			w.Plugins.Close()
		}
		return find, err
	}
	o.walked(ctx, files)
	find = discovery.Options{
		Tree: files, Clone: below, Snapshot: view, Config: cfg, Memory: memory, Candidates: candidates, Failures: w.Plugins.Failures(),
		Registry: adapters.NewRegistry(append(own, w.Plugins.Adapters()...)...), Made: w.History.Made,
	}
	find.Loaded = func(dishes []*dish.Settings) { settings.load(cfg, dishes) }
	if memory != nil {
		find.Saved, find.Later = w.saved, func(write func()) { w.write = write }
		find.Basis = func() string { return h.settings(Program(), w.State, cfg) }
	}
	return find, nil
}

// readHistory reads the history of the tasks.
func (w *Workspace) readHistory() error {
	w.History = key.OpenHistory(w.State)
	return nil
}

// walked calls First if the workspace has no index yet, and reads ahead if the caller needs all dishes.
func (o *Options) walked(ctx context.Context, files *tree.Tree) {
	if o.First != nil && files.Index().Empty() {
		o.First()
	}
	if o.All {
		files.LookAhead(ctx)
	}
}

// ofDishes returns the problems of the walk that concern dishes. An unreadable directory may hide
// dishes, unless the configuration excludes it: then it is a warning.
func ofDishes(ws *dish.Workspace, problems []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	for i, d := range problems {
		if d.Severity == diagnostics.Error && ws.Owner(d.File) == nil && ws.Excludes(d.File) {
			problems[i].Severity = diagnostics.Warning
		}
	}
	return problems
}

// machineFault returns the first problem that is a fault of the machine, nil if there is none. After such a fault, the
// content of the user's files is unknown.
func machineFault(problems []diagnostics.Diagnostic) error {
	i := slices.IndexFunc(problems, func(d diagnostics.Diagnostic) bool { return d.Rule == diagnostics.RuleMachine })
	if i < 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (%s)", cmp.Or(problems[i].File, "the workspace"), problems[i].Message, problems[i].Hint)
}
