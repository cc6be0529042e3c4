package gemfile

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters/snapshot"
)

// Gemspec is a parsed gemspec (https://guides.rubygems.org/specification-reference/).
type Gemspec struct {
	Path         string // absolute
	Name         string // that of the file by default
	Dependencies []Gem
}

// ReadGemspec reads a gemspec. The error of a malformed one is a diagnostics.Problems.
func ReadGemspec(f *snapshot.Files, path string) (*Gemspec, error) {
	path = f.Path(path)
	data, err := f.Read(path)
	if err != nil {
		return nil, err
	}
	tokens, err := tokenize(path, data)
	if err != nil {
		return nil, err
	}
	s := &Gemspec{Path: path, Name: strings.TrimSuffix(filepath.Base(path), ".gemspec")}
	for _, c := range calls(tokens) {
		s.call(c)
	}
	return s, nil
}

func (s *Gemspec) call(c *call) {
	if c.receiver == "" || len(c.args) == 0 {
		return
	}
	first, ok := c.args[0].str()
	switch {
	case !ok || first == "":
	case c.name == "name" && c.assigned:
		s.Name = first
	case c.name == "new" && strings.HasSuffix(c.receiver, "Gem.Specification"):
		s.Name = first
	case c.name == "add_dependency" || c.name == "add_runtime_dependency":
		s.Dependencies = append(s.Dependencies, Gem{Name: first, Place: Place{File: s.Path, Line: c.line}})
	case c.name == "add_development_dependency":
		s.Dependencies = append(s.Dependencies, Gem{Name: first, Dev: true, Place: Place{File: s.Path, Line: c.line}})
	}
}
