package python

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
)

// Links implements adapters.Linker: the requirements that are directories. Those of only an
// extra, a group or a file of development are development dependencies.
func (a *Adapter) Links(ctx context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := open(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	normal, dev := p.asked()
	links := linksTo(dir, normal, false)
	for _, l := range linksTo(dir, dev, true) {
		// Another project may ask for an extra, but never for a group or a file of development.
		l.Private = !slices.ContainsFunc(p.Extras, func(e pyproject.Group) bool {
			return slices.ContainsFunc(e.Requirements, func(r requirements.Requirement) bool { return r.Path == l.Dir })
		})
		if !slices.ContainsFunc(links, func(o adapters.Link) bool { return o.Dir == l.Dir }) {
			links = append(links, l)
		}
	}
	return adapters.LinksAnswer{Links: append(links, p.Links()...), Reads: f.Reads()}, nil
}

func linksTo(dir string, list []requirements.Requirement, dev bool) []adapters.Link {
	var links []adapters.Link
	for _, r := range list {
		if r.Path != "" && r.Path != dir && !r.IsArchive() {
			links = append(links, adapters.Link{Dir: r.Path, File: r.File, Line: r.Line, Dev: dev})
		}
	}
	return links
}
