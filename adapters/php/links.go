package php

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/php/composer"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// maxPathPackages is how many directories one pattern of a path repository may match.
const maxPathPackages = 2_000

// Links implements adapters.Linker: the packages of path repositories that composer.json
// requires, and those of the same repositories that these require in turn.
func (a *Adapter) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	m, err := a.manifests.Read(f, manifestFile)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	byName := make(map[string]*composer.Manifest)
	for _, p := range a.pathPackages(f, m) {
		if name := strings.ToLower(p.Name); byName[name] == nil { // the first repository wins
			byName[name] = p
		}
	}
	var links []adapters.Link
	seen := make(map[string]bool)
	var follow func(of *composer.Manifest, from *composer.Require)
	follow = func(of *composer.Manifest, from *composer.Require) {
		for _, r := range of.Requires {
			p := byName[strings.ToLower(r.Name)]
			if p == nil || of != m && r.Dev || p.Dir() == m.Dir() {
				continue
			}
			at := from
			if of == m {
				at = &r
			}
			if id := p.Dir() + map[bool]string{true: " dev"}[at.Dev]; !seen[id] {
				seen[id] = true
				links = append(links, adapters.Link{Dir: p.Dir(), File: m.Path, Line: at.Line, Dev: at.Dev, Private: at.Dev})
				follow(p, at)
			}
		}
	}
	follow(m, nil)
	slices.SortFunc(links, func(x, y adapters.Link) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Dir, y.Dir))
	})
	return adapters.LinksAnswer{Links: links, Reads: f.Reads()}, nil
}

// pathPackages returns the packages of the path repositories. It leaves out a package that
// cannot be read: bento reports it as a dish, or composer does.
func (a *Adapter) pathPackages(f *snapshot.Files, m *composer.Manifest) []*composer.Manifest {
	var list []*composer.Manifest
	for _, repo := range m.Repositories {
		for _, dir := range expand(f, m.Dir(), repo.URL) {
			p, err := a.manifests.Read(f, filepath.Join(dir, manifestFile))
			if err == nil && p.Name != "" {
				list = append(list, p)
			}
		}
	}
	return list
}

// expand returns the directories of a path repository's url, which may be a pattern of
// glob(3) with braces.
func expand(f *snapshot.Files, base, url string) []string {
	if !filepath.IsAbs(url) {
		url = filepath.Join(base, filepath.FromSlash(url))
	}
	if !strings.ContainsAny(url, "*?[{") {
		return []string{url}
	}
	dirs := []string{"/"}
	for segment := range strings.SplitSeq(strings.Trim(filepath.ToSlash(url), "/"), "/") {
		var next []string
		for _, dir := range dirs {
			next = append(next, step(f, dir, segment)...)
		}
		dirs = next[:min(len(next), maxPathPackages)]
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// step returns the directories in dir that match one segment of a pattern.
func step(f *snapshot.Files, dir, segment string) []string {
	if !strings.ContainsAny(segment, "*?[{") {
		return []string{filepath.Join(dir, segment)}
	}
	patterns := braces(segment)
	var dirs []string
	for _, e := range f.List(dir) {
		matches := slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := filepath.Match(p, e.Name())
			return ok && err == nil && (e.Name()[0] != '.' || p[0] == '.')
		})
		path := filepath.Join(dir, e.Name())
		if matches && (e.IsDir() || e.Type()&fs.ModeSymlink != 0 && f.IsDir(path)) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

// braces returns the alternatives of a segment with at most one group: "{a,b}*".
func braces(segment string) []string {
	before, rest, open := strings.Cut(segment, "{")
	group, after, closed := strings.Cut(rest, "}")
	if !open || !closed {
		return []string{segment}
	}
	var list []string
	for one := range strings.SplitSeq(group, ",") {
		if p := before + one + after; p != "" {
			list = append(list, p)
		}
	}
	return list
}
