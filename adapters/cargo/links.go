package cargo

import (
	"cmp"
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
)

// Links implements adapters.Linker: path dependencies, also inherited from the workspace,
// patches, and, where a package is the root of a workspace, its default members, which its
// tasks build too.
func (a *Adapter) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	if p.Package == nil {
		return adapters.LinksAnswer{Reads: f.Reads()}, nil
	}
	configs, err := a.configsHere(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	var links []adapters.Link
	add := func(file, dir string, line int, dev bool) {
		if dir != "" && dir != p.Dir() {
			links = append(links, adapters.Link{Dir: dir, File: file, Line: line, Dev: dev})
		}
	}
	for _, d := range p.Dependencies {
		add(p.Path, p.root.DirOf(d), d.Line, d.Dev)
	}
	// Only the lockfile says whether a patched package takes part, so it may.
	for _, d := range p.root.Patches {
		add(p.root.Path, d.Dir, d.Line, false)
	}
	for _, c := range configs {
		for _, d := range c.Patches {
			add(c.Path, d.Dir, d.Line, false)
		}
	}
	if p.Workspace != nil {
		for _, pattern := range p.Workspace.Defaults {
			for _, dir := range expand(f, p.Dir(), pattern.Text) {
				add(p.Path, dir, pattern.Line, false)
			}
		}
	}
	return adapters.LinksAnswer{Links: sorted(links), Reads: f.Reads()}, nil
}

// sorted orders links by file and line, and drops a second link to the same directory from
// the same line.
func sorted(links []adapters.Link) []adapters.Link {
	slices.SortFunc(links, func(a, b adapters.Link) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Dir, b.Dir))
	})
	return slices.Compact(links)
}
