// Package cargolock reads Cargo.lock and returns the part that one package of a workspace
// depends on. Cargo's source is the only description of the format:
// https://docs.rs/cargo/latest/src/cargo/core/resolver/encode.rs.html.
package cargolock

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/lockgraph"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// newest is the latest version of the format that this package reads.
const newest = 4

// Lock is a parsed Cargo.lock. It is safe for concurrent use.
type Lock struct {
	Sources []Sourced // the packages that are not those of the workspace

	graph lockgraph.Graph
	local map[string][]local // the packages of the workspace, by name
	names map[lockgraph.Node]string
	edges [][]lockgraph.Node
	why   string // why the whole file is an input
}

// Sourced is a package with its source: "registry+https://…", "git+https://…".
type Sourced struct{ Name, Version, Source string }

type local struct {
	version string
	node    lockgraph.Node
}

// entry is a [[package]] table.
type entry struct {
	Name, Version, Source, Checksum, Replace string
	Dependencies                             []string
}

// Parse reads a Cargo.lock. It returns no error: Sum reports what Parse cannot read.
func Parse(path string, data []byte) (*Lock, error) {
	d, ok := scan(string(data))
	if !ok {
		f, problems := tomlfile.ParseManifest(path, data)
		if f == nil {
			return &Lock{why: malformed(problems)}, nil
		}
		d = read(f.Root())
	}
	l := &Lock{local: make(map[string][]local), names: make(map[lockgraph.Node]string), edges: make([][]lockgraph.Node, len(d.packages))}
	if d.odd != "" || d.version > newest {
		l.why = fmt.Sprintf("Cargo.lock version %s is not known", cmp.Or(d.odd, strconv.FormatInt(d.version, 10)))
		return l, nil
	}
	index := newIndex(d, l)
	for i, e := range d.packages {
		if e.Source != "" {
			l.Sources = append(l.Sources, Sourced{e.Name, e.Version, e.Source})
		}
		if !index.connect(l, lockgraph.Node(i), e) {
			l.why = fmt.Sprintf("it does not resolve a dependency of the package %s", e.Name)
			return l, nil
		}
	}
	l.graph.Seal()
	return l, nil
}

func malformed(problems []diagnostics.Diagnostic) string {
	if len(problems) == 0 {
		return "it cannot be read"
	}
	p := diagnostics.Sorted(problems)[0]
	return fmt.Sprintf("line %d: %s", p.Line, p.Message)
}

// Sum returns the digest of everything that the package of the workspace with this name
// resolves to, or why it cannot. version decides between two packages of one name.
func (l *Lock) Sum(name, version string) (sum, why string) {
	n, why := l.find(name, version)
	if why != "" {
		return "", why
	}
	return l.graph.Sum(n).String(), ""
}

// find returns a package of the workspace, or why it cannot.
func (l *Lock) find(name, version string) (n lockgraph.Node, why string) {
	if l.why != "" {
		return 0, l.why
	}
	found := l.local[name]
	if len(found) > 1 {
		for _, p := range found {
			if p.version == version {
				found = []local{p}
				break
			}
		}
	}
	switch len(found) {
	case 0:
		return 0, fmt.Sprintf("it does not list the package %s", name)
	case 1:
		return found[0].node, ""
	}
	return 0, fmt.Sprintf("it lists several packages %s", name)
}

// Behind returns the names of the packages on disk that foreign packages which a package of the
// workspace depends on depend on in turn. ok is false if the lockfile does not say.
func (l *Lock) Behind(name, version string) (names map[string]bool, ok bool) {
	from, why := l.find(name, version)
	if why != "" {
		return nil, false
	}
	names = make(map[string]bool)
	seen := make(map[lockgraph.Node]bool)
	var queue []lockgraph.Node
	foreign := func(of lockgraph.Node, visit func(local string)) {
		for _, n := range l.edges[of] {
			if local, is := l.names[n]; is {
				visit(local)
			} else if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	foreign(from, func(string) {})
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		foreign(n, func(local string) { names[local] = true })
	}
	return names, true
}

// read returns the document of a lockfile in any TOML layout.
func read(root *tomlfile.Value) document {
	d := document{packages: packages(root), sums: checksums(root)}
	if v := root.Child("version"); v != nil {
		n, ok := v.Any().(int64)
		if d.version = n; !ok {
			d.odd = fmt.Sprint(v.Any())
		}
	}
	return d
}

// packages returns the entries, and in old lockfiles that of [root].
func packages(root *tomlfile.Value) []entry {
	var list []entry
	if v := root.Child("root"); v != nil && v.Kind() == tomlfile.Table {
		list = append(list, newEntry(v))
	}
	if v := root.Child("package"); v != nil && v.Kind() == tomlfile.Array {
		for _, p := range v.Elems() {
			if p.Kind() == tomlfile.Table {
				list = append(list, newEntry(p))
			}
		}
	}
	return list
}

func newEntry(v *tomlfile.Value) entry {
	text := func(name string) string {
		child := v.Child(name)
		if child == nil {
			return ""
		}
		s, _ := child.Text()
		return s
	}
	e := entry{
		Name: text("name"), Version: text("version"), Source: text("source"),
		Checksum: text("checksum"), Replace: text("replace"),
	}
	if deps := v.Child("dependencies"); deps != nil && deps.Kind() == tomlfile.Array {
		for _, d := range deps.Elems() {
			s, _ := d.Text()
			e.Dependencies = append(e.Dependencies, s)
		}
	}
	return e
}

// checksums returns the checksums of the first version of the format, which has a table for
// them: "checksum NAME VERSION (SOURCE)" = "…".
func checksums(root *tomlfile.Value) map[string]string {
	sums := make(map[string]string)
	v := root.Child("metadata")
	if v == nil || v.Kind() != tomlfile.Table {
		return sums
	}
	for _, key := range v.Keys() {
		if id, ok := strings.CutPrefix(key, "checksum "); ok {
			sums[id], _ = v.Child(key).Text()
		}
	}
	return sums
}

// index finds packages by the text of a dependency: "NAME", "NAME VERSION" where a name has
// several, "NAME VERSION (SOURCE)" where a version has several.
type index struct {
	graph  *lockgraph.Graph
	byName map[string][]lockgraph.Node
	byID   map[string][]lockgraph.Node
	exact  map[string]lockgraph.Node
}

func newIndex(d document, l *Lock) *index {
	x := &index{
		graph:  &l.graph,
		byName: make(map[string][]lockgraph.Node), byID: make(map[string][]lockgraph.Node), exact: make(map[string]lockgraph.Node),
	}
	for _, e := range d.packages {
		id := e.Name + " " + e.Version
		exact := id + " (" + e.Source + ")"
		n := l.graph.Add(e.Name, e.Version, e.Source, e.Checksum, d.sums[exact])
		x.byName[e.Name] = append(x.byName[e.Name], n)
		x.byID[id] = append(x.byID[id], n)
		x.exact[exact] = n
		// Dependencies name a git source without the commit.
		source, _, _ := strings.Cut(e.Source, "#")
		x.exact[id+" ("+source+")"] = n
		if e.Source == "" {
			l.local[e.Name] = append(l.local[e.Name], local{e.Version, n})
			l.names[n] = e.Name
		}
	}
	return x
}

// connect adds the edges of a package. It returns false when a dependency does not lead to
// exactly one package.
func (x *index) connect(l *Lock, from lockgraph.Node, e entry) bool {
	deps := e.Dependencies
	if e.Replace != "" {
		deps = append(deps[:len(deps):len(deps)], e.Replace)
	}
	for _, d := range deps {
		to, ok := x.find(d)
		if !ok {
			return false
		}
		x.graph.Link(from, "", to)
		l.edges[from] = append(l.edges[from], to)
	}
	return true
}

// find returns the package that a dependency names.
func (x *index) find(dependency string) (lockgraph.Node, bool) {
	if n, ok := x.exact[dependency]; ok {
		return n, true
	}
	name, rest, _ := strings.Cut(dependency, " ")
	version, _, _ := strings.Cut(rest, " ")
	all := x.byName[name]
	if version != "" {
		all = x.byID[name+" "+version]
	}
	if len(all) != 1 {
		return 0, false
	}
	return all[0], true
}
