package gemfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// maxFiles is how many files one Gemfile may evaluate.
const maxFiles = 50

// File is a parsed Gemfile (https://bundler.io/man/gemfile.5.html), with the files that it
// evaluates.
type File struct {
	Path  string   // absolute
	Files []string // absolute, the Gemfile and those that it evaluates
	Gems  []Gem
	Specs []Spec // the gemspecs whose dependencies it adds
	Ruby  *Ruby  // the required version of Ruby, or nil
	// Unsure are the places of values that the program computes.
	Unsure []Place
}

// Gem is a dependency.
type Gem struct {
	Name  string
	Path  string // absolute, of its directory on disk, or ""
	Dev   bool   // only in groups of development
	Place Place
}

// Spec is a gemspec directive.
type Spec struct {
	Dir   string // absolute
	Name  string // "" for the only one
	Place Place
}

// Ruby is a required version.
type Ruby struct {
	Requirement string // "3.1.2", "~> 3.1.0, >= 3.1.2"
	Engine      string // "" for ruby itself
	From        string // absolute, the file that holds the version, "" for the Gemfile itself
	Place       Place
}

// Place is a file and line.
type Place struct {
	File string // absolute
	Line int    // 1-based
	What string // of Unsure: its subject
}

// Read reads a Gemfile. The error of a malformed one is a diagnostics.Problems.
func Read(f *snapshot.Files, path string) (*File, error) {
	r := &reader{files: f, out: &File{Path: f.Path(path)}}
	if err := r.file(r.out.Path); err != nil {
		return nil, err
	}
	return r.out, nil
}

// reader collects the statements of a Gemfile and of the files that it evaluates.
type reader struct {
	files *snapshot.Files
	out   *File
}

func (r *reader) file(path string) error {
	r.out.Files = append(r.out.Files, path)
	data, err := r.files.Read(path)
	if err != nil {
		return err
	}
	tokens, err := tokenize(path, data)
	if err != nil {
		return err
	}
	for _, c := range calls(tokens) {
		if err := r.call(path, c); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) call(path string, c *call) error {
	if c.receiver != "" || c.assigned {
		return nil
	}
	at := Place{File: path, Line: c.line}
	switch c.name {
	case "gem":
		r.gem(at, c)
	case "gemspec":
		dir, _ := c.option("path")
		name, _ := c.option("name")
		r.out.Specs = append(r.out.Specs, Spec{Dir: r.path(dir), Name: name, Place: at})
	case "ruby":
		r.ruby(at, c)
	case "eval_gemfile":
		return r.eval(at, c)
	}
	return nil
}

// path returns the absolute path of a name. Bundler takes it relative to the first Gemfile,
// whichever file holds it.
func (r *reader) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(filepath.Dir(r.out.Path), filepath.FromSlash(name))
}

func (r *reader) unsure(at Place, what string) {
	at.What = what
	r.out.Unsure = append(r.out.Unsure, at)
}

func (r *reader) gem(at Place, c *call) {
	if len(c.args) == 0 {
		return
	}
	name, ok := c.args[0].str()
	if !ok || name == "" {
		r.unsure(at, "the name of a gem")
		return
	}
	g := Gem{Name: name, Place: at, Dev: isDev(c)}
	path, dynamic := c.option("path")
	for b := range c.outer {
		if path != "" || dynamic || b.name != "path" {
			continue
		}
		if len(b.args) > 0 {
			path, ok = b.args[0].str()
			dynamic = !ok
		}
	}
	if dynamic {
		r.unsure(at, fmt.Sprintf("the path of the gem %q", name))
	} else if path != "" {
		g.Path = r.path(path)
	}
	r.out.Gems = append(r.out.Gems, g)
}

// isDev reports whether all groups of a gem are for development.
func isDev(c *call) bool {
	var groups []string
	for b := range c.outer {
		if b.name == "group" {
			for _, v := range b.args {
				groups = append(groups, v.strs()...)
			}
		}
	}
	for _, name := range []string{"group", "groups"} {
		groups = append(groups, c.options[name].strs()...)
	}
	return len(groups) > 0 && !slices.ContainsFunc(groups, func(name string) bool {
		return !slices.Contains([]string{"development", "dev", "test", "tests", "lint", "ci", "doc", "docs", "tools"}, name)
	})
}

func (r *reader) ruby(at Place, c *call) {
	v := &Ruby{Place: at}
	if from, dynamic := c.option("file"); dynamic {
		r.unsure(at, "the file with the version of Ruby")
		return
	} else if from != "" {
		v.From = r.path(from)
		r.out.Ruby = v
		return
	}
	var parts []string
	for _, arg := range c.args {
		if s := arg.strs(); len(s) > 0 && arg.kind != symbol {
			parts = append(parts, s...)
		} else {
			r.unsure(at, "the version of Ruby")
			return
		}
	}
	v.Requirement = strings.Join(parts, ", ")
	v.Engine, _ = c.option("engine")
	if engine := c.options["engine"]; engine.kind == symbol {
		v.Engine = engine.text
	}
	if version, _ := c.option("engine_version"); v.Engine != "" && v.Engine != "ruby" {
		v.Requirement = version
	}
	if v.Requirement != "" {
		r.out.Ruby = v
	}
}

func (r *reader) eval(at Place, c *call) error {
	if len(c.args) == 0 {
		return nil
	}
	name, ok := c.args[0].str()
	if !ok {
		r.unsure(at, "the file that is evaluated")
		return nil
	}
	path := name
	if !filepath.IsAbs(path) { // this path is relative to the file that holds it
		path = filepath.Join(filepath.Dir(at.File), filepath.FromSlash(name))
	}
	if slices.Contains(r.out.Files, path) || len(r.out.Files) >= maxFiles {
		return nil
	}
	err := r.file(r.files.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return diagnostics.Problems{diagnostics.Pos{File: at.File, Line: at.Line}.Error(RuleSyntax, "the evaluated file %q does not exist", name)}
	}
	return err
}
