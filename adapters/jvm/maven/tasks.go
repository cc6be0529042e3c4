package maven

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/jvm/pom"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// Tasks implements adapters.TaskLister. Modules of a reactor run in its root, together with
// their dependencies: Maven finds a module outside of the run only if it is installed for
// the whole machine.
func (a *Adapter) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	answer := adapters.TasksAnswer{Aggregate: p.aggregates(), Members: members(p.self()), Warnings: a.absent(f, p.self())}
	if _, err := a.pin(f, p); err != nil {
		return adapters.TasksAnswer{}, err
	}
	if !answer.Aggregate {
		r := recipes{project: p, f: f}
		if answer.Tasks, err = r.tasks(a); err != nil {
			return adapters.TasksAnswer{}, err
		}
	}
	answer.Reads = f.Reads()
	return answer, nil
}

// members returns the directories of a project's modules, sorted.
func members(m *pom.Model) []string {
	var dirs []string
	for dir := range m.Modules {
		if dir != m.Dir() {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// absent returns an error for each missing module: with one of them Maven builds no module of the
// reactor.
func (a *Adapter) absent(f *snapshot.Files, m *pom.Model) []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	for _, dir := range members(m) {
		if at := m.Modules[dir]; at.Profile == "" && !f.IsFile(filepath.Join(dir, "pom.xml")) {
			list = append(list, jvm.ProblemAt(diagnostics.Warning, ruleNoModule, m.Path, at.Line, "remove the module from the pom, or restore its directory",
				"the module %q has no pom.xml: Maven will refuse the whole build", rel(m.Dir(), dir)))
		}
	}
	return list
}

func rel(base, path string) string {
	if r, err := filepath.Rel(base, path); err == nil {
		return filepath.ToSlash(r)
	}
	return path
}

// recipes makes the tasks of one project.
type recipes struct {
	*project
	f       *snapshot.Files
	program string
	cwd     string
}

func (r *recipes) tasks(a *Adapter) ([]adapters.Task, error) {
	if r.self().Packaging.Text == "pom" && !slices.ContainsFunc(r.self().Plugins, func(p pom.Plugin) bool { return p.Bound }) {
		return nil, nil // a parent or a list of versions: it has no outputs
	}
	w, err := jvm.MavenWrapper(r.f, a.host.Env)
	if err != nil {
		return nil, err
	}
	r.cwd = rel(r.f.Dir(), r.root().Dir())
	if r.cwd == "." {
		r.cwd = ""
	}
	r.program = "mvn"
	if w != nil {
		r.program = w.Command(r.root().Dir())
	}
	selection, err := r.selection(true)
	if err != nil {
		return nil, err
	}
	list := lifecycle(r.program, selection)
	if !r.tested() {
		list = list[:1]
	}
	lint, err := r.lint(selection)
	if err != nil {
		return nil, err
	}
	list = append(list, lint...)
	list = append(list, r.scripts()...)
	above, rewrites := r.above(w), r.rewrites()
	for i := range list {
		t := &list[i]
		t.Cwd, t.ExtraInputs = r.cwd, above
		if w != nil && oldMaven(w) {
			t.Run = strings.Replace(t.Run, " -ntp", "", 1)
		}
		if len(r.reactor) > 0 {
			// Each run compiles in the directories of its dependencies.
			t.Mutex, t.Rewrites = "maven:"+r.root().Dir(), rewrites
		}
		if len(r.reactor) > 0 && t.Name == "test" {
			// The run repeats the tests of its dependencies. A failure there belongs to
			// their own tasks.
			t.DependsOn = []string{"^test"}
		}
	}
	return list, nil
}

// rewrites returns a glob of the archives of the reactor's modules, which a run makes again from
// their sources, with other times in them: shaded ones and those of javadoc.
func (r *recipes) rewrites() []string { return jvm.Below(r.f, r.root().Dir(), archives) }

// oldMaven reports whether the wrapper's Maven does not know -ntp yet.
func oldMaven(w *jvm.Wrapper) bool {
	return w.Version != "" && jvm.ParseVersion(w.Version).Compare(jvm.Version{3, 6, 1}) < 0
}

// tested reports whether the project may have tests: in the usual directory, or where a pom names it.
func (r *recipes) tested() bool {
	if r.f.IsDir(filepath.Join("src", "test")) {
		return true
	}
	for _, m := range r.chain {
		if m.TestSources {
			return true
		}
	}
	return false
}

// scripts returns the tasks that run by name only: formatting, and starting the program of
// a project on its own.
func (r *recipes) scripts() []adapters.Task {
	var list []adapters.Task
	add := func(name, plugin, goal string) {
		if has, _ := r.chain.Plugin(plugin); has && !slices.ContainsFunc(list, func(t adapters.Task) bool { return t.Name == name }) {
			list = append(list, adapters.Task{Name: name, Run: r.program + " -B -ntp " + goal, Script: true, NoCache: true, SideEffects: true})
		}
	}
	if selection, err := r.selection(false); err == nil {
		add("format", "spotless-maven-plugin", strings.TrimSpace(selection+" spotless:apply"))
		add("format", "fmt-maven-plugin", strings.TrimSpace(selection+" fmt:format"))
	}
	if len(r.reactor) == 0 {
		add("run", "spring-boot-maven-plugin", "spring-boot:run")
		add("run", "quarkus-maven-plugin", "quarkus:dev")
		add("run", "exec-maven-plugin", "compile exec:java")
	}
	return list
}

// above returns the files outside the project that its tasks depend on: the poms of its
// parents and of the reactor, Maven's settings there, and files that the poms name.
func (r *recipes) above(w *jvm.Wrapper) []string {
	var files []string
	for _, m := range slices.Concat(r.chain[1:], pom.Chain(r.reactor)) {
		files = append(files, m.Path)
	}
	if w != nil {
		files = append(files, w.Script)
	}
	for dir := range r.f.Ancestors() {
		// Maven takes the nearest directory with .mvn for the top.
		if mvn := filepath.Join(dir, ".mvn"); adapters.Within(dir, r.root().Dir()) && r.f.IsDir(mvn) {
			files = append(files, mvn)
			break
		}
	}
	files = append(files, r.named()...)
	own := r.f.Dir()
	files = slices.DeleteFunc(files, func(path string) bool { return adapters.Within(own, path) })
	slices.Sort(files)
	return slices.Compact(files)
}

// named returns the files and directories outside the project that its poms name by path. A
// relative path is looked up as plugins do: in the project, else in the directory in which
// Maven runs.
func (r *recipes) named() []string {
	root := r.root().Dir()
	var files []string
	values := r.places()
	for _, m := range r.chain {
		for _, text := range m.Texts {
			path, ok := r.chain.ExpandWith(text.Text, values)
			if !ok || strings.ContainsAny(path, "\n\x00") {
				continue
			}
			path = filepath.FromSlash(path)
			switch {
			case filepath.IsAbs(path):
				path = filepath.Clean(path)
				if adapters.Within(path, r.f.Dir()) || !r.f.IsFile(path) && !r.f.IsDir(path) {
					continue // a directory above the repository would make everything an input
				}
			case strings.HasPrefix(path, ".."):
				path = filepath.Join(r.f.Dir(), path)
				if adapters.Within(path, r.f.Dir()) || !r.f.IsFile(path) && !r.f.IsDir(path) {
					continue
				}
			case len(r.reactor) > 0 && r.f.IsFile(filepath.Join(root, path)):
				path = filepath.Join(root, path)
			default:
				continue
			}
			files = append(files, path)
		}
	}
	return files
}

// places returns the expressions for directories.
func (r *recipes) places() map[string]string {
	own, root := r.f.Dir(), r.root().Dir()
	values := map[string]string{
		"basedir": own, "project.basedir": own, "pom.basedir": own,
		"maven.multiModuleProjectDirectory": root, "session.executionRootDirectory": root, "user.dir": root,
		"session.rootDirectory": root, "session.topDirectory": root, "project.rootDirectory": root,
	}
	if len(r.chain) > 1 {
		values["project.parent.basedir"] = r.chain[1].Dir()
	}
	return values
}
