package golang

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang/gomod"
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
		answer.Provides = []string{packageName(p.work, p.mod.Name)}
	}
	answer.Reads = f.Reads()
	return answer, nil
}

// packageName is the name of a module within a workspace.
func packageName(w *gomod.Work, module string) string {
	return "go:" + w.Dir() + ":" + module
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
	replaces := g.p.mod.Replaces
	if g.p.work != nil {
		replaces = slices.Concat(g.p.work.Replaces, replaces)
		for _, s := range g.siblings {
			replaces = append(replaces, s.mod.Replaces...)
		}
	}
	for _, r := range replaces {
		if r.Dir != g.p.dir && g.p.mod.MayNeed(r.Path) {
			g.links = append(g.links, adapters.Link{Dir: r.Dir, File: r.File, Line: r.Line})
		}
	}
}

// required adds the members of the workspace that go.mod requires.
func (g *linker) required() {
	for _, s := range g.siblings {
		if r := g.p.mod.Find(s.mod.Name); r != nil {
			g.link(s, g.p.mod.Demand.File, r.Line, false)
		}
	}
}

// imported adds the members that are imported without being required, which is
// enough within a workspace. They are found in the sources.
func (g *linker) imported() {
	free := slices.DeleteFunc(slices.Clone(g.siblings), func(s member) bool {
		return s.mod.Name == "" || g.p.mod.Find(s.mod.Name) != nil
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
			g.link(s, g.p.work.File, 0, false)
		}
	}
}

func (g *linker) link(s member, file string, line int, dev bool) {
	g.used = append(g.used, s)
	g.links = append(g.links, adapters.Link{
		Package: packageName(g.p.work, s.mod.Name), File: file, Line: line, Dev: dev,
	})
}
