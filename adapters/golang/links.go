package golang

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang/gomod"
)

// Links implements adapters.Linker: the local replacements of required modules, and the
// other members of the workspace that are required or imported.
func (a *Adapter) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil || p.mod == nil {
		return adapters.LinksAnswer{Reads: f.Reads()}, err
	}
	siblings, err := a.siblings(f, p)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	g := &linker{p: p, siblings: siblings}
	g.replaced()
	if p.work != nil {
		s, err := a.space(f, p)
		if err != nil {
			return adapters.LinksAnswer{}, err
		}
		g.used(s.usedBy(f, p.dir, p.mod, p.work.File))
		g.beyond(f.Root())
	}
	answer := adapters.LinksAnswer{Links: g.links, Names: []string{p.mod.Name}}
	if p.work != nil {
		answer.Provides = []string{packageName(p.work, p.mod.Name)}
	}
	answer.Reads = f.Reads()
	return answer, nil
}

// packageName returns the name of a module within a workspace.
func packageName(w *gomod.Work, module string) string {
	return "go:" + w.Dir() + ":" + module
}

// linker collects the links of one module.
type linker struct {
	p        *project
	siblings []member
	links    []adapters.Link
}

// replaced adds the replacements that lead to directories. In a workspace the replacements
// of every member apply to all.
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
			g.links = append(g.links, adapters.Link{Dir: r.Dir, File: r.File, Line: r.Line, As: r.Path})
		}
	}
}

// beyond adds the directories outside root that a go.work inside it uses: which of them this module
// needs is unknown.
func (g *linker) beyond(root string) {
	for _, dir := range g.p.work.Uses {
		if root != "" && adapters.Within(root, g.p.work.File) && !adapters.Within(root, dir) {
			g.links = append(g.links, adapters.Link{Dir: dir, File: g.p.work.File})
		}
	}
}

// used adds the members of the workspace that are required or imported.
func (g *linker) used(uses []use) {
	for _, u := range uses {
		g.links = append(g.links, adapters.Link{
			Package: packageName(g.p.work, u.mod.Name), As: u.mod.Name, File: u.file, Line: u.line, Dev: u.dev, Private: u.dev,
		})
	}
}
