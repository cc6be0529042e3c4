package cargo

import (
	"cmp"
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/snapshot"
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
	add := func(file string, l adapters.Link) {
		if l.File = file; l.Dir != "" && l.Dir != p.Dir() {
			links = append(links, l)
		}
	}
	for _, d := range p.Dependencies {
		// cargo compiles the dev-dependencies of the packages that it was started for only.
		add(p.Path, adapters.Link{Dir: p.root.DirOf(d), Line: d.Line, Dev: d.Dev, Private: d.Dev})
	}
	a.patched(f, p, configs, add)
	if p.Workspace != nil {
		for _, pattern := range p.Workspace.Defaults {
			for _, dir := range expand(f, p.Dir(), pattern.Text) {
				add(p.Path, adapters.Link{Dir: dir, Line: pattern.Line, Deep: true}) // their tests run too
			}
		}
	}
	return adapters.LinksAnswer{Links: sorted(links), Open: p.Open, Closed: true, Reads: f.Reads()}, nil
}

// patched adds the patches that the package uses: by name, or, as the lockfile says, by way of
// packages from elsewhere. Where there is no lockfile, any patch may take part.
func (a *Adapter) patched(f *snapshot.Files, p *project, configs []*cargotoml.Config, add func(string, adapters.Link)) {
	all := map[string][]cargotoml.Dependency{p.root.Path: p.root.Patches}
	for _, c := range configs {
		all[c.Path] = c.Patches
	}
	behind, known := map[string]bool{}, false
	if lock, err := a.locks.Read(f, p.lock()); err == nil {
		behind, known = lock.Behind(p.Package.Name, p.version())
	}
	for file, list := range all {
		for _, patch := range list {
			link := adapters.Link{Dir: patch.Dir, Line: patch.Line}
			if patch.Package == "" || !known || behind[patch.Package] {
				add(file, link)
				continue
			}
			uses := func(dev bool) bool {
				return slices.ContainsFunc(p.Dependencies, func(d cargotoml.Dependency) bool {
					return d.Dev == dev && p.root.PackageOf(d) == patch.Package
				})
			}
			if normal := uses(false); normal || uses(true) {
				link.Dev, link.Private = !normal, !normal
				add(file, link)
			}
		}
	}
}

// sorted orders links by file and line, and drops a second link to the same directory from
// the same line.
func sorted(links []adapters.Link) []adapters.Link {
	slices.SortFunc(links, func(a, b adapters.Link) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Dir, b.Dir))
	})
	return slices.Compact(links)
}
