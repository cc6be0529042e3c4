package foreign

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
)

// nxRepo is a repository of Nx. The meaning of its keys is that of
// https://nx.dev/reference/project-configuration.
type nxRepo struct {
	*reader
	top      located
	projects []nxProject
	byName   map[string]string // names of projects, and their directories
}

// nxProject is a directory with a project.json, or a package with settings for Nx.
type nxProject struct {
	dir, name string
	docs      []located // the objects that declare it; earlier ones take precedence
}

func (r *reader) nx() {
	top := r.json(r.top)
	if top.v == nil {
		return
	}
	n := &nxRepo{reader: r, top: top, byName: r.packageNames()}
	n.topLevel()
	n.find()
	for _, p := range n.projects {
		n.byName[p.name] = p.dir
	}
	// Commands make tasks, which other targets depend on.
	for _, commands := range []bool{true, false} {
		for _, p := range n.projects {
			n.project(p, commands)
		}
	}
	n.unused()
}

func (n *nxRepo) topLevel() {
	for _, m := range n.top.v.Members() {
		p := located{n.top.file, m.Value}
		switch m.Name {
		case "$schema", "targetDefaults", "namedInputs", "extends", "tui", "installation", "defaultProject", "analytics", "neverConnectToCloud", "useDaemonProcess", "pluginsConfig":
		case "parallel":
			// A number's text is its literal.
			count := 0
			for _, c := range m.Value.Literal() {
				if c < '0' || c > '9' || count > 1000 {
					count = 0
					break
				}
				count = count*10 + int(c-'0')
			}
			n.m.Defaults.Parallelism = count
		case "defaultBase", "affected":
			n.gap(p, m.Name, "name the base in each run: bento ci --since REF")
		case "plugins":
			n.gap(p, m.Name, "tasks that plugins of Nx infer are mapped only if a script or project.json has them")
		case "nxCloudId", "nxCloudAccessToken", "nxCloudUrl", "tasksRunnerOptions":
			n.gap(p, m.Name, "name a server of your own in [cache] remote of bento.toml, such as s3://BUCKET or grpcs://HOST")
		case "cacheDirectory", "maxCacheSize":
			n.gap(p, m.Name, "the cache is that of your own configuration, or of $BENTO_CACHE_DIR")
		case "generators", "release", "sync", "cli", "workspaceLayout", "conformance":
			n.gap(p, m.Name, "bento generates no code and makes no releases")
		default:
			n.gap(p, m.Name, "bento has no such key")
		}
	}
}

// find finds the projects: directories with a project.json, and dishes with a package.json.
func (n *nxRepo) find() {
	dirs := make(map[string]bool)
	for _, file := range n.src.Paths {
		if path.Base(file) == "project.json" {
			dirs[path.Dir(file)] = true
		}
	}
	for _, d := range n.src.Dishes {
		dirs[d.Path] = true
	}
	for _, dir := range sorted(dirs) {
		p := nxProject{dir: dir, name: n.nameOf(dir)}
		if doc := n.json(path.Join(dir, "project.json")); doc.v != nil {
			p.docs = append(p.docs, doc)
			if name := doc.v.Get("name").Text(); name != "" {
				p.name = name
			}
		}
		if n.exists(path.Join(dir, "package.json")) {
			if doc := n.json(path.Join(dir, "package.json")).get("nx"); n.is(doc, "nx", jsonfile.Object) {
				p.docs = append(p.docs, doc)
			}
		}
		n.projects = append(n.projects, p)
	}
}

// project maps the targets of a project that have a command of their own, or the others.
func (n *nxRepo) project(p nxProject, commands bool) {
	targets := make(map[string]located)
	for i := len(p.docs) - 1; i >= 0; i-- {
		list := p.docs[i].get("targets")
		if n.is(list, "targets", jsonfile.Object) {
			for _, m := range list.v.Members() {
				if v := (located{list.file, m.Value}); n.is(v, "targets."+m.Name, jsonfile.Object) {
					targets[m.Name] = v
				}
			}
		}
		if !commands {
			n.implicit(p, p.docs[i].get("implicitDependencies"))
		}
	}
	if d := n.dishes[p.dir]; d != nil && p.dir != "." {
		for _, m := range n.top.v.Get("targetDefaults").Members() {
			if _, own := targets[m.Name]; !own && slices.Contains(d.Tasks, m.Name) {
				targets[m.Name] = located{n.top.file, m.Value}
			}
		}
	}
	for _, name := range sorted(targets) {
		if t := n.target(p, name, targets[name]); t.isCommand() == commands {
			n.task(p, t)
		}
	}
}

// nxTarget is a target with its defaults in nx.json.
type nxTarget struct {
	name string
	at   located
	own  located
	base located
}

func (n *nxRepo) target(p nxProject, name string, own located) nxTarget {
	t := nxTarget{name: name, at: own, own: own}
	defaults := n.top.get("targetDefaults")
	if executor := own.v.Get("executor").Text(); executor != "" && defaults.v.Get(executor) != nil {
		t.base = defaults.get(executor)
	} else if v := defaults.get(name); v.v != own.v {
		t.base = v
	}
	return t
}

func (t nxTarget) get(key ...string) located {
	if p := t.own.get(key...); p.v != nil {
		return p
	}
	return t.base.get(key...)
}

func (t nxTarget) isCommand() bool {
	return t.own.v.Get("command") != nil || t.own.v.Get("executor").Text() == "nx:run-commands"
}

// implicit maps links between projects.
func (n *nxRepo) implicit(p nxProject, list located) {
	for _, on := range n.strings(list, "implicitDependencies") {
		text := on.v.Text()
		dir, known := n.byName[text]
		switch {
		case strings.ContainsAny(text, "!*"):
			n.gap(on, "implicitDependencies", "depends_on names dishes, and takes none away; got %q", text)
		case !known:
			n.gap(on, "implicitDependencies", "no dish is the project %q", text)
		case dir != p.dir:
			if t := n.table(p.dir); !slices.Contains(t.DependsOn, n.nameOf(dir)) {
				t.DependsOn = append(t.DependsOn, n.nameOf(dir))
			}
		}
	}
}

// task maps one target.
func (n *nxRepo) task(p nxProject, t nxTarget) {
	task := &Task{Name: t.name, From: t.name, at: t.at}
	if t.isCommand() {
		if !n.command(p, t, task) {
			return
		}
	} else if d := n.dishes[p.dir]; d == nil || !slices.Contains(d.Tasks, t.name) {
		n.gap(t.at, t.name, "%s has no script of this name, and bento does not run the executor %q", dishName(p.dir), t.own.v.Get("executor").Text())
		return
	}
	n.keys(t)
	for _, g := range n.strings(t.get("outputs"), "outputs") {
		if text, ok := n.glob(p, t, g.v.Text()); ok {
			task.output(text)
		} else {
			n.gap(g, "outputs", "%q is no path that is known before the task runs", g.v.Text())
		}
	}
	n.inputs(p, t, task)
	task.DependsOn = n.depends(p, t)
	task.Persistent, _ = n.flag(t.get("continuous"), "continuous")
	if on, ok := n.flag(t.get("parallelism"), "parallelism"); ok && !on {
		task.Weight = 1024 // all workers
	}
	cached, set := n.flag(t.get("cache"), "cache")
	switch {
	case task.Persistent, task.Cache != nil: // an input is in no key
	case set && !cached, !set && task.Run != "":
		task.Cache = ptr(false)
	case set && !isLifecycle(task.Name) && task.Run == "":
		task.Cache = ptr(true)
	}
	n.add(p.dir, task)
}

// keys adds a gap for each key that bento does not have.
func (n *nxRepo) keys(t nxTarget) {
	for _, doc := range []located{t.own, t.base} {
		for _, m := range doc.v.Members() {
			p := located{doc.file, m.Value}
			switch m.Name {
			case "executor", "command", "dependsOn", "inputs", "outputs", "cache", "continuous", "parallelism", "metadata":
			case "options":
				if !t.isCommand() && t.own.v.Get("executor").Text() != "nx:run-script" {
					n.gap(p, "options", "the script has the options of its command")
				}
			case "configurations", "defaultConfiguration":
				n.gap(p, m.Name, "a task has one command; declare a task for each configuration")
			case "syncGenerators":
				n.gap(p, m.Name, "bento generates no code")
			default:
				n.gap(p, m.Name, "bento has no such key")
			}
		}
	}
}

// command maps the command of a target. Without cwd it runs at the root.
func (n *nxRepo) command(p nxProject, t nxTarget, task *Task) bool {
	var commands []string
	for _, key := range [][]string{{"command"}, {"options", "command"}} {
		if text := t.get(key...).v.Text(); text != "" {
			commands = []string{text}
		}
	}
	list := t.get("options", "commands")
	for _, v := range list.v.Items() {
		text := v.Text()
		if text == "" {
			text = v.Get("command").Text()
		}
		commands = append(commands, text)
	}
	if len(list.v.Items()) > 1 {
		if one, set := n.flag(t.get("options", "parallel"), "parallel"); one || !set {
			n.gap(list, "commands", "they run one after another; a task of its own for each runs beside the others")
		}
	}
	up := strings.Repeat("../", strings.Count(p.dir, "/")+1)
	if p.dir == "." {
		up = "./"
	}
	run := strings.NewReplacer("{projectRoot}", p.dir, "{projectName}", p.name, "{workspaceRoot}", ".").Replace(strings.Join(commands, " && "))
	if run == "" || strings.Contains(run, "{args") {
		n.gap(t.at, t.name, "the command is %q, expected one that is complete", note(run))
		return false
	}
	task.Run = run
	if task.Cwd = path.Join(up, t.get("options", "cwd").v.Text()); task.Cwd == "." || path.Join(p.dir, task.Cwd) == p.dir {
		task.Cwd = ""
	}
	for _, m := range t.get("options", "env").v.Members() {
		if task.SetEnv == nil {
			task.SetEnv = make(map[string]string)
		}
		task.SetEnv[m.Name] = m.Value.Text()
	}
	if file := t.get("options", "envFile").v.Text(); file != "" {
		task.EnvFiles = append(task.EnvFiles, path.Join(up, file))
	}
	return true
}

// glob returns a glob of Nx in bento's form.
func (n *nxRepo) glob(p nxProject, t nxTarget, text string) (string, bool) {
	not := ""
	if rest, negated := strings.CutPrefix(text, "!"); negated {
		not, text = "!", rest
	}
	if rest, ok := strings.CutPrefix(text, "{options."); ok {
		key, tail, _ := strings.Cut(rest, "}")
		value := t.get("options", key).v.Text()
		if value == "" {
			return "", false
		}
		text = "{workspaceRoot}/" + value + tail // options name paths from the root
	}
	text = strings.NewReplacer("{projectName}", p.name).Replace(text)
	if rest, ok := strings.CutPrefix(text, "{projectRoot}"); ok {
		text = strings.TrimPrefix(rest, "/")
	} else if rest, ok := strings.CutPrefix(text, "{workspaceRoot}"); ok {
		text = "//" + strings.TrimLeft(rest, "/")
	} else if !strings.Contains(text, "{") {
		text = "//" + strings.TrimLeft(text, "/")
	}
	if strings.Contains(text, "{project") || strings.Contains(text, "{workspace") || strings.Contains(text, "{options") {
		return "", false
	}
	if rest, ok := strings.CutPrefix(text, "//"+p.dir+"/"); ok {
		text = rest
	}
	return anchor(p.dir, not+text)
}

// depends maps dependsOn.
func (n *nxRepo) depends(p nxProject, t nxTarget) (list []string) {
	on := t.get("dependsOn")
	if on.v.Kind() != 0 && on.v.Kind() != jsonfile.Array {
		n.gap(on, "dependsOn", "the value is %v, expected a list", on.v.Kind())
	}
	for _, v := range on.v.Items() {
		at := located{on.file, v}
		if v.Kind() == jsonfile.Object {
			list = n.dependsObject(p, at, list)
			continue
		}
		list = n.dependsText(p, at, v.Text(), list)
	}
	return list
}

func (n *nxRepo) dependsText(p nxProject, at located, text string, list []string) []string {
	project, name, other := strings.Cut(text, ":")
	_, known := n.byName[project]
	switch {
	case text == "" || strings.Contains(text, "*"):
		n.gap(at, "dependsOn", "depends_on names tasks; got %q", text)
	case strings.HasPrefix(text, "^"):
		if n.someHas(text[1:]) {
			list = append(list, text)
		}
	case n.has(p.dir, text):
		list = append(list, text)
	case other && known:
		list = n.other(at, list, n.byName[project], name)
	}
	return list
}

// dependsObject maps {target, projects, dependencies, params}.
func (n *nxRepo) dependsObject(p nxProject, at located, list []string) []string {
	target := at.v.Get("target").Text()
	if at.v.Get("params") != nil {
		n.gap(at, "dependsOn.params", "arguments are those of bento run TASK -- ARGS, for the named tasks")
	}
	projects := at.get("projects")
	switch {
	case at.v.Get("dependencies").IsTrue() || projects.v.Text() == "dependencies":
		return n.dependsText(p, at, "^"+target, list)
	case projects.v == nil || projects.v.Text() == "self" || projects.v.Text() == "{self}":
		return n.dependsText(p, at, target, list)
	}
	for _, project := range n.strings(projects, "dependsOn.projects") {
		dir, known := n.byName[project.v.Text()]
		if !known {
			n.gap(project, "dependsOn.projects", "no dish is the project %q", project.v.Text())
			continue
		}
		list = n.other(project, list, dir, target)
	}
	return list
}

// unused notes the defaults of targets that no project has.
func (n *nxRepo) unused() {
	for _, m := range n.top.v.Get("targetDefaults").Members() {
		p := located{n.top.file, m.Value}
		if !n.is(p, "targetDefaults."+m.Name, jsonfile.Object) || strings.ContainsAny(m.Name, ":/*") {
			continue
		}
		used := slices.ContainsFunc(n.projects, func(x nxProject) bool {
			return n.has(x.dir, m.Name) || slices.ContainsFunc(x.docs, func(d located) bool { return d.v.Get("targets", m.Name) != nil })
		})
		if !used {
			n.gap(p, m.Name, "no dish has a script, and no project a target, of this name")
		}
	}
}
