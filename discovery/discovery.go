// Package discovery finds the parts of a workspace: its root, the executables on PATH that may be
// adapters, and the dishes with their adapters' answers and links.
package discovery

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery/answers"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Options are the inputs of Find.
type Options struct {
	Tree     *tree.Tree
	Clone    *clone.Clone       // the same workspace, as adapters read it
	Snapshot *snapshot.Snapshot // of the adapters; from now on it has Tree
	Config   *config.Workspace
	Registry *adapters.Registry
	Memory   *config.ParseCache // source of Config; may be nil
	// Saved has the answers of adapters and the embeds of sources. It may be nil. Basis identifies everything
	// that the answers depend on besides files: the program, the environment, settings. No answer is saved
	// when Basis is nil or returns "".
	Saved *state.Parts
	Basis func() string
	// Later receives a function that saves Saved and reads no file of the workspace, so that it may run
	// concurrently with later steps. If Later is nil, Find calls the function.
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
func Find(ctx context.Context, o Options) (*dish.Workspace, []diagnostics.Diagnostic) {
	if o.Snapshot == nil {
		o.Snapshot = new(snapshot.Snapshot)
	}
	o.Snapshot.Hold(answers.NewView(o.Tree, o.Clone))
	f := &finder{
		Options:   o,
		ws:        &dish.Workspace{Root: o.Tree.Root(), Files: o.Tree, PassEnv: o.Config.Defaults.PassEnv, ObservedInputs: o.Config.Defaults.ObservedInputs, ObservedOutputs: o.Config.Defaults.ObservedOutputs},
		derivedOf: make(map[*dish.Dish]*tree.Set),
		decided:   make(map[*dish.Dish]*decision),
		imports:   make(map[*dish.Dish]*imports),
		named:     make(map[project]bool),
		left:      make(map[project]*site),
	}
	defer f.looking.Wait()
	f.sites()
	f.ws.ByPath = make(map[string][]*dish.Dish, len(f.all))
	f.adopt(ctx)
	f.ws.Dishes = sortedDishes(f.ws.ByPath)
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
	f.checkEmbeds()
	f.fillBentos()
	f.findOwners()
	f.checkPins()
	f.save()
	return f.ws, diagnostics.Sorted(f.problems)
}

// finder is the state of one Find.
type finder struct {
	Options
	ws       *dish.Workspace
	all      []*site // see byPlace
	pending  []*site // undecided sites
	again    []*site // sites to decide again
	problems []diagnostics.Diagnostic
	faults   pluginFailures // of plugins
	marks    []answers.Mark // files whose names an adapter looks for
	answers  *answers.Cache
	saver    *answers.Saver
	looking  sync.WaitGroup // sets saver
	unknown  int            // paths of bentos without a dish, so far
	borders  *linkChecker   // nil: all links are allowed

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

// above yields the parents of a path.
func above(path string) func(yield func(dir string) bool) {
	return func(yield func(dir string) bool) {
		for dir := range dish.Upwards(path) {
			if dir != path && !yield(dir) {
				return
			}
		}
	}
}

// placeOf returns the place of problems of a dish as a whole.
func placeOf(d *dish.Dish) diagnostics.Pos {
	if d.Config != nil {
		return d.Config.Pos
	}
	return diagnostics.Pos{File: d.Path}
}
