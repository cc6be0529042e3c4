package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// inputs maps the inputs of a target. Files of linked dishes are in every key already.
func (n *nxRepo) inputs(p nxProject, t nxTarget, task *Task) {
	list := t.get("inputs")
	if list.v == nil {
		return
	}
	x := nxInputs{nxRepo: n, project: p, target: t, task: task, seen: make(map[string]bool)}
	for _, v := range list.v.Items() {
		x.add(located{list.file, v})
	}
	if len(list.v.Items()) == 0 {
		x.set.all = true
	}
	task.Inputs = x.set.list()
}

// nxInputs is the expansion of one list of inputs.
type nxInputs struct {
	*nxRepo
	project nxProject
	target  nxTarget
	task    *Task
	set     fileSet
	seen    map[string]bool // named inputs that were expanded
}

func (x *nxInputs) add(p located) {
	if p.v.Kind() == jsonfile.Object {
		x.addObject(p)
		return
	}
	text := p.v.Text()
	switch {
	case text == "":
		x.gap(p, "inputs", "the element is %v, expected a string or an object", p.v.Kind())
	case strings.HasPrefix(text, "^"): // of linked dishes
	case !strings.ContainsAny(text, "{}*/!"):
		x.named(p, text)
	case text == "{projectRoot}/**/*" || text == "{projectRoot}/**":
		x.set.all = true
	default:
		if glob, ok := x.glob(x.project, x.target, text); ok {
			x.set.add(glob)
		} else {
			x.gap(p, "inputs", "%q is no path in the workspace", text)
		}
	}
}

// named expands a named input, once.
func (x *nxInputs) named(p located, name string) {
	if x.seen[name] {
		return
	}
	x.seen[name] = true
	list := located{}
	for _, doc := range append(slices.Clone(x.project.docs), x.top) {
		if list = doc.get("namedInputs", name); list.v != nil {
			break
		}
	}
	if list.v == nil {
		if x.set.all = x.set.all || name == "default"; name != "default" {
			x.gap(p, "inputs", "no named input is %q", name)
		}
		return
	}
	for _, v := range list.v.Items() {
		x.add(located{list.file, v})
	}
}

// runtime handles an input that is the output of a command: a task that has one is not stored, unless the
// command prints the version of a tool that is in the key anyway.
func (x *nxInputs) runtime(p located) {
	words := strings.Fields(p.v.Text())
	if len(words) == 2 && slices.Contains([]string{"node", "npm", "pnpm", "yarn", "bun", "deno"}, words[0]) && slices.Contains([]string{"-v", "--version"}, words[1]) {
		x.gap(p, "inputs.runtime", "bento asks each language's own tool for its version; no other command is in a key")
		return
	}
	x.gap(p, "inputs.runtime", "the output of a command is in no key, so the task is not stored")
	x.task.Cache = ptr(false)
}

func (x *nxInputs) addObject(p located) {
	for _, m := range p.v.Members() {
		v := located{p.file, m.Value}
		switch m.Name {
		case "env":
			if name := m.Value.Text(); !slices.Contains(x.task.Env, name) {
				x.task.Env = append(x.task.Env, name)
			}
		case "fileset":
			x.add(v)
		case "input":
			if !p.v.Get("dependencies").IsTrue() && p.v.Get("projects").Text() != "dependencies" {
				x.add(v)
			}
		case "externalDependencies", "dependentTasksOutputFiles", "transitive", "dependencies", "projects":
			// The lockfile, and the tasks that a task depends on, are in its key.
		case "runtime":
			x.runtime(v)
		default:
			x.gap(v, "inputs."+m.Name, "bento has no such input")
		}
	}
	if len(x.task.SetEnv) > 0 && len(x.task.Env) > 0 {
		x.gap(p, "inputs.env", "a task sets variables or names them; %s stay out of the key, so the task is not stored", strings.Join(x.task.Env, ", "))
		x.task.Cache = ptr(false)
		x.task.PassEnv, x.task.Env = append(x.task.PassEnv, x.task.Env...), nil
	}
}
