package maven

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm/pom"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Links implements adapters.Linker: by coordinates, every artifact that the build may need,
// also from parents and profiles; by directory, a parent that is not an aggregator above.
// That parent is an input of its own.
func (a *Adapter) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	own := p.chain.Coordinates()
	answer := adapters.LinksAnswer{Provides: names(own)}
	answer.Links = append(answer.Links, p.aside(f)...)
	if !p.aggregates() {
		seen := make(map[string]int)
		for _, m := range p.chain {
			for _, u := range m.Uses {
				name := p.means(u)
				if name == "" || slices.Contains(answer.Provides, name) {
					continue
				}
				if i, twice := seen[name]; twice {
					l := &answer.Links[i]
					l.Dev = l.Dev && u.Test
					continue
				}
				seen[name] = len(answer.Links)
				answer.Links = append(answer.Links, adapters.Link{Package: name, File: m.Path, Line: u.Line, Dev: u.Test})
			}
		}
	}
	slices.SortStableFunc(answer.Links, func(x, y adapters.Link) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	answer.Reads = f.Reads()
	return answer, nil
}

// names returns the names of a project: with its version, and without, for dependencies
// that leave it open.
func names(c pom.Coordinates) []string {
	if c.Group == "" || c.Artifact == "" {
		return nil
	}
	name := "maven:" + c.Group + ":" + c.Artifact
	if c.Version == "" {
		return []string{name}
	}
	return []string{name, name + ":" + c.Version}
}

// means returns the name of an artifact. The version is part of it if it is known: another version
// than the workspace's comes from a repository.
func (p *project) means(u pom.Use) string {
	group, _ := p.chain.Expand(u.Group)
	artifact, _ := p.chain.Expand(u.Artifact)
	version, known := p.chain.Expand(u.Version)
	if !known || strings.ContainsAny(version, "[(,") || version == "LATEST" || version == "RELEASE" {
		version = ""
	}
	list := names(pom.Coordinates{Group: group, Artifact: artifact, Version: version})
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// aside returns the parents that are not above the project, and the files of the build
// outside the repository.
func (p *project) aside(f *snapshot.Files) []adapters.Link {
	top := f.Dir()
	for dir := range f.Ancestors() {
		top = dir
	}
	var links []adapters.Link
	for i, m := range p.chain[1:] {
		if adapters.Within(m.Dir(), f.Dir()) && adapters.Within(top, m.Dir()) {
			continue
		}
		child := p.chain[i]
		links = append(links, adapters.Link{Dir: m.Dir(), File: child.Path, Line: child.Parent.Line})
	}
	for _, dir := range members(p.self()) {
		if !adapters.Within(top, dir) {
			links = append(links, adapters.Link{Dir: filepath.Clean(dir), File: p.self().Path, Line: p.self().Modules[dir].Line})
		}
	}
	return links
}
