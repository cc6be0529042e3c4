package gemfile

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Rakefile is what a Rakefile plainly says.
type Rakefile struct {
	Path  string   // absolute
	Tasks []string // at its top, in their order
	// Loads tells that further tasks come from elsewhere, as in Rails.
	Loads bool
}

// ReadRakefile reads the Rakefile in f's directory, nil when there is none. One that
// is no Ruby says nothing: rake will complain.
func ReadRakefile(f *adapters.Files) *Rakefile {
	for _, name := range []string{"rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"} {
		data, err := f.Read(name)
		if err != nil {
			continue
		}
		r := &Rakefile{Path: f.Path(name)}
		tokens, err := tokenize(r.Path, data)
		if err != nil {
			return r
		}
		for _, c := range calls(tokens) {
			r.call(c)
		}
		return r
	}
	return nil
}

func (r *Rakefile) call(c *call) {
	switch {
	case c.name == "load_tasks" || c.name == "import":
		r.Loads = true
	case c.depth > 0:
		// In a namespace, a task or a condition.
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

// task takes "task :name", "task name: [:others]" and "task :name => :others".
func (r *Rakefile) task(c *call) {
	if len(c.args) > 0 && c.args[0].kind != list {
		for _, name := range c.args[0].strs() {
			r.add(name)
		}
		return
	}
	if len(c.args) == 0 && len(c.options) == 1 {
		for name := range c.options {
			r.add(name)
		}
	}
}

// named gives the name that a library of tasks is asked for, else its own.
func named(c *call, name string) string {
	if len(c.args) > 0 {
		if s := c.args[0].strs(); len(s) == 1 {
			return s[0]
		}
	}
	return name
}

func (r *Rakefile) add(name string) {
	if name != "default" && name != "" && !slices.Contains(r.Tasks, name) {
		r.Tasks = append(r.Tasks, name)
	}
}

// Has tells whether there is a task of that name.
func (r *Rakefile) Has(name string) bool { return r != nil && slices.Contains(r.Tasks, name) }
