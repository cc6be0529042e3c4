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
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Workspace is the input of plans. It does not change.
type Workspace struct {
	Root   string
	Dishes []*Dish // by path
	Bentos []Bento // by name
	// LeftOut are the directories with a manifest that are no dishes, by path.
	LeftOut []LeftOut
	// Failed has, by id, the failure of each plugin that did not answer about a directory.
	Failed map[string]*adapters.Failure
	Tree   *tree.Tree
	Config *config.Workspace
	// Tools has, by id, the tools that can be used, and those with a Problem. It is nil if no task
	// and no parser names a tool.
	Tools map[string]*Tool

	byPath   map[string][]*Dish // the one with the directory's name first
	excluded func(path string) bool
}

// Excludes reports whether [workspace] exclude matches a path or a directory above it: no dish is
// looked for there.
func (w *Workspace) Excludes(path string) bool { return w.excluded(path) }

// WhyLeftOut returns why the directory at a path relative to the root is no dish and how to adopt
// it, "" when it is not in LeftOut.
func (w *Workspace) WhyLeftOut(path string) string {
	i, ok := slices.BinarySearchFunc(w.LeftOut, path, func(l LeftOut, path string) int { return strings.Compare(l.Path, path) })
	if !ok {
		return ""
	}
	return "it is left out, " + string(w.LeftOut[i].Reason) + ": " + w.LeftOut[i].Why + "; [workspace] include adopts it"
}

// Bento is a selection of dishes.
type Bento struct {
	Name   string
	Pos    config.Pos
	Dishes []string // names, in the order of the bento
}

// Dish is a directory with tasks.
type Dish struct {
	Name string
	Path string // relative to the root with forward slashes; "." is the root
	Dir  string // absolute
	// Beside is its language if it is not the first dish of its directory; "" for the first.
	Beside string

	Bentos []string // names of its bentos, sorted

	Config    *config.Dish // nil for a dish without dish.toml
	Toolchain config.Toolchain

	Adapter   adapters.Adapter // nil when no language is known
	Tasks     []adapters.Task
	Notes     []string            // of its adapter, about its tasks
	Aggregate bool                // root of members, without tasks of its own
	Pin       *adapters.Toolchain // nil when no file pins a version
	Scope     adapters.Scope      // where its dependencies are installed
	Lock      adapters.LockAnswer // from its lockfile
	Links     []Link              // to other dishes, by their paths
	Embeds    []Embed             // paths that its sources take in
	// Needs are the files that its sources import, of those that tasks other than builds make and git does not
	// track. Named is set where only its tests import it.
	Needs []Embed
	Extra []string // directories that are no dishes and that it depends on, relative to the root

	// Failure is the error of the adapter. The fields above are incomplete then.
	Failure error

	members []string // absolute directories that its manifest lists
	// memberPaths are the paths of members inside the workspace, with links followed.
	memberPaths []string
	wraps       []string // families that its own build and test contain
	named       bool     // see finder.name
	answered    adapters.LinksAnswer
	warnings    diagnostics.Problems // from its adapter, about its manifests
	imports     *imports             // nil unless they matter
	build       *Dish                // represents the dishes of one build; nil for a build of one dish
}

// ScopeID identifies the scope in which the dependencies of d are installed: by adapter and
// directory. d has an adapter.
func (d *Dish) ScopeID() string {
	return d.Adapter.Manifest().AdapterID + "\x00" + d.ScopeDir()
}

// ScopeDir returns the directory in which the dependencies of d are installed.
func (d *Dish) ScopeDir() string {
	if d.Scope.Dir == "" {
		return d.Dir
	}
	return d.Scope.Dir
}

// PackageName returns the name of the package for its package manager, "" if it is unknown.
func (d *Dish) PackageName() string {
	if len(d.answered.Provides) == 0 {
		return ""
	}
	name := d.answered.Provides[0]
	return name[strings.LastIndexByte(name, ':')+1:]
}

// ImportPath returns the name under which sources import the packages of d, such as the path of a Go module, "" if
// it is unknown.
func (d *Dish) ImportPath() string {
	if len(d.answered.Names) == 0 {
		return ""
	}
	return d.answered.Names[0]
}

// OpenTo returns globs, relative to d, of the files of d that the tools of reader, which is linked to
// d, may read there. Nil means that this is unknown. If closed is false, it is known only where a task
// makes all of them: sources may read more.
func (d *Dish) OpenTo(reader *Dish) (globs []string, closed bool) {
	if d.Adapter == nil || d.family() != reader.family() {
		return nil, false
	}
	if _, ok := reader.Adapter.(adapters.Importer); ok {
		return reader.imports.from(reader, d), true
	}
	return d.answered.Open, d.answered.Closed
}

// Kinds of Link.
const (
	Declared = "declared" // depends_on in dish.toml
	Inferred = "inferred" // read from a manifest
)

// Link is a dependency of a dish on another.
type Link struct {
	To   *Dish
	Kind string
	Via  string // config.ViaOutputs, or empty for the sources
	// Where is "file:line", relative to the root.
	Where string
	Dev   bool // every manifest entry of the link is for development
	// Private is true if only tasks of the dish itself use the link: it is not followed from other dishes.
	Private bool
	// Cyclic marks an inferred link that closes a cycle; it does not order tasks.
	Cyclic bool

	deep   bool     // the dish uses the private links of To, too
	as     []string // the paths under which sources import what is in To; "" is none
	shared bool     // see adapters.Link
	// inherited is true for a shared link of the root of the workspace.
	inherited bool
	pos       config.Pos
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
	Loaded func([]*config.Dish)

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
		derivedOf: make(map[*Dish]*tree.Set),
		named:     make(map[project]bool),
		left:      make(map[project]*site),
	}
	defer f.looking.Wait()
	f.sites()
	f.ws.byPath = make(map[string][]*Dish, len(f.all))
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

	derivedOf map[*Dish]*tree.Set // see derivedIn
	madeFiles map[string]bool     // see madeByTask
	named     map[project]bool    // projects that the manifest of a dish names
	left      map[project]*site   // projects that were left out
	included  func(path string) bool
}

func (f *finder) add(problems ...diagnostics.Diagnostic) {
	f.problems = append(f.problems, problems...)
}

func sortedDishes(byPath map[string][]*Dish) []*Dish {
	dishes := make([]*Dish, 0, len(byPath))
	for _, list := range byPath {
		dishes = append(dishes, list...)
	}
	slices.SortStableFunc(dishes, func(a, b *Dish) int { return strings.Compare(a.Path, b.Path) })
	return dishes
}

// Owner returns the innermost dish, the first of its directory, that contains a path relative to the root, or nil.
func (w *Workspace) Owner(path string) *Dish {
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
func (w *Workspace) Members(d *Dish) []*Dish {
	seen := map[*Dish]bool{d: true}
	var list []*Dish
	var add func(of *Dish)
	add = func(of *Dish) {
		for _, path := range of.memberPaths {
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
	slices.SortFunc(list, func(a, b *Dish) int { return strings.Compare(a.Path, b.Path) })
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

// place returns the place of problems of a dish as a whole.
func (d *Dish) place() config.Pos {
	if d.Config != nil {
		return d.Config.Pos
	}
	return config.Pos{File: d.Path}
}

// family returns the manifest family of its adapter, "" without an adapter.
func (d *Dish) family() string {
	if d.Adapter == nil {
		return ""
	}
	return d.Adapter.Manifest().FamilyName()
}
