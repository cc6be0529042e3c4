package foreign

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// moonRepo is a repository of moon. The meaning of its keys is that of
// https://moonrepo.dev/docs/config.
type moonRepo struct {
	*reader
	ids       map[string]string  // ids of projects, and their directories
	inherited []located          // files of tasks that projects inherit
	groups    map[string]located // fileGroups of these
	env       located
}

func (r *reader) moon() {
	m := &moonRepo{reader: r, ids: make(map[string]string), groups: make(map[string]located)}
	m.workspace(r.yaml(".moon/workspace.yml"))
	m.tasksFiles()
	for _, id := range sorted(m.ids) {
		m.project(id, m.ids[id])
	}
}

// workspace finds the projects.
func (m *moonRepo) workspace(doc located) {
	for _, x := range doc.v.Members() {
		p := located{doc.file, x.Value}
		switch x.Name {
		case "$schema", "projects":
		case "vcs":
			m.gap(p, x.Name, "name the base in each run: bento ci --since REF; hooks: bento init --hooks pre-commit")
		default:
			m.gap(p, x.Name, "bento has no such key")
		}
	}
	projects := doc.get("projects")
	if projects.v.Kind() == jsonfile.Object {
		m.sources(projects, "")
		for _, g := range m.strings(projects.get("globs"), "projects.globs") {
			m.match(g)
		}
		m.sources(projects.get("sources"), "sources.")
	} else {
		for _, g := range m.strings(projects, "projects") {
			m.match(g)
		}
	}
	for _, file := range m.src.Paths {
		if dir := path.Dir(file); path.Base(file) == "moon.yml" && !m.known(dir) {
			m.ids[m.nameOf(dir)] = dir
		}
	}
}

func (m *moonRepo) known(dir string) bool {
	for _, d := range m.ids {
		if d == dir {
			return true
		}
	}
	return false
}

func (m *moonRepo) sources(p located, prefix string) {
	for _, x := range p.v.Members() {
		if x.Name == "globs" || x.Name == "sources" {
			continue
		}
		dir := path.Clean(x.Value.Text())
		if mode, err := m.src.Files.Mode(dir); err != nil || !mode.IsDir() || x.Value.Text() == "" {
			m.gap(located{p.file, x.Value}, "projects."+prefix+x.Name, "%q is no directory", x.Value.Text())
			continue
		}
		m.ids[x.Name] = dir
	}
}

// match adds the dishes, and the directories with a moon.yml, that a glob matches.
func (m *moonRepo) match(p located) {
	set, err := glob.Compile("", []string{strings.TrimSuffix(p.v.Text(), "/")})
	if err != nil {
		m.gap(p, "projects", "%v", err)
		return
	}
	for _, d := range m.src.Dishes {
		if set.Match(d.Path) {
			m.ids[d.Name] = d.Path
		}
	}
	for _, file := range m.src.Paths {
		if dir := path.Dir(file); path.Base(file) == "moon.yml" && set.Match(dir) {
			m.ids[m.nameOf(dir)] = dir
		}
	}
}

// maxInherited is the largest number of files with inherited tasks.
const maxInherited = 200

func (m *moonRepo) tasksFiles() {
	names := []string{".moon/tasks.yml"}
	entries, _ := m.src.Files.List(".moon/tasks")
	for _, e := range entries[:min(len(entries), maxInherited)] {
		if strings.HasSuffix(e.Name(), ".yml") {
			names = append(names, ".moon/tasks/"+e.Name())
		}
	}
	for _, name := range names {
		doc := m.yaml(name)
		if doc.v == nil {
			continue
		}
		m.inherited = append(m.inherited, doc)
		for _, x := range doc.get("fileGroups").v.Members() {
			m.groups[x.Name] = located{name, x.Value}
		}
		for _, x := range doc.v.Members() {
			switch x.Name {
			case "$schema", "extends", "fileGroups", "tasks", "implicitInputs", "implicitDeps", "inheritedBy":
			default:
				m.gap(located{name, x.Value}, x.Name, "bento has no such key")
			}
			if slices.Contains([]string{"extends", "implicitInputs", "implicitDeps", "inheritedBy"}, x.Name) {
				m.gap(located{name, x.Value}, x.Name, "tasks are mapped as they stand in this file; add it to each dish.toml")
			}
		}
	}
}

// applies reports whether a project inherits the tasks of a file: .moon/tasks/node.yml is for the
// projects of that language.
func (m *moonRepo) applies(file, language string, dish *Dish) bool {
	name := strings.TrimSuffix(path.Base(file), ".yml")
	if name == "tasks" || name == "all" || name == language {
		return true
	}
	ids := map[string][]string{
		"node": {"node-npm", "node-pnpm", "node-yarn"}, "javascript": {"node-npm", "node-pnpm", "node-yarn", "bun", "deno"}, "typescript": {"node-npm", "node-pnpm", "node-yarn", "bun", "deno"},
		"rust": {"cargo"}, "python": {"python", "python-uv"},
	}[name]
	return dish != nil && slices.ContainsFunc(dish.Languages, func(id string) bool { return id == name || slices.Contains(ids, id) })
}

func (m *moonRepo) project(id, dir string) {
	doc := m.yaml(path.Join(dir, "moon.yml"))
	language := doc.v.Get("language").Text()
	groups := make(map[string]located, len(m.groups))
	for name, p := range m.groups {
		groups[name] = p
	}
	for _, x := range doc.get("fileGroups").v.Members() {
		groups[x.Name] = located{doc.file, x.Value}
	}
	m.projectKeys(dir, doc)
	m.env = doc.get("env")
	tasks := make(map[string]located)
	for _, file := range m.inherited {
		if !m.applies(file.file, language, m.dishes[dir]) {
			continue
		}
		for _, x := range file.get("tasks").v.Members() {
			tasks[x.Name] = located{file.file, x.Value}
		}
	}
	own := doc.get("tasks")
	for _, x := range own.v.Members() {
		if base, inherits := tasks[x.Name]; inherits && x.Value.Get("command") == nil && x.Value.Get("script") == nil {
			m.gap(located{doc.file, x.Value}, x.Name, "it changes the task of %s:%d, which is mapped as it stands there", base.file, base.v.Line())
			continue
		}
		tasks[x.Name] = located{doc.file, x.Value}
	}
	for _, name := range m.order(tasks) {
		m.task(dir, id, name, tasks, groups)
	}
}

// order returns the names of tasks, dependencies first.
func (m *moonRepo) order(tasks map[string]located) (names []string) {
	seen := make(map[string]bool)
	var visit func(name string)
	visit = func(name string) {
		p, ok := tasks[name]
		if seen[name] || !ok {
			return
		}
		seen[name] = true
		for _, d := range p.get("deps").v.Items() {
			visit(strings.TrimPrefix(d.Text(), "~:"))
		}
		names = append(names, name)
	}
	for _, name := range sorted(tasks) {
		visit(name)
	}
	return names
}

func (m *moonRepo) projectKeys(dir string, doc located) {
	for _, x := range doc.v.Members() {
		p := located{doc.file, x.Value}
		switch x.Name {
		case "$schema", "language", "tasks", "fileGroups", "env", "layer", "type", "stack", "project", "tags", "id":
		case "dependsOn":
			m.links(dir, p)
		default:
			m.gap(p, x.Name, "bento has no such key")
		}
	}
}

// links maps dependsOn of a project.
func (m *moonRepo) links(dir string, p located) {
	for _, v := range p.v.Items() {
		id := v.Text()
		if id == "" {
			id = v.Get("id").Text()
		}
		to, known := m.ids[id]
		if !known {
			m.gap(located{p.file, v}, "dependsOn", "no dish is the project %q", id)
			continue
		}
		if t := m.table(dir); to != dir && !slices.Contains(t.DependsOn, m.nameOf(to)) {
			t.DependsOn = append(t.DependsOn, m.nameOf(to))
		}
	}
}

// task maps one task of a project.
func (m *moonRepo) task(dir, id, name string, tasks, groups map[string]located) {
	p := tasks[name]
	if !m.is(p, "tasks."+name, jsonfile.Object) {
		return
	}
	task := &Task{Name: name, From: name, at: p, Run: m.command(p)}
	if text := task.Run; text == "" || text == "noop" || strings.Contains(text, "$project") || strings.Contains(text, "@") && strings.Contains(text, "(") {
		m.gap(p, name, "the command is %q, expected one without tokens of moon", note(text))
		return
	}
	set := fileSet{all: p.v.Get("inputs") == nil}
	for _, x := range p.v.Members() {
		v := located{p.file, x.Value}
		switch x.Name {
		case "command", "args", "script", "env":
		case "description":
			task.Note = note(x.Value.Text())
		case "deps":
			task.DependsOn = m.deps(dir, v, tasks)
		case "inputs":
			for _, g := range m.strings(v, "inputs") {
				m.input(task, dir, g, groups, &set)
			}
		case "outputs":
			for _, g := range m.strings(v, "outputs") {
				if text, ok := moonGlob(dir, g.v.Text()); ok {
					task.output(text)
				} else {
					m.gap(g, "outputs", "%q is no path in the workspace", g.v.Text())
				}
			}
		case "options":
			m.options(task, dir, v)
		case "preset":
			task.Persistent = x.Value.Text() == "server" || x.Value.Text() == "watcher"
		case "local":
			local, _ := m.flag(v, "local")
			task.Persistent = task.Persistent || local
		default:
			m.gap(v, name+"."+x.Name, "bento has no such key")
		}
	}
	task.Inputs = set.list()
	m.setEnv(task, p.get("env"))
	if task.Persistent || task.Interactive {
		task.Cache = nil
	}
	task.Persistent = task.Persistent && !task.Interactive
	m.add(dir, task)
}

func (m *moonRepo) setEnv(task *Task, own located) {
	for _, env := range []located{m.env, own} {
		for _, x := range env.v.Members() {
			if task.SetEnv == nil {
				task.SetEnv = make(map[string]string)
			}
			task.SetEnv[x.Name] = x.Value.Text()
		}
	}
	if len(task.SetEnv) > 0 && len(task.Env) > 0 {
		m.gap(task.at, "inputs", "a task sets variables or names them; %s stay out of the key, so the task is not stored", strings.Join(task.Env, ", "))
		task.Cache = ptr(false)
		task.PassEnv, task.Env = append(task.PassEnv, task.Env...), nil
	}
}

// command returns the command line of a task.
func (m *moonRepo) command(p located) string {
	if text := p.v.Get("script").Text(); text != "" {
		return text
	}
	var words []string
	for _, key := range []string{"command", "args"} {
		for _, w := range m.strings(p.get(key), key) {
			if p.v.Get(key).Kind() == jsonfile.Array {
				words = append(words, shellWord(w.v.Text()))
			} else {
				words = append(words, w.v.Text())
			}
		}
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for sh.
func shellWord(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`&|;<>()*?[]{}~#!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (m *moonRepo) deps(dir string, p located, tasks map[string]located) (list []string) {
	for _, v := range p.v.Items() {
		at, text := located{p.file, v}, v.Text()
		if text == "" {
			text = v.Get("target").Text()
		}
		project, name, _ := strings.Cut(text, ":")
		to, known := m.ids[project]
		switch {
		case project == "^":
			list = append(list, "^"+name)
		case project == "~" && (tasks[name].v != nil || m.has(dir, name)):
			list = append(list, name)
		case name == "" && (tasks[project].v != nil || m.has(dir, project)):
			list = append(list, project)
		case known && to == dir:
			list = append(list, name)
		case known && name != "":
			list = append(list, m.nameOf(to)+":"+name)
		default:
			m.gap(at, "deps", "no task of a dish is %q", text)
		}
	}
	return list
}

// input adds one input: a glob, a variable, or a token that names a group of files.
func (m *moonRepo) input(task *Task, dir string, p located, groups map[string]located, set *fileSet) {
	text := p.v.Text()
	if name, ok := strings.CutPrefix(text, "$"); ok && !strings.Contains(name, "/") {
		task.Env = append(task.Env, strings.TrimSuffix(name, "?"))
		return
	}
	if at, name, ok := strings.Cut(strings.TrimSuffix(text, ")"), "("); ok && slices.Contains([]string{"@group", "@globs", "@files", "@dirs"}, at) {
		group, known := groups[name]
		if !known {
			m.gap(p, "inputs", "no file group is %q", name)
		}
		for _, g := range m.strings(group, name) {
			if strings.HasPrefix(g.v.Text(), "@") {
				m.gap(g, name, "%q stands in a group", g.v.Text())
				continue
			}
			m.input(task, dir, g, nil, set)
		}
		return
	}
	if text == "**/*" {
		set.all = true
	} else if glob, ok := moonGlob(dir, text); ok {
		set.add(glob)
	} else {
		m.gap(p, "inputs", "%q is no path in the workspace", text)
	}
}

// moonGlob returns a glob of moon in bento's form.
func moonGlob(dir, text string) (string, bool) {
	not := ""
	if rest, negated := strings.CutPrefix(text, "!"); negated {
		not, text = "!", rest
	}
	for _, scheme := range []string{"glob://", "file://"} {
		text = strings.TrimPrefix(text, scheme)
	}
	text = strings.TrimPrefix(text, "$projectRoot/")
	if rest, ok := strings.CutPrefix(text, "$workspaceRoot"); ok {
		text = "/" + strings.TrimLeft(rest, "/")
	}
	if strings.HasPrefix(text, "/") {
		text = "//" + strings.TrimLeft(text, "/")
	}
	if strings.ContainsAny(text, "$@") || strings.Contains(text, "://") {
		return "", false
	}
	return anchor(dir, not+text)
}

// options maps the options of a task.
func (m *moonRepo) options(task *Task, dir string, p located) {
	for _, x := range p.v.Members() {
		v := located{p.file, x.Value}
		on := x.Value.Text() == "true"
		switch x.Name {
		case "cache":
			if x.Value.Text() == "false" {
				task.Cache = ptr(false)
			}
		case "persistent":
			task.Persistent = on
		case "interactive":
			task.Interactive = on
		case "runInCI":
			task.CI = on && !isLifecycle(task.Name)
		case "runFromWorkspaceRoot":
			if on && dir != "." {
				task.Cwd = strings.TrimSuffix(strings.Repeat("../", strings.Count(dir, "/")+1), "/")
			}
		case "retryCount":
			if n, err := strconv.Atoi(x.Value.Text()); err == nil {
				task.Retry = n
			}
		case "timeout":
			if n, err := strconv.Atoi(x.Value.Text()); err == nil && n > 0 {
				task.Timeout = strconv.Itoa(n) + "s"
			}
		case "mutex":
			task.Mutex = x.Value.Text()
		case "envFile":
			m.envFiles(task, v)
		default:
			m.gap(v, "options."+x.Name, "bento has no such key")
		}
	}
}

func (m *moonRepo) envFiles(task *Task, v located) {
	if v.v.Text() == "true" {
		task.EnvFiles = append(task.EnvFiles, ".env")
		return
	}
	for _, f := range m.strings(v, "envFile") {
		if text := f.v.Text(); text != "false" {
			task.EnvFiles = append(task.EnvFiles, text)
		}
	}
}
