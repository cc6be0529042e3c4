package gradle

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Links implements adapters.Linker: projects of the same build that a script names,
// included builds, and the builds that make this build's plugins.
func (a *Adapter) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	l := linking{project: p, links: make(map[string]adapters.Link)}
	l.projects()
	l.builds(f)
	answer := adapters.LinksAnswer{Reads: f.Reads()}
	for _, link := range l.links {
		answer.Links = append(answer.Links, link)
	}
	slices.SortFunc(answer.Links, func(x, y adapters.Link) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Dir, y.Dir))
	})
	return answer, nil
}

type linking struct {
	*project
	links map[string]adapters.Link // by directory
}

func (l *linking) add(dir, file string, line int, test bool) {
	if dir == l.dir {
		return
	}
	if old, ok := l.links[dir]; ok {
		old.Dev = old.Dev && test
		l.links[dir] = old
		return
	}
	l.links[dir] = adapters.Link{Dir: dir, File: file, Line: line, Dev: test, Loose: true}
}

// projects adds the projects that the scripts name: any string that is the path of a
// project, or of one of its tasks, is a link.
func (l *linking) projects() {
	if l.settings == nil {
		return
	}
	for _, s := range l.facts.strings {
		if path := l.meant(s.text); path != "" && path != ":" {
			l.add(l.settings.Projects[path].Dir, s.file, s.line, s.test)
		}
	}
	if len(l.facts.accessors) > 0 {
		byName := l.byAccessor()
		for _, s := range l.facts.accessors {
			if path := longest(byName, s.text); path != "" {
				l.add(l.settings.Projects[path].Dir, s.file, s.line, s.test)
			}
		}
	}
	for _, u := range l.facts.unsure {
		for _, path := range l.named() {
			l.add(l.settings.Projects[path].Dir, u.file, u.line, u.test)
		}
	}
	if l.path == ":" && len(l.settings.Unsure) > 0 {
		for _, path := range l.named() {
			l.add(l.settings.Projects[path].Dir, l.settings.Path, l.settings.Projects[path].Line, false)
		}
	}
}

// meant returns the project of ":a:b" or ":a:b:jar", or "".
func (l *linking) meant(text string) string {
	if !strings.HasPrefix(text, ":") || len(text) > 1000 {
		return ""
	}
	for path := text; path != ""; path = path[:max(0, strings.LastIndexByte(path, ':'))] {
		if p, ok := l.settings.Projects[path]; ok && p.Named && path != ":" {
			return path
		}
	}
	return ""
}

// byAccessor returns the projects by their type-safe names: ":my-libs:core" is myLibs.core.
func (l *linking) byAccessor() map[string]string {
	names := make(map[string]string)
	for path, p := range l.settings.Projects {
		if path == ":" || !p.Named {
			continue
		}
		parts := strings.Split(strings.TrimPrefix(path, ":"), ":")
		for i := range parts {
			parts[i] = camel(parts[i])
		}
		names[strings.Join(parts, ".")] = path
	}
	return names
}

func camel(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	for i, w := range words {
		if i > 0 {
			first := []rune(w)
			first[0] = unicode.ToUpper(first[0])
			words[i] = string(first)
		}
	}
	return strings.Join(words, "")
}

// longest returns the project whose name is text or the longest prefix of it.
func longest(names map[string]string, text string) string {
	for text != "" {
		if path, ok := names[text]; ok {
			return path
		}
		text = text[:max(0, strings.LastIndexByte(text, '.'))]
	}
	return ""
}

// builds adds the builds that this one includes: they make its plugins or replace
// downloads.
func (l *linking) builds(f *snapshot.Files) {
	src := filepath.Join(l.root(), "buildSrc")
	if l.dir != src && f.IsDir(src) {
		l.add(src, filepath.Join(l.root(), "buildSrc"), 0, false)
	}
	if l.settings == nil {
		return
	}
	for _, b := range l.settings.Builds {
		if !adapters.Within(b.Text, l.dir) && b.Text != l.root() {
			l.add(b.Text, l.settings.Path, b.Line, false)
		}
	}
}
