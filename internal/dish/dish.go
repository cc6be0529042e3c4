// Package dish has the values that describe a workspace before anything is planned: its dishes with their settings,
// recipes and links, its bentos and tools. Packages config and discovery fill them. Package plan and those
// after it only read them.
package dish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// The names of bento's files.
const (
	WorkspaceFile = "bento.toml"
	BentosDir     = "bentos"
	AdaptersDir   = BentosDir + "/adapters" // has a file for each adapter that the workspace defines
	File          = "dish.toml"
)

// Dish is a directory with tasks.
type Dish struct {
	Name string
	Path string // relative to the root with forward slashes; "." is the root
	Dir  string // absolute
	// Beside is its language if it is not the first dish of its directory; "" for the first.
	Beside string

	Bentos []string // names of its bentos, sorted

	Config    *Settings // nil for a dish without dish.toml
	Toolchain Toolchain
	Container *Container // of its tasks that set none; nil for none

	Adapter   adapters.Adapter // nil when no language is known
	Tasks     []adapters.Task
	Notes     []string            // of its adapter, about its tasks
	Aggregate bool                // root of members, without tasks of its own
	Members   []string            // paths, relative to the root, of the directories that its manifest lists
	Pin       *adapters.Toolchain // nil when no file pins a version
	Scope     adapters.Scope      // where its dependencies are installed
	Lock      adapters.LockAnswer // from its lockfile
	Links     []Link              // to other dishes, by their paths
	Embeds    []Embed             // paths that its sources take in
	// Needs are the files that its sources import, of those that tasks other than builds make and git does not
	// track. Named is set where only its tests import it.
	Needs []Embed
	Extra []string // directories that are no dishes and that it depends on, relative to the root

	// Package is the name of its package for the package manager, ImportPath the name under which sources import
	// its packages, such as the path of a Go module; "" if unknown.
	Package, ImportPath string
	// Open and Closed are those of adapters.LinksAnswer.
	Open   []string
	Closed bool
	// Imports returns globs, relative to another dish, of its directories that the sources of this one import, nil if
	// that is unknown. It is nil unless the imports matter.
	Imports  func(of *Dish) []string
	OwnersOf func(path string) (Ownership, error) // see Workspace.OwnersOf
	// Build represents the dishes of one build; nil for a build of one dish.
	Build *Dish

	// Failure is the error of the adapter. The fields above are incomplete then.
	Failure error
}

// Family returns the manifest family of the adapter of d, "" without an adapter.
func (d *Dish) Family() string {
	if d.Adapter == nil {
		return ""
	}
	return d.Adapter.Manifest().FamilyName()
}

// Installs reports whether there is anything to install for d at all.
func (d *Dish) Installs() bool {
	return d.Adapter != nil && !d.Scope.Nothing && d.Adapter.Manifest().Capabilities.Install
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

// OpenTo returns globs, relative to d, of the files of d that the tools of reader, which is linked to
// d, may read there. Nil means that this is unknown. If closed is false, it is known only where a task
// makes all of them: sources may read more.
func (d *Dish) OpenTo(reader *Dish) (globs []string, closed bool) {
	if d.Adapter == nil || d.Family() != reader.Family() {
		return nil, false
	}
	if _, ok := reader.Adapter.(adapters.Importer); !ok {
		return d.Open, d.Closed
	}
	if reader.Imports == nil {
		return nil, true
	}
	return reader.Imports(d), true
}

// Counts reports whether the files of inner, a dish inside d, are among the default inputs of d:
// they are unless the tools of d stop there.
func (d *Dish) Counts(inner *Dish) bool {
	if d.Adapter == nil || inner.Adapter == nil || d.Family() != inner.Family() {
		return true
	}
	m := d.Adapter.Manifest()
	return !m.StopsAtFamily && (!m.StopsAtBuild || d.Build == nil || d.Build != inner.Build)
}

// Options returns the options that dish.toml sets for the plugin of the dish, JSON; "" for none.
// Those of the workspace are part of the identity of the plugin.
func (d *Dish) Options() string {
	if d.Config == nil || d.Adapter == nil || len(d.Config.Options) == 0 {
		return ""
	}
	return d.Config.Options[d.Adapter.Manifest().AdapterID].JSON
}

// TaskNames returns the sorted names of the tasks of d, those of its adapter included.
func (d *Dish) TaskNames() []string {
	names := []string{}
	for _, t := range d.Tasks {
		names = append(names, t.Name)
	}
	if d.Config != nil {
		for _, t := range d.Config.Tasks {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Tags returns the tags of d in the order of dish.toml.
func (d *Dish) Tags() []string {
	tags := []string{}
	if d.Config != nil {
		for _, t := range d.Config.Tags {
			tags = append(tags, t.Text)
		}
	}
	return tags
}

// HasTag reports whether dish.toml lists the tag.
func (d *Dish) HasTag(tag string) bool {
	return d.Config != nil && slices.ContainsFunc(d.Config.Tags, func(t Text) bool { return t.Text == tag })
}

// Aliases returns the aliases of the tasks of d.
func (d *Dish) Aliases() (names []string) {
	if d.Config == nil {
		return nil
	}
	for _, t := range d.Config.Tasks {
		for _, alias := range t.About.Aliases {
			names = append(names, alias.Text)
		}
	}
	return names
}

// Ownership is the line of CODEOWNERS that decides about a path. Without such a line it is zero.
type Ownership struct {
	Owners  []string // none if the line takes the path from the owners of others
	Pattern string
	Pos     diagnostics.Pos
}

// Owners returns the owners of the directory of d by CODEOWNERS, empty without one that bento can use.
func (d *Dish) Owners() []string {
	if d.OwnersOf == nil {
		return []string{}
	}
	dir := d.Path + "/"
	if d.Path == "." {
		dir = "/"
	}
	o, err := d.OwnersOf(dir)
	if err != nil { // bento owners reports it
		return []string{}
	}
	return append([]string{}, o.Owners...)
}

// Few lists the first few names of dishes, and says how many follow.
func Few(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more dishes", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Bento is a selection of dishes.
type Bento struct {
	Name   string
	Pos    diagnostics.Pos
	Dishes []string // names, in the order of the bento
}

// LeftOut is a directory with a manifest that is no dish. Its files belong to the dish around it.
type LeftOut struct {
	Path    string          `json:"path"`
	Adapter string          `json:"adapter"` // id of the adapter that would have taken it
	Reason  adapters.Reason `json:"reason"`
	Why     string          `json:"why"`
}

// The reasons that no language decides.
const (
	Excluded adapters.Reason = "excluded"  // by [workspace] exclude
	TestData adapters.Reason = "test_data" // below a directory of test data
	Derived  adapters.Reason = "derived"   // a tool makes it
)
