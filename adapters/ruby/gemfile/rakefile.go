package gemfile

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// Rakefile is the literal part of a Rakefile.
type Rakefile struct {
	Path  string   // absolute
	Tasks []string // at the top level, in order
	// Plain are the tasks among Tasks that "task" declares, and not a library.
	Plain []string
	// Loads reports whether further tasks come from elsewhere, as in Rails.
	Loads bool
}

// ReadRakefile reads the Rakefile in f's directory and returns nil when it is missing. It
// returns an empty one for a malformed file: rake reports it. The error of a file with more
// tasks than adapters.MaxScripts is a diagnostics.Problems.
func ReadRakefile(f *snapshot.Files) (*Rakefile, error) {
	for _, name := range []string{"rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"} {
		data, err := f.Read(name)
		if err != nil {
			continue
		}
		r := &Rakefile{Path: f.Path(name)}
		tokens, err := tokenize(r.Path, data)
		if err != nil {
			return r, nil
		}
		for _, c := range calls(tokens) {
			r.call(c)
		}
		r.Tasks, r.Plain = unique(r.Tasks), unique(r.Plain)
		return r, diagnostics.Bounded(r.Path, 0, "tasks", len(r.Tasks), adapters.MaxScripts)
	}
	return nil, nil
}

// unique returns the names of a list without duplicates, in the order of their first
// occurrence.
func unique(list []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(name string) bool {
		had := seen[name]
		seen[name] = true
		return had
	})
}

func (r *Rakefile) call(c *call) {
	switch {
	case c.name == "load_tasks" || c.name == "import":
		r.Loads = true
	case c.depth > 0:
		// A task inside a namespace, a task or a condition.
	case c.receiver == "" && (c.name == "task" || c.name == "multitask"):
		r.task(c)
	case c.receiver == "" && c.name == "require" && len(c.args) > 0 && c.args[0].text == "bundler/gem_tasks":
		for _, name := range []string{"build", "install", "release"} {
			r.add(name)
		}
	case c.name == "new":
		for suffix, name := range map[string]string{
			"TestTask": "test", "RSpec.Core.RakeTask": "spec", "RuboCop.RakeTask": "rubocop",
		} {
			if strings.HasSuffix(c.receiver, suffix) {
				r.add(named(c, name))
			}
		}
	}
}

// task reads "task :name", "task name: [:others]" and "task :name => :others".
func (r *Rakefile) task(c *call) {
	if len(c.args) > 0 && c.args[0].kind != list {
		for _, name := range c.args[0].strs() {
			r.declare(name)
		}
		return
	}
	if len(c.args) == 0 && len(c.options) == 1 {
		for name := range c.options {
			r.declare(name)
		}
	}
}

// named returns the name that a task library is called with, else its default.
func named(c *call, name string) string {
	if len(c.args) > 0 {
		if s := c.args[0].strs(); len(s) == 1 {
			return s[0]
		}
	}
	return name
}

func (r *Rakefile) add(name string) {
	if name != "default" && name != "" {
		r.Tasks = append(r.Tasks, name)
	}
}

// declare adds a task that the Rakefile itself declares.
func (r *Rakefile) declare(name string) {
	r.add(name)
	if name != "default" && name != "" {
		r.Plain = append(r.Plain, name)
	}
}

// Has reports whether the Rakefile has a task of that name.
func (r *Rakefile) Has(name string) bool { return r != nil && slices.Contains(r.Tasks, name) }
