package ruby

import (
	"context"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/ruby/gemfile"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Links implements adapters.Linker: the gems on disk that the project depends on, by its
// own Gemfile and by its gemspecs.
func (a *Adapter) Links(ctx context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	var links []adapters.Link
	add := func(g pathGem, place gemfile.Place, dev bool) {
		known := slices.IndexFunc(links, func(l adapters.Link) bool { return l.Dir == g.dir })
		switch {
		case g.dir == dir:
		case known < 0:
			links = append(links, adapters.Link{Dir: g.dir, File: place.File, Line: place.Line, Dev: dev, Private: dev})
		default:
			links[known].Dev = links[known].Dev && dev
			links[known].Private = links[known].Dev
		}
	}
	if !p.isMember() {
		for _, g := range p.gems {
			add(g, g.place, g.dev)
		}
	}
	for _, path := range gemspecsIn(f, dir) {
		spec, err := gemfile.ReadGemspec(f, path)
		if err != nil {
			return adapters.LinksAnswer{}, err
		}
		for _, d := range spec.Dependencies {
			if g, ok := p.gemNamed(d.Name); ok {
				add(g, d.Place, d.Dev)
			}
		}
	}
	return adapters.LinksAnswer{Links: links, Reads: f.Reads()}, nil
}

// LockDigest implements adapters.LockDigester: everything that Gemfile.lock resolves to.
// For a gem that shares the Gemfile with others it is the gem's dependencies and the
// Gemfile's other requirements.
func (a *Adapter) LockDigest(ctx context.Context, dir string) (adapters.LockAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LockAnswer{}, err
	}
	ans := adapters.LockAnswer{File: p.lock, Whole: p.whole}
	if p.locked != nil && !p.isMember() {
		ans.Digest = p.locked.Digest()
	} else if p.locked != nil {
		var names []string
		for _, g := range p.gems {
			if g.dir == dir {
				names = append(names, g.name)
			}
		}
		var ok bool
		if ans.Digest, ok = p.locked.DigestOf(names); !ok {
			ans.Digest, ans.Whole = "", "Gemfile.lock does not list all gems of this directory"
		}
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// Embeds implements adapters.Embedder: paths in a Gemfile or gemspec that lead out of the gem. Gems by
// path are links already, and "../x" of __FILE__ is beside the file.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	skip := func(line string) bool {
		return strings.Contains(line, "__FILE__") || strings.Contains(line, "path") && !strings.Contains(line, "expand_path") || strings.Contains(line, "eval_gemfile")
	}
	return snapshot.UpwardPaths(dir, file, data, skip, "#")
}
