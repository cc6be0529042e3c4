package golang

import (
	"context"
	"go/version"
	"slices"

	"github.com/bentobuild/bento/adapters"
)

// Links implements adapters.Linker: the local replacements of required modules,
// and the other members of the workspace that are required or imported.
func (a *Adapter) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	f := adapters.NewFiles(dir)
	p, err := a.project(f)
	if err != nil || p.mod == nil {
		return adapters.LinksAnswer{Reads: f.Reads()}, err
	}
	siblings, err := a.siblings(f, p)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	g := &linker{f: f, p: p, siblings: siblings}
	g.replaced()
	g.required()
	g.imported()
	answer := adapters.LinksAnswer{Links: g.links}
	if p.work != nil {
		answer.Provides = []string{packageName(p.work, p.mod.name)}
	}
	answer.Reads = f.Reads()
	return answer, nil
}

// packageName is the name of a module within a workspace.
func packageName(w *work, module string) string {
	return "go:" + w.dir() + ":" + module
}

// linker collects the links of one module.
type linker struct {
	f        *adapters.Files
	p        *project
	siblings []member
	links    []adapters.Link
	used     []member // those of siblings that links lead to
}

// replaced adds the replacements that lead to directories. In a workspace those of
// every member count for all.
func (g *linker) replaced() {
	replaces := g.p.mod.replaces
	if g.p.work != nil {
		replaces = slices.Concat(g.p.work.replaces, replaces)
		for _, s := range g.siblings {
			replaces = append(replaces, s.mod.replaces...)
		}
	}
	for _, r := range replaces {
		if r.dir != g.p.dir && g.p.mod.mayNeed(r.path) {
			g.links = append(g.links, adapters.Link{Dir: r.dir, File: r.file, Line: r.line})
		}
	}
}

// mayNeed tells whether a module may take part in the build of m.
func (m *module) mayNeed(path string) bool {
	return m.find(path) != nil || !m.listsAll()
}

// listsAll tells whether m's requirements are all that take part in its build. From
// go 1.17 on they are (https://go.dev/ref/mod#graph-pruning); before, those of
// other modules are not among them.
func (m *module) listsAll() bool {
	return version.Compare("go"+m.demand.goVersion, "go1.17") >= 0
}

// find gives the requirement of a module, nil when there is none.
func (m *module) find(path string) *require {
	i := slices.IndexFunc(m.requires, func(r require) bool { return r.path == path })
	if i < 0 {
		return nil
	}
	return &m.requires[i]
}

// required adds the members of the workspace that go.mod requires.
func (g *linker) required() {
	for _, s := range g.siblings {
		if r := g.p.mod.find(s.mod.name); r != nil {
			g.link(s, g.p.mod.demand.file, r.line, false)
		}
	}
}

// imported adds the members that are imported without being required, which is
// enough within a workspace. They are found in the sources.
func (g *linker) imported() {
	free := slices.DeleteFunc(slices.Clone(g.siblings), func(s member) bool {
		return s.mod.name == "" || g.p.mod.find(s.mod.name) != nil
	})
	if len(free) == 0 {
		return
	}
	found, complete := importsOf(g.f, g.p.mod, free)
	for i, s := range free {
		switch at := found[i]; {
		case at.file != "":
			g.link(s, at.file, at.line, at.test)
		case !complete: // too large to be sure
			g.link(s, g.p.work.file, 0, false)
		}
	}
}

func (g *linker) link(s member, file string, line int, dev bool) {
	g.used = append(g.used, s)
	g.links = append(g.links, adapters.Link{
		Package: packageName(g.p.work, s.mod.name), File: file, Line: line, Dev: dev,
	})
}
