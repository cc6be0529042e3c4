package key

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"pgregory.net/rapid"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// model is a workspace as the specification sees it: all that keys are made of.
type model struct {
	dishes   []*modelDish
	env      map[string]string
	shared   string // the content of shared.conf, which the adapter names for every task
	identity string // of the adapter
	args     []string
	inherit  bool
}

type modelDish struct {
	path    string
	links   []int // to dishes before it
	private []int // likewise, if adapted: links that its adapter uses only for its own tasks
	adapted bool  // the dish has an adapter
	pin     string
	tool    string // the toolchain as it answers here
	lock    string // the part of the lockfile at the root that it uses
	files   map[string]modelFile
	tasks   [2]modelTask
}

type modelFile struct {
	content string
	exec    bool
	target  string // of a link, in place of content
}

type modelTask struct {
	name, run, cwd string
	env            []string // names
	setEnv         string   // the value of SET, in place of names
	inputs         []string
	outputs        []string
	recipe         bool // the command is from the adapter, not from dish.toml
}

// key describes everything that the key of a task depends on, in words: two tasks, or
// the same at two times, have one key exactly when they have one description.
func (m *model) key(d *modelDish, t *modelTask) string {
	var b strings.Builder
	say := func(parts ...any) { fmt.Fprintf(&b, "%q\n", parts) }
	say(m.inherit, d.path, t.name, t.run, m.args, t.cwd, slices.Sorted(slices.Values(t.outputs)), t.setEnv)
	var names []string
	if t.setEnv == "" {
		names = slices.Clone(t.env)
	}
	if d.adapted {
		say("adapter", m.identity, d.pin, d.tool, d.lock)
		names = append(names, "STEER")
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		value, set := m.env[name]
		say(name, value, set)
	}
	b.WriteString(m.describe(m.inputs(d, t)))
	links := d.links
	if !m.skips(d, t) {
		links = d.all()
	}
	for _, l := range slices.Sorted(slices.Values(links)) {
		say("sources", m.dishes[l].path, m.sources(m.dishes[l]))
	}
	waits := map[string]string{}
	m.waits(links, waits)
	for _, id := range slices.Sorted(maps.Keys(waits)) {
		say("after", id, waits[id])
	}
	return b.String()
}

// all returns the links of d with the private ones.
func (d *modelDish) all() []int {
	list := slices.Clone(d.links)
	if d.adapted {
		list = append(list, d.private...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// asRecipe reports whether the command of t is the adapter's.
func (t *modelTask) asRecipe(d *modelDish) bool { return t.recipe && d.adapted && t.run == "true" }

// skips reports whether t uses no private link of d: the adapter knows that of its own build.
func (m *model) skips(d *modelDish, t *modelTask) bool {
	return t.asRecipe(d) && t.name == "build" && t.cwd == "" && len(m.args) == 0
}

// waits collects the builds that links wait for. In place of a dish without outputs it collects the
// builds of the dishes that this one is linked to, without private links.
func (m *model) waits(links []int, to map[string]string) {
	for _, l := range links {
		if on := m.dishes[l]; len(on.tasks[0].outputs) > 0 {
			to[on.path] = m.key(on, &on.tasks[0])
		} else {
			m.waits(on.links, to)
		}
	}
}

// sources describes the default inputs of d that a link to it carries, and what its own links carry.
func (m *model) sources(d *modelDish) string {
	var b strings.Builder
	files := d.defaults()
	for _, inner := range m.inside(d) {
		if !m.leads(inner, d) {
			maps.Copy(files, inner.defaults())
		}
	}
	b.WriteString(m.describe(files))
	if d.adapted {
		fmt.Fprintf(&b, "lock %q\n", d.lock)
	}
	for _, l := range slices.Sorted(slices.Values(d.links)) {
		fmt.Fprintf(&b, "%s %q\n", m.dishes[l].path, m.sources(m.dishes[l]))
	}
	return b.String()
}

// leads reports whether links lead from one dish to another.
func (m *model) leads(from, to *modelDish) bool {
	return slices.ContainsFunc(from.all(), func(l int) bool { return m.dishes[l] == to || m.leads(m.dishes[l], to) })
}

// carried adds the files that links carry besides default inputs: what the tasks of the linked dishes
// name elsewhere, and what git ignores.
func (m *model) carried(links []int, own map[string]modelFile) {
	for _, l := range links {
		d := m.dishes[l]
		if d.adapted {
			own["shared.conf"] = modelFile{content: m.shared}
		}
		for i := range d.tasks {
			for p, f := range d.named(d.tasks[i].inputs) {
				own[p] = f
			}
			for p, f := range m.files() {
				for _, glob := range d.tasks[i].inputs {
					dir, deep := strings.CutSuffix(glob, "/**")
					if rooted, ok := strings.CutPrefix(dir, "//"); ok && (p == rooted || deep && strings.HasPrefix(p, rooted+"/")) {
						own[p] = f
					}
				}
			}
		}
		m.carried(d.links, own)
	}
}

// named returns the ignored files of d that inputs name.
func (d *modelDish) named(inputs []string) map[string]modelFile {
	files := map[string]modelFile{}
	for p, f := range d.files {
		if p == "gen.tmp" && slices.Contains(inputs, p) || d.ignores(p) && strings.HasPrefix(p, "src/deep/") && slices.Contains(inputs, "src/deep/**") {
			files[path.Join(d.path, p)] = f
		}
	}
	return files
}

// files returns all files of the workspace that git does not ignore.
func (m *model) files() map[string]modelFile {
	all := map[string]modelFile{"shared.conf": {content: m.shared}}
	for _, d := range m.dishes {
		for p, f := range d.files {
			if !d.ignores(p) {
				all[path.Join(d.path, p)] = f
			}
		}
	}
	return all
}

func (d *modelDish) ignores(p string) bool {
	_, hides := d.files["src/.gitignore"] // which says so
	return strings.HasSuffix(p, ".tmp") || hides && strings.HasPrefix(p, "src/deep/")
}

func (d *modelDish) made(p string) bool {
	return slices.ContainsFunc(d.tasks[:], func(t modelTask) bool { return slices.Contains(t.outputs, p) })
}

func (d *modelDish) defaults() map[string]modelFile {
	files := map[string]modelFile{}
	for p, f := range d.files {
		if !d.ignores(p) && !d.made(p) {
			files[path.Join(d.path, p)] = f
		}
	}
	return files
}

// inside returns the dishes inside d, whose tools read them all.
func (m *model) inside(d *modelDish) (list []*modelDish) {
	for _, other := range m.dishes {
		if strings.HasPrefix(other.path, d.path+"/") {
			list = append(list, other)
		}
	}
	return list
}

// inputs returns the files that a task has as inputs.
func (m *model) inputs(d *modelDish, t *modelTask) map[string]modelFile {
	own := d.defaults()
	for _, inner := range m.inside(d) {
		maps.Copy(own, inner.defaults())
	}
	if len(t.inputs) > 0 && t.inputs[0] != "!src/a" {
		own = map[string]modelFile{}
		for p, f := range m.files() {
			rel, inside := strings.CutPrefix(p, d.path+"/")
			_, mine := d.files[rel]
			mine = mine && inside
			for _, glob := range t.inputs {
				dir, deep := strings.CutSuffix(glob, "/**")
				switch rooted, isRooted := strings.CutPrefix(dir, "//"); {
				case mine && d.made(rel):
				case isRooted && (p == rooted || deep && strings.HasPrefix(p, rooted+"/")),
					mine && deep && strings.HasPrefix(rel, dir+"/"),
					mine && glob == "src/*" && path.Dir(rel) == "src":
					own[p] = f
				}
			}
		}
		for _, inner := range m.inside(d) {
			for p, f := range inner.defaults() {
				rel := strings.Split(strings.TrimPrefix(p, d.path+"/"), "/")
				if slices.Contains(t.inputs, "*/src/**") && len(rel) > 2 && rel[1] == "src" {
					own[p] = f
				}
			}
		}
		maps.Copy(own, d.named(t.inputs))
	}
	if m.skips(d, t) {
		m.carried(d.links, own)
	} else {
		m.carried(d.all(), own)
	}
	if slices.Contains(t.inputs, "!src/a") {
		delete(own, path.Join(d.path, "src/a"))
	}
	if d.adapted {
		own["shared.conf"] = modelFile{content: m.shared}
		own[path.Join(d.path, "marker")] = d.files["marker"]
	}
	return own
}

// describe describes files, and the targets of links among them.
func (m *model) describe(files map[string]modelFile) string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f := files[p]
		fmt.Fprintf(&b, "%q %q %v %q", p, f.content, f.exec, f.target)
		if f.target != "" {
			b.WriteString(m.behind(p, f.target))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// behind describes the target of a link. It leaves out a target around the link, whose files are
// described by their own paths.
func (m *model) behind(from, target string) string {
	all := m.files()
	at, ok := real(all, path.Dir(from)+"/"+target, 40)
	if !ok || strings.HasPrefix(from, at+"/") {
		return ""
	}
	if f, ok := all[at]; ok {
		return fmt.Sprintf(" > %q %v", f.content, f.exec)
	}
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(p, at+"/") {
			fmt.Fprintf(&b, " > %q %q %v %q", p, all[p].content, all[p].exec, all[p].target)
		}
	}
	return b.String()
}

// real returns a path without the links on its way; ok is false for too many of them.
func real(all map[string]modelFile, p string, links int) (at string, ok bool) {
	for name := range strings.SplitSeq(p, "/") {
		next := path.Join(at, name)
		if target := all[next].target; target != "" {
			if links--; links < 0 {
				return "", false
			}
			if next, ok = real(all, at+"/"+target, links); !ok {
				return "", false
			}
		}
		at = next
	}
	return at, true
}

// teller is an adapter that answers from the model.
type teller struct {
	*model
	root string
}

func (a *teller) dish(dir string) *modelDish {
	for _, d := range a.dishes {
		if filepath.Join(a.root, d.path) == dir {
			return d
		}
	}
	return nil
}

func (a *teller) Manifest() *adapters.Manifest {
	return &adapters.Manifest{
		AdapterID: "teller", Identity: a.identity, FingerprintFiles: []string{"marker"}, SteeringEnv: []string{"STEER"},
		Capabilities: adapters.DefaultCapabilities(),
	}
}

func (a *teller) Detect(_ context.Context, dir string) (bool, error) {
	d := a.dish(dir)
	return d != nil && d.adapted, nil
}

func (a *teller) Tasks(context.Context, string) (adapters.TasksAnswer, error) {
	extra := []string{filepath.Join(a.root, "shared.conf"), filepath.Join(a.root, "all.lock")}
	return adapters.TasksAnswer{Tasks: []adapters.Task{{Name: "build", Run: "true", ExtraInputs: extra, SkipsPrivate: true}, {Name: "check", Run: "true", ExtraInputs: extra}}}, nil
}

func (a *teller) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	var answer adapters.LinksAnswer
	for _, l := range a.dish(dir).private {
		answer.Links = append(answer.Links, adapters.Link{Dir: filepath.Join(a.root, a.dishes[l].path), File: filepath.Join(dir, "marker"), Private: true})
	}
	return answer, nil
}

func (a *teller) LockDigest(_ context.Context, dir string) (adapters.LockAnswer, error) {
	return adapters.LockAnswer{File: filepath.Join(a.root, "all.lock"), Digest: a.dish(dir).lock}, nil
}

func (a *teller) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	if d := a.dish(dir); d.pin != "" {
		return &adapters.Toolchain{Tool: "teller", Version: d.pin}, nil
	}
	return nil, nil
}

func (a *teller) ToolchainFingerprint(_ context.Context, dir string) (string, error) {
	return a.dish(dir).tool, nil
}

func (a *teller) Install(context.Context, adapters.InstallRequest, adapters.LogFunc) error {
	return nil
}

func (a *teller) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}

// lay writes the model to a directory. If turned is set, it writes every list in reverse.
func (m *model) lay(t rapid.TB, root string, turned bool) {
	write := func(p, content string) { put(t, root, p, modelFile{content: content}) }
	write("bento.toml", "")
	write(".gitignore", "*.tmp\n")
	write("shared.conf", m.shared)
	var lock strings.Builder
	dishes := slices.Clone(m.dishes)
	if turned {
		slices.Reverse(dishes)
	}
	for _, d := range dishes {
		fmt.Fprintln(&lock, d.path, d.lock)
		write(d.path+"/dish.toml", m.toml(d, turned))
		for p, f := range d.files {
			put(t, root, path.Join(d.path, p), f)
		}
	}
	write("all.lock", lock.String())
}

func put(t rapid.TB, root, p string, f modelFile) {
	full := filepath.Join(root, filepath.FromSlash(p))
	err := os.MkdirAll(filepath.Dir(full), 0o755)
	_ = os.Remove(full)
	mode := os.FileMode(0o644)
	if f.exec {
		mode = 0o755
	}
	if err == nil && f.target != "" {
		err = os.Symlink(f.target, full)
	} else if err == nil {
		err = os.WriteFile(full, []byte(f.content), mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// toml returns the dish.toml of a dish.
func (m *model) toml(d *modelDish, turned bool) string {
	list := func(key string, values []string) string {
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = fmt.Sprintf("%q", v)
		}
		if turned {
			slices.Reverse(quoted)
		}
		return key + " = [" + strings.Join(quoted, ", ") + "]\n"
	}
	language := "none"
	if d.adapted {
		language = "teller"
	}
	var names []string
	for _, l := range d.links {
		names = append(names, m.dishes[l].name())
	}
	head := fmt.Sprintf("name = %q\nlanguage = %q\n", d.name(), language) + list("depends_on", names)
	tables := make([]string, len(d.tasks))
	for i, t := range d.tasks {
		text := fmt.Sprintf("[tasks.%s]\n", t.name) + list("outputs", t.outputs)
		if !t.asRecipe(d) {
			text += fmt.Sprintf("run = %q\n", t.run)
		}
		if t.cwd != "" {
			text += fmt.Sprintf("cwd = %q\n", t.cwd)
		}
		if t.inputs != nil {
			text += list("inputs", t.inputs)
		}
		if t.setEnv != "" {
			text += fmt.Sprintf("env = { SET = %q }\n", t.setEnv)
		} else {
			text += list("env", t.env)
		}
		tables[i] = text
	}
	if turned {
		slices.Reverse(tables)
	}
	return head + strings.Join(tables, "")
}

func (d *modelDish) name() string { return strings.ReplaceAll(d.path, "/", "-") }
