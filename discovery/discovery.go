// Package discovery finds the parts of a workspace: its root, the executables on PATH that may be
// adapters, and the dishes with their adapters' answers and links.
package discovery

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery/answers"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Workspace is the input of plans. It does not change.
type Workspace struct {
	Root   string
	Dishes []*dish.Dish // by path
	Bentos []dish.Bento // by name
	// LeftOut are the directories with a manifest that are no dishes, by path.
	LeftOut []dish.LeftOut
	// Failed has, by id, the failure of each plugin that did not answer about a directory.
	Failed map[string]*adapters.Failure
	Tree   *tree.Tree
	Config *config.Workspace
	// Tools has, by id, the tools that can be used, and those with a Problem. It is nil if no task
	// and no parser names a tool.
	Tools map[string]*dish.Tool

	byPath   map[string][]*dish.Dish // the one with the directory's name first
	excluded func(path string) bool
}

// Excludes reports whether [workspace] exclude matches a path or a directory above it: no dish is
// looked for there.
func (w *Workspace) Excludes(path string) bool { return w.excluded(path) }

// WhyLeftOut returns why the directory at a path relative to the root is no dish and how to adopt
// it, "" when it is not in LeftOut.
func (w *Workspace) WhyLeftOut(path string) string {
	i, ok := slices.BinarySearchFunc(w.LeftOut, path, func(l dish.LeftOut, path string) int { return strings.Compare(l.Path, path) })
	if !ok {
		return ""
	}
	return "it is left out, " + string(w.LeftOut[i].Reason) + ": " + w.LeftOut[i].Why + "; [workspace] include adopts it"
}

// Options are the inputs of Find.
type Options struct {
	Tree     *tree.Tree
	Clone    *clone.Clone       // the same workspace, as adapters read it
	Snapshot *adapters.Snapshot // of the adapters; from now on it has Tree
	Config   *config.Workspace
	Registry *adapters.Registry
	Memory   *config.ParseCache // source of Config; may be nil
	// State stores the answers of adapters. Basis identifies everything that they depend on besides
	// files: the program, the environment, settings. Nothing is saved when Basis is nil or returns
	// "".
	State *state.Dir
	Basis func() string
	// Later starts a function that writes State and reads no file of the workspace, so that it may run
	// concurrently with later steps. The caller waits for its end. If Later is nil, Find calls the
	// function and waits.
	Later func(write func())

	// Made returns the files with one of these names that the last runs of tasks have made, by path. It may
	// be nil.
	Made func(names map[string]bool) map[string]bool

	// Loaded is called with the content of each dish.toml, before an adapter is asked; may be nil.
	Loaded func([]*dish.Settings)

	// Candidates and Failures explain why an adapter that a dish names is not in the registry;
	// failures are by id.
	Candidates []adapters.Candidate
	Failures   map[string]*adapters.Failure
}

// Find finds the dishes of a workspace and asks their adapters. It returns all problems at once;
// with errors among them the workspace still has every dish that could be read. When ctx is done
// the workspace is incomplete.
func Find(ctx context.Context, o Options) (*Workspace, []diagnostics.Diagnostic) {
	if o.Snapshot == nil {
		o.Snapshot = new(adapters.Snapshot)
	}
	o.Snapshot.Hold(answers.NewView(o.Tree, o.Clone))
	f := &finder{
		Options: o,
		ws: &Workspace{
			Root: o.Tree.Root(), Tree: o.Tree, Config: o.Config,
		},
		derivedOf: make(map[*dish.Dish]*tree.Set),
		decided:   make(map[*dish.Dish]*decision),
		imports:   make(map[*dish.Dish]*imports),
		named:     make(map[project]bool),
		left:      make(map[project]*site),
	}
	defer f.looking.Wait()
	f.sites()
	f.ws.byPath = make(map[string][]*dish.Dish, len(f.all))
	f.adopt(ctx)
	f.ws.Dishes = sortedDishes(f.ws.byPath)
	if ctx.Err() != nil {
		return f.ws, diagnostics.Sorted(f.problems) // a cancelled search finds too little
	}
	f.share()
	f.nameDishes()
	f.reportShared()
	f.joinBuilds()
	f.link()
	f.chooseOutputs()
	f.findEmbeds()
	f.fillBentos()
	f.checkPins()
	return f.ws, diagnostics.Sorted(f.problems)
}

// finder is the state of one Find.
type finder struct {
	Options
	ws       *Workspace
	all      []*site // see byPlace
	pending  []*site // undecided sites
	again    []*site // sites to decide again
	problems []diagnostics.Diagnostic
	faults   pluginFailures // of plugins
	marks    []answers.Mark // files whose names an adapter looks for
	answers  *answers.Cache
	looking  sync.WaitGroup // see save
	unknown  int            // paths of bentos without a dish, so far

	derivedOf map[*dish.Dish]*tree.Set // see derivedIn
	madeFiles map[string]bool          // see madeByTask
	decided   map[*dish.Dish]*decision // by dish, what its adapter has answered
	imports   map[*dish.Dish]*imports  // by dish; none unless they matter
	named     map[project]bool         // projects that the manifest of a dish names
	left      map[project]*site        // projects that were left out
	included  func(path string) bool
}

func (f *finder) add(problems ...diagnostics.Diagnostic) {
	f.problems = append(f.problems, problems...)
}

func sortedDishes(byPath map[string][]*dish.Dish) []*dish.Dish {
	dishes := make([]*dish.Dish, 0, len(byPath))
	for _, list := range byPath {
		dishes = append(dishes, list...)
	}
	slices.SortStableFunc(dishes, func(a, b *dish.Dish) int { return strings.Compare(a.Path, b.Path) })
	return dishes
}

// Owner returns the innermost dish, the first of its directory, that contains a path relative to the root, or nil.
func (w *Workspace) Owner(path string) *dish.Dish {
	for dir := range upwards(path) {
		if d := w.first(dir); d != nil {
			return d
		}
	}
	return nil
}

// Relative returns an absolute path relative to the root, with forward slashes; ok is false if it is
// outside.
func (w *Workspace) Relative(path string) (rel string, ok bool) { return relative(w.Root, path) }

// Members returns the members in the manifest of d, and their members in turn, by path.
func (w *Workspace) Members(d *dish.Dish) []*dish.Dish {
	seen := map[*dish.Dish]bool{d: true}
	var list []*dish.Dish
	var add func(of *dish.Dish)
	add = func(of *dish.Dish) {
		for _, path := range of.Members {
			for _, m := range w.byPath[path] {
				if !seen[m] && m.Path != d.Path {
					seen[m] = true
					list = append(list, m)
					add(m)
				}
			}
		}
	}
	add(d)
	slices.SortFunc(list, func(a, b *dish.Dish) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// upwards yields a path relative to the root and its parents, "." last.
func upwards(path string) func(yield func(dir string) bool) {
	return func(yield func(dir string) bool) {
		for path != "." && path != "" {
			if !yield(path) {
				return
			}
			i := strings.LastIndexByte(path, '/')
			if i < 0 {
				break
			}
			path = path[:i]
		}
		yield(".")
	}
}

// above yields the parents of a path.
func above(path string) func(yield func(dir string) bool) {
	return func(yield func(dir string) bool) {
		for dir := range upwards(path) {
			if dir != path && !yield(dir) {
				return
			}
		}
	}
}

// relative returns an absolute path relative to the root, with forward slashes; ok is false if it is
// outside.
func relative(root, path string) (rel string, ok bool) {
	if !filepath.IsAbs(path) {
		return "", false
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// placeOf returns the place of problems of a dish as a whole.
func placeOf(d *dish.Dish) diagnostics.Pos {
	if d.Config != nil {
		return d.Config.Pos
	}
	return diagnostics.Pos{File: d.Path}
}
