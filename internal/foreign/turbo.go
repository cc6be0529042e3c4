package foreign

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
)

// turboTask is a task of turbo.json: its keys, each with its file.
type turboTask struct {
	at   located
	from string
	keys map[string]located
}

// turboRepo is a repository of Turborepo. The meaning of its keys is that of
// https://turborepo.com/docs/reference/configuration.
type turboRepo struct {
	*reader
	generic  map[string]turboTask            // by task
	single   map[string]map[string]turboTask // by package ("//" is the root), then by task
	packages map[string]string               // names of packages, and the paths of their dishes
	env      []located                       // globalEnv
	global   []string                        // globalDependencies, as globs from the root
	built    bool                            // build has outputs: linked builds come first by default
}

func (r *reader) turbo() {
	top := r.json(r.top)
	if top.v == nil {
		return
	}
	t := &turboRepo{reader: r, generic: make(map[string]turboTask), single: make(map[string]map[string]turboTask), packages: r.packageNames()}
	t.topLevel(top)
	for _, key := range []string{"tasks", "pipeline"} {
		t.declare(top, key, "")
	}
	t.built = len(t.generic["build"].keys["outputs"].v.Items()) > 0
	for _, d := range r.src.Dishes {
		if d.Path == "." {
			continue
		}
		if own := r.json(d.Path + "/turbo.json"); own.v != nil {
			t.declare(own, "tasks", d.Path)
			t.declare(own, "pipeline", d.Path)
		}
	}
	t.apply()
}

// packageNames returns the paths of dishes by the names of their packages.
func (r *reader) packageNames() map[string]string {
	names := make(map[string]string, len(r.src.Dishes))
	for _, d := range r.src.Dishes {
		names[d.Name] = d.Path
	}
	for _, d := range r.src.Dishes {
		file := "package.json"
		if d.Path != "." {
			file = d.Path + "/" + file
		}
		if data := r.bytes(file); data != nil {
			if v, err := jsonfile.Parse(file, data); err == nil && v.Get("name").Text() != "" {
				names[v.Get("name").Text()] = d.Path
			}
		}
	}
	return names
}

// topLevel maps the settings of turbo.json.
func (t *turboRepo) topLevel(top located) {
	why := map[string]string{
		"remoteCache": "name the server in [cache] remote of bento.toml, as turborepo+https://HOST?team=TEAM", "cacheDir": "[cache] dir of your own configuration, or $BENTO_CACHE_DIR, is the place of the cache",
		"boundaries": "bento has no rules for links between dishes", "tags": "bento has no tags; bentos/NAME.toml names a selection of dishes",
		"experimentalUI": "bento shows its own",
	}
	for _, m := range top.v.Members() {
		p := located{top.file, m.Value}
		switch m.Name {
		case "$schema", "tasks", "pipeline", "extends", "ui", "daemon", "noUpdateNotifier", "dangerouslyDisablePackageManagerCheck":
		case "globalEnv":
			t.env = t.strings(p, m.Name)
		case "globalPassThroughEnv":
			t.m.Defaults.PassEnv = append(t.m.Defaults.PassEnv, t.passed(p, m.Name)...)
		case "globalDependencies":
			for _, g := range t.strings(p, m.Name) {
				if v, ok := strings.CutPrefix(g.v.Text(), "$"); ok && !strings.Contains(v, "/") {
					t.env = append(t.env, located{g.file, g.v})
				} else if text, ok := turboGlob(".", "$TURBO_ROOT$/"+strings.TrimPrefix(g.v.Text(), "$TURBO_ROOT$/")); ok && !strings.HasPrefix(g.v.Text(), "!") {
					t.global = append(t.global, text)
				} else {
					t.gap(g, m.Name, "%q is no glob of files in the workspace", g.v.Text())
				}
			}
		case "globalDotEnv":
			for _, f := range t.strings(p, m.Name) {
				if text, ok := turboGlob(".", "$TURBO_ROOT$/"+escaped(f.v.Text())); ok {
					t.global = append(t.global, text)
				} else {
					t.gap(f, m.Name, "%q is no path in the workspace", f.v.Text())
				}
			}
		case "envMode":
			t.m.Defaults.InheritEnv = m.Value.Text() == "loose"
		case "concurrency":
			n, err := strconv.Atoi(m.Value.Text())
			if err != nil || n < 1 {
				t.gap(p, m.Name, "[defaults] parallelism is a number of tasks; -j takes %q", m.Value.Text())
				continue
			}
			t.m.Defaults.Parallelism = n
		default:
			reason := why[m.Name]
			if reason == "" {
				reason = "bento has no such key"
			}
			t.gap(p, m.Name, "%s", reason)
		}
	}
}

// declare reads the tasks of a turbo.json; dir is that of its package, "" for the root's.
func (t *turboRepo) declare(doc located, key, dir string) {
	list := doc.get(key)
	if !t.is(list, key, jsonfile.Object) {
		return
	}
	for _, m := range list.v.Members() {
		p := located{doc.file, m.Value}
		if !t.is(p, key+"."+m.Name, jsonfile.Object) {
			continue
		}
		task := turboTask{at: p, from: m.Name, keys: make(map[string]located)}
		for _, k := range m.Value.Members() {
			task.keys[k.Name] = located{doc.file, k.Value}
		}
		pkg, name, single := strings.Cut(m.Name, "#")
		switch {
		case dir != "":
			t.inherit(dir, m.Name, task)
		case single && pkg == "//":
			t.keep("//", name, task)
		case single && t.packages[pkg] == "":
			t.gap(p, m.Name, "no dish has the package %q", pkg)
		case single:
			t.keep(t.packages[pkg], name, task)
		default:
			t.generic[m.Name] = task
		}
	}
}

func (t *turboRepo) keep(dir, name string, task turboTask) {
	if t.single[dir] == nil {
		t.single[dir] = make(map[string]turboTask)
	}
	t.single[dir][name] = task
}

// inherit keeps the task of a package's own turbo.json. It takes missing keys from the root's task,
// and replaces $TURBO_EXTENDS$ in a list by the root's list.
func (t *turboRepo) inherit(dir, name string, task turboTask) {
	base, ok := t.single[dir][name]
	if !ok {
		base = t.generic[name]
	}
	if never, ok := t.flag(task.keys["extends"], "extends"); ok && !never {
		base = turboTask{}
	}
	delete(task.keys, "extends")
	for key, p := range base.keys {
		own, set := task.keys[key]
		if !set {
			task.keys[key] = p
			continue
		}
		for i, item := range own.v.Items() {
			if item.Text() != "$TURBO_EXTENDS$" {
				continue
			}
			v := new(jsonfile.Value)
			v.Start(jsonfile.Array, own.v.Line(), "")
			v.At(own.v.Col())
			v.Fill(nil, slices.Concat(own.v.Items()[:i], p.v.Items(), own.v.Items()[i+1:]))
			task.keys[key] = located{own.file, v}
			break
		}
	}
	t.keep(dir, name, task)
}

// apply maps every declared task to the dishes that have a script of its name.
func (t *turboRepo) apply() {
	used := make(map[string]bool)
	for _, d := range t.src.Dishes {
		tasks, dir := maps.Clone(t.generic), d.Path
		if dir == "." {
			tasks, dir = make(map[string]turboTask), "//"
		}
		maps.Copy(tasks, t.single[dir])
		for _, name := range slices.Sorted(maps.Keys(tasks)) {
			task := tasks[name]
			if !slices.Contains(d.Tasks, name) {
				if _, single := t.single[dir][name]; single {
					t.gap(task.at, task.from, "the dish %s has no script %q", d.Name, name)
				}
				continue
			}
			used[name] = true
			t.task(d, name, task)
		}
		t.globalInputs(d)
	}
	for name, task := range t.generic {
		if !used[name] {
			t.gap(task.at, name, "no dish has a script of this name")
		}
	}
	if _, ok := t.dishes["."]; !ok {
		for name, task := range t.single["//"] {
			t.gap(task.at, "//#"+name, "the root is no dish")
		}
	}
}

// globalInputs adds the files that all tasks read to a dish with recipes.
func (t *turboRepo) globalInputs(d Dish) {
	if len(t.global) > 0 && len(d.Tasks) > 0 {
		t.table(d.Path).Inputs = slices.Clone(t.global)
	}
}

// task maps one task to a dish.
func (t *turboRepo) task(d Dish, name string, from turboTask) {
	task := &Task{Name: name, From: from.from, at: from.at}
	set := fileSet{}
	for _, key := range slices.Sorted(maps.Keys(from.keys)) {
		p := from.keys[key]
		switch key {
		case "inputs":
			t.inputs(d, p, &set)
		case "outputs":
			for _, g := range t.strings(p, key) {
				if text, ok := turboGlob(d.Path, g.v.Text()); ok {
					task.output(text)
				} else {
					t.gap(g, key, "%q is no path in the workspace", g.v.Text())
				}
			}
		case "env":
			t.addEnv(task, t.strings(p, key))
		case "passThroughEnv":
			task.PassEnv = append(task.PassEnv, t.passed(p, key)...)
		case "dotEnv":
			t.dotEnv(d, p, &set)
		default:
			t.flags(task, key, p)
		}
	}
	t.addEnv(task, t.env)
	if from.keys["inputs"].v != nil || from.keys["dotEnv"].v != nil {
		set.all = set.all || from.keys["inputs"].v == nil
		if task.Inputs = set.list(); task.Inputs != nil {
			task.Inputs = append(task.Inputs, t.global...)
		}
	}
	task.DependsOn = t.depends(d, task, from.keys["dependsOn"])
	t.decideCache(task)
	t.add(d.Path, task)
}

// flags maps the keys whose values are no lists.
func (t *turboRepo) flags(task *Task, key string, p located) {
	switch key {
	case "dependsOn":
	case "cache":
		if on, ok := t.flag(p, key); ok && !on {
			task.Cache = ptr(false)
		}
	case "persistent":
		task.Persistent, _ = t.flag(p, key)
	case "interactive":
		task.Interactive, _ = t.flag(p, key)
	case "description":
		task.Note = note(p.v.Text())
	case "outputLogs", "outputMode":
		t.gap(p, key, "bento prints the output of failed tasks; --output chooses")
	case "interruptible":
		t.gap(p, key, "bento watch restarts each server whose inputs change")
	case "with":
		t.gap(p, key, "bento runs no task beside another unasked; name both in bento run")
	default:
		t.gap(p, key, "bento has no such key")
	}
}

// decideCache adds turbo's default: turbo stores every task without cache = false, but no server.
func (t *turboRepo) decideCache(task *Task) {
	if task.Persistent && task.Interactive {
		t.gap(task.at, "interactive", "a server does not get the terminal")
		task.Interactive = false
	}
	if task.Persistent || task.Interactive {
		task.Cache = nil
		return
	}
	if task.Cache == nil && !isLifecycle(task.Name) {
		task.Cache = ptr(true)
	}
}

func (t *turboRepo) inputs(d Dish, p located, set *fileSet) {
	list := t.strings(p, "inputs")
	set.all = len(list) == 0
	for _, g := range list {
		text := g.v.Text()
		if text == "$TURBO_DEFAULT$" {
			set.all = true
		} else if glob, ok := turboGlob(d.Path, text); ok {
			set.add(glob)
		} else {
			t.gap(g, "inputs", "%q is no path in the workspace", text)
		}
	}
}

// dotEnv adds files to the inputs of a task: Turborepo has them in its key, and sets no variables from them.
func (t *turboRepo) dotEnv(d Dish, p located, set *fileSet) {
	for _, f := range t.strings(p, "dotEnv") {
		if glob, ok := turboGlob(d.Path, escaped(f.v.Text())); ok {
			set.add(glob)
		} else {
			t.gap(f, "dotEnv", "%q is no path in the workspace", f.v.Text())
		}
	}
}

// escaped returns a glob that matches only path.
func escaped(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(path)
}

// turboGlob returns a glob of turbo.json in bento's form.
func turboGlob(dir, text string) (string, bool) {
	not := ""
	if rest, negated := strings.CutPrefix(text, "!"); negated {
		not, text = "!", rest
	}
	if rest, ok := strings.CutPrefix(text, "$TURBO_ROOT$/"); ok {
		text = "//" + strings.TrimLeft(rest, "/")
	} else if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "$") {
		return "", false
	}
	return anchor(dir, not+text)
}

// addEnv adds variables to the key of a task.
func (t *turboRepo) addEnv(task *Task, names []located) {
	for _, p := range names {
		name := strings.TrimPrefix(p.v.Text(), "$")
		switch {
		case strings.HasPrefix(name, "!"):
			t.gap(p, "env", "%q excludes a variable; bento passes only those that are named", name)
		case strings.HasPrefix(name, "*") || strings.ContainsAny(strings.TrimSuffix(name, "*"), "*?\\"):
			// Neither passed nor in the key: the result cannot depend on it.
			t.gap(p, "env", "%q is not passed: bento passes variables as NAME or PREFIX_*", name)
		case !slices.Contains(task.Env, name):
			task.Env = append(task.Env, name)
		}
	}
}

// passed returns the variables that are passed and not part of the key.
func (t *turboRepo) passed(p located, key string) (names []string) {
	for _, n := range t.strings(p, key) {
		switch text := n.v.Text(); {
		case text == "*":
			t.gap(n, key, `[defaults] env = "inherit" passes all variables`)
		case strings.HasPrefix(text, "!"):
			t.gap(n, key, "%q excludes a variable; bento passes only those that are named", text)
		default:
			names = append(names, text)
		}
	}
	return names
}

// depends maps dependsOn. Turborepo leaves out tasks that a package does not have.
func (t *turboRepo) depends(d Dish, task *Task, p located) (list []string) {
	for _, on := range t.strings(p, "dependsOn") {
		text := on.v.Text()
		pkg, name, other := strings.Cut(text, "#")
		switch {
		case strings.HasPrefix(text, "$"):
			t.addEnv(task, []located{on})
		case strings.HasPrefix(text, "^"):
			// The builds of linked dishes come first by default, if the task can be stored.
			byDefault := text == "^build" && t.built && (isLifecycle(task.Name) || task.Cache == nil && !task.Persistent && !task.Interactive)
			if !byDefault && t.someHas(text[1:]) {
				list = append(list, text)
			}
		case other && pkg == "//":
			list = t.other(on, list, ".", name)
		case other && t.packages[pkg] == "":
			t.gap(on, "dependsOn", "no dish has the package %q", pkg)
		case other:
			list = t.other(on, list, t.packages[pkg], name)
		case slices.Contains(d.Tasks, text) && text != task.Name:
			list = append(list, text)
		}
	}
	return list
}

// other adds a dependency on a task of another dish.
func (r *reader) other(on located, list []string, dir, name string) []string {
	if !r.has(dir, name) {
		r.gap(on, on.v.Text(), "%s has no task %q", dishName(dir), name)
		return list
	}
	return append(list, r.nameOf(dir)+":"+name)
}

// someHas reports whether a dish has a task of this name.
func (r *reader) someHas(name string) bool {
	return slices.ContainsFunc(r.src.Dishes, func(d Dish) bool { return r.has(d.Path, name) })
}
