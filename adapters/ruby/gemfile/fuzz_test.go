package gemfile

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// FuzzRead reads the same bytes as a Gemfile, as a gemspec and as a Rakefile. The
// Gemfile may evaluate any of them.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"source 'https://x'\ngem 'a', path: '../a'\ngemspec path: 'b', name: 'c'\nruby '3.1.2', engine: 'jruby', engine_version: '9.4'\n",
		"eval_gemfile 'Gemfile'\neval_gemfile './x.gemspec'\neval_gemfile 'gone'\n", "path '../all' do\n  gem 'a'\n  group :test do gem('b', :path => x) end\nend\n",
		"Gem::Specification.new 'a' do |s|\n s.name = \"b\"\n s.add_development_dependency 'c', '~> 1'\nend\n",
		"require 'bundler/gem_tasks'\ntask default: [:a]\ntask :b => :c do end\nRake::TestTask.new(:t)\nnamespace(:n) { task :d }\nRails.application.load_tasks\n",
		"ruby file: '.ruby-version'\nruby x\ngem\ngem 'a', **y\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{"Gemfile", "x.gemspec", "Rakefile"} {
			adaptertest.Write(t, filepath.Join(dir, name), string(data))
		}
		files := snapshot.NewFiles(dir)
		lines := 1 + strings.Count(string(data), "\n")
		in := func(p Place) {
			if p.Line < 1 || p.Line > lines || filepath.Dir(p.File) != dir {
				t.Errorf("the place %+v in %d lines", p, lines)
			}
		}
		g, err := Read(files, filepath.Join(dir, "Gemfile"))
		checkProblems(t, err, lines)
		if err == nil {
			checkGemfile(t, g, in)
		}
		s, err := ReadGemspec(files, filepath.Join(dir, "x.gemspec"))
		checkProblems(t, err, lines)
		if err == nil {
			for _, d := range s.Dependencies {
				in(d.Place)
			}
		}
		r, _ := ReadRakefile(files)
		for _, name := range r.Tasks {
			if name == "" || name == "default" || !r.Has(name) {
				t.Errorf("the task %q", name)
			}
		}
	})
}

func checkGemfile(t *testing.T, g *File, in func(Place)) {
	t.Helper()
	if len(g.Files) < 1 || len(g.Files) > maxFiles {
		t.Errorf("%d files", len(g.Files))
	}
	for _, gem := range g.Gems {
		in(gem.Place)
		if gem.Name == "" || gem.Path != "" && !filepath.IsAbs(gem.Path) {
			t.Errorf("%+v", gem)
		}
	}
	for _, s := range g.Specs {
		in(s.Place)
		if !filepath.IsAbs(s.Dir) {
			t.Errorf("%+v", s)
		}
	}
	for _, p := range g.Unsure {
		in(p)
	}
	if g.Ruby != nil {
		in(g.Ruby.Place)
	}
}

// checkProblems accepts only errors with a place, and those of a file that is too large or
// missing.
func checkProblems(t *testing.T, err error, lines int) {
	t.Helper()
	var p diagnostics.Problems
	if errors.As(err, &p) && (p[0].Line < 1 || p[0].Line > lines) {
		t.Errorf("%v: no place in %d lines", err, lines)
	}
}
