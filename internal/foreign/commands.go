package foreign

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
)

// Make, just and Task run the dependencies of their targets themselves: a task is the call of the
// tool, without depends_on.

// target is one entry of a Makefile or a justfile.
type target struct {
	name   string
	line   int
	note   string
	params bool
	body   []string
}

// callsBento matches a line that runs bento, which would run the task again.
var callsBento = pattern.New(`(^|[\s;&|(@])bento\s+(run|build|check|lint|test|ci|watch)\b`)

// call maps a target of the root to a task that calls the tool.
func (r *reader) call(file, name string, t target, command string) {
	if slices.ContainsFunc(t.body, callsBento.MatchString) {
		r.lineGap(file, t.line, t.name, "it runs bento itself")
		return
	}
	if t.params {
		r.lineGap(file, t.line, t.name, "it requires arguments; a task has none unless bento run NAME -- ARGS names it")
		return
	}
	p := lineOf(file, t.line)
	task := &Task{Name: name, From: t.name, at: p, Note: t.note, Run: command + " " + shellWord(t.name)}
	if !slices.Contains([]string{"check", "lint", "test"}, name) {
		task.Cache = ptr(false) // bento does not know its outputs
	}
	r.add(".", task)
}

// justHead matches the head of a recipe: attributes are on separate lines.
var (
	justHead    = pattern.New(`^@?([A-Za-z_][A-Za-z0-9_-]*)((?:\s+[^:]*?)?)\s*:(?:[^=]|$)`)
	justSetting = pattern.New(`^(set|export|alias|import\??|mod\??|unexport)\s`)
)

// just reads a justfile. https://just.systems/man/en/grammar.html
func (r *reader) just() {
	file := r.top
	var private bool
	var comment string
	var list []*target
	for i, line := range strings.Split(string(r.bytes(file)), "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.TrimSpace(line) == "":
			comment = ""
		case line[0] == ' ' || line[0] == '\t':
			if len(list) > 0 {
				list[len(list)-1].body = append(list[len(list)-1].body, strings.TrimSpace(line))
			}
		case line[0] == '#':
			comment = note(strings.TrimLeft(line, "# !"))
		case line[0] == '[':
			private = private || strings.Contains(line, "private")
		case justSetting.MatchString(line) || strings.Contains(strings.SplitN(line, ":", 2)[0], "'") && !justHead.MatchString(line):
			r.justSetting(file, i+1, line)
		default:
			if m := justHead.FindStringSubmatch(line); m != nil {
				t := &target{name: m[1], line: i + 1, note: comment, params: required(m[2])}
				if !private && m[1][0] != '_' {
					list = append(list, t)
				} else {
					r.lineGap(file, i+1, m[1], "it is private")
				}
			}
			private, comment = false, ""
		}
	}
	for _, t := range list {
		r.call(file, t.name, *t, "just")
	}
}

func (r *reader) justSetting(file string, line int, text string) {
	words := strings.Fields(text)
	if kind := strings.TrimSuffix(words[0], "?"); kind == "alias" || kind == "import" || kind == "mod" {
		r.lineGap(file, line, note(text), "only the recipes of "+file+" itself are mapped, by their own names")
	}
}

// required reports whether one of the parameters of a recipe has no default.
func required(params string) bool {
	return slices.ContainsFunc(strings.Fields(params), func(p string) bool {
		return !strings.ContainsAny(p, "='\"") && !strings.HasPrefix(p, "*")
	})
}

// The lines of a Makefile that matter.
var (
	makePhony  = pattern.New(`^\.PHONY\s*:(.*)$`)
	makeTarget = pattern.New(`^([A-Za-z0-9][A-Za-z0-9_.-]*)\s*::?(?:[^=:]|$)`)
)

// makefile maps the targets of a Makefile that are phony, or that have the name of a lifecycle task.
// https://www.gnu.org/software/make/manual/html_node/Phony-Targets.html
func (r *reader) makefile() {
	file := r.top
	lines := joined(string(r.bytes(file)))
	phony := make(map[string]bool)
	for _, line := range lines {
		if m := makePhony.FindStringSubmatch(line); m != nil {
			for _, name := range strings.Fields(m[1]) {
				phony[name] = true
			}
		}
	}
	var list []*target
	comment := ""
	for i, line := range lines {
		m := makeTarget.FindStringSubmatch(line)
		switch {
		case m != nil:
			list = append(list, &target{name: m[1], line: i + 1, note: comment})
			_, help, _ := strings.Cut(line, "##")
			if help = note(help); help != "" {
				list[len(list)-1].note = help
			}
		case strings.HasPrefix(line, "\t") && len(list) > 0:
			list[len(list)-1].body = append(list[len(list)-1].body, strings.TrimSpace(line))
		case strings.HasPrefix(line, "include ") || strings.HasPrefix(line, "-include "):
			r.lineGap(file, i+1, note(line), "only the targets of "+file+" itself are mapped")
		}
		comment = ""
		if strings.HasPrefix(line, "#") {
			comment = note(strings.TrimLeft(line, "# "))
		}
	}
	r.makeTargets(file, list, phony)
}

func (r *reader) makeTargets(file string, list []*target, phony map[string]bool) {
	named := func(name string) bool {
		return slices.ContainsFunc(list, func(t *target) bool { return t.name == name })
	}
	seen := make(map[string]bool)
	files := 0
	for _, t := range list {
		name := t.name
		if name == "all" && !named("build") {
			name = "build"
		}
		switch {
		case seen[t.name]:
		case phony[t.name] || isLifecycle(name):
			r.call(file, name, *t, "make")
		default:
			if files++; files == 1 {
				r.lineGap(file, t.line, t.name, "targets that are files are made by those that need them; .PHONY makes one a task")
			}
		}
		seen[t.name] = true
	}
}

// joined returns lines with those that end in a backslash joined to the next. The number of lines
// stays the same.
func joined(text string) []string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 2; i >= 0; i-- {
		line := strings.TrimSuffix(lines[i], "\r")
		if rest, ok := strings.CutSuffix(line, "\\"); ok && !strings.HasPrefix(line, "\t") {
			lines[i], lines[i+1] = rest+" "+strings.TrimSpace(lines[i+1]), ""
		} else {
			lines[i] = line
		}
	}
	return lines
}

// taskfile reads a Taskfile. https://taskfile.dev/reference/schema
func (r *reader) taskfile() {
	doc := r.yaml(r.top)
	for _, m := range doc.v.Members() {
		p := located{doc.file, m.Value}
		switch m.Name {
		case "version", "tasks", "output", "silent", "vars", "env", "dotenv", "set", "shopt", "interval", "run", "method":
		case "includes":
			r.gap(p, m.Name, "only the tasks of %s itself are mapped", doc.file)
		default:
			r.gap(p, m.Name, "bento has no such key")
		}
	}
	for _, m := range doc.v.Get("tasks").Members() {
		r.taskOf(located{doc.file, m.Value}, m.Name)
	}
}

// taskOf maps one task of a Taskfile.
func (r *reader) taskOf(p located, name string) {
	t := target{name: name, line: p.v.Line(), note: note(p.v.Get("desc").Text())}
	internal, _ := r.flag(p.get("internal"), "internal")
	switch {
	case internal:
		r.gap(p, name, "it is internal")
		return
	case strings.ContainsAny(name, "*{"):
		r.gap(p, name, "its name is a pattern")
		return
	case p.v.Get("requires") != nil:
		r.gap(p, name, "it requires variables; a task has no arguments unless bento run NAME -- ARGS names it")
		return
	case slices.ContainsFunc(lines(p), callsBento.MatchString):
		r.gap(p, name, "it runs bento itself")
		return
	}
	task := &Task{Name: name, From: name, at: p, Note: t.note, Run: "task " + shellWord(name)}
	if name == "default" {
		task.Run = "task"
	}
	sources := r.taskFiles(p, task)
	task.Interactive, _ = r.flag(p.get("interactive"), "interactive")
	task.Interactive = task.Interactive || p.v.Get("prompt") != nil
	if watches, _ := r.flag(p.get("watch"), "watch"); watches {
		task.Persistent = !task.Interactive
	}
	if !sources && !slices.Contains([]string{"check", "lint", "test"}, name) && !task.Interactive && !task.Persistent {
		task.Cache = ptr(false) // bento does not know its outputs
	}
	r.add(".", task)
}

// lines returns the commands of a task of a Taskfile.
func lines(p located) (list []string) {
	for _, v := range append(slices.Clone(p.v.Get("cmds").Items()), p.v.Get("cmd"), p.v) {
		list = append(list, v.Text(), v.Get("cmd").Text())
	}
	for _, v := range p.v.Items() {
		list = append(list, v.Text())
	}
	return list
}

// taskFiles maps sources and generates. It reports whether they are all files that the task reads: a
// task that it calls has its own files.
func (r *reader) taskFiles(p located, task *Task) bool {
	sources := p.get("sources")
	if sources.v == nil {
		return false
	}
	if v := p.v.Get("deps"); len(v.Items()) > 0 || slices.ContainsFunc(p.v.Get("cmds").Items(), callsTask) {
		r.gap(sources, "sources", "it calls other tasks, which read files of their own")
		return false
	}
	dir := p.v.Get("dir").Text()
	set := fileSet{}
	set.add(path.Base(r.top))
	for _, key := range []string{"sources", "generates"} {
		for _, v := range p.v.Get(key).Items() {
			at, text := located{p.file, v}, v.Text()
			if v.Get("exclude") != nil {
				text = "!" + v.Get("exclude").Text()
			}
			glob, ok := anchor(".", underDir(dir, text))
			switch {
			case !ok || strings.Contains(text, "{{") || strings.Contains(dir, "{{"):
				r.gap(at, key, "%q is no path that is known before the task runs", text)
				return false
			case key == "sources":
				set.add(strings.Replace(glob, "//", "", 1))
			default:
				task.output(strings.Replace(glob, "//", "", 1))
			}
		}
	}
	task.Inputs = set.list()
	return true
}

func underDir(dir, text string) string {
	if rest, negated := strings.CutPrefix(text, "!"); negated {
		return "!" + path.Join(dir, rest)
	}
	return path.Join(dir, text)
}

func callsTask(v *jsonfile.Value) bool { return v.Get("task") != nil }
