package gradle

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// ruleUnsure is the rule of values that only running a script computes.
const ruleUnsure = "computed_manifest"

// options stop Gradle from leaving a daemon and from drawing progress.
const options = " --no-daemon --console=plain"

// lifecycle returns the recipes of the project with this path and directory.
func lifecycle(program, path, dir string) []adapters.Task {
	prefix := strings.TrimSuffix(path, ":") + ":"
	made := strings.TrimPrefix(dir+"/build/", "/")
	return []adapters.Task{
		// The checks are tasks of their own here.
		{Name: "build", Run: program + " " + prefix + "build -x " + prefix + "check", Outputs: []string{made + "libs/**", made + "distributions/**"}},
		{Name: "lint", Run: program + " " + prefix + "check"},
		{Name: "test", Run: program + " " + prefix + "test"},
	}
}

// Tasks implements adapters.TaskLister. All projects of a build run in its root, where
// Gradle reads its settings.
func (a *Adapter) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	answer := adapters.TasksAnswer{Warnings: p.warnings()}
	if p.path == ":" && p.settings != nil {
		for _, path := range p.named() {
			answer.Members = append(answer.Members, p.settings.Projects[path].Dir)
		}
		slices.Sort(answer.Members)
	}
	if _, err := a.pin(f, p); err != nil {
		return adapters.TasksAnswer{}, err
	}
	r := recipes{project: p, f: f, allowDownload: a.download}
	if r.wrapper, _, err = jvm.GradleWrapper(f, a.host.Env); err != nil {
		return adapters.TasksAnswer{}, err
	}
	answer.Tasks, answer.Aggregate = r.tasks()
	answer.Reads = f.Reads()
	return answer, nil
}

// warnings returns warnings of values that cannot be read from the build without running it.
func (p *project) warnings() []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	if p.settings != nil && p.path == ":" {
		for _, u := range p.settings.Unsure {
			list = append(list, jvm.ProblemAt(diagnostics.Warning, ruleUnsure, p.settings.Path, u.Line,
				"write the paths of projects as plain strings, or give their directories a dish.toml",
				"%s: only running the settings shows which projects it names; the root builds all of them", u.Text))
		}
	}
	self := p.path
	if self == ":" {
		self = "the root"
	}
	for _, u := range p.facts.unsure {
		list = append(list, jvm.ProblemAt(diagnostics.Warning, ruleUnsure, u.file, u.line,
			"write the path of the project as a plain string",
			"%s: only running the script shows which project it names; %s depends on all of them", u.text, self))
	}
	return list
}

// recipes makes the tasks of one project.
type recipes struct {
	*project
	f             *snapshot.Files
	wrapper       *jvm.Wrapper
	allowDownload bool
}

// tasks returns the recipes, and whether the project is only the root of others.
func (r *recipes) tasks() (list []adapters.Task, aggregate bool) {
	program := "gradle"
	if r.wrapper != nil {
		program = r.wrapper.Command(r.root())
	}
	program += options
	if r.facts.toolchain() && !r.allowDownload {
		program += " -Porg.gradle.java.installations.auto-download=false"
	}
	switch {
	case r.path == ":" && r.settings != nil && len(r.settings.Unsure) > 0:
		list = r.whole(program)
	case r.path == ":" && r.many():
		list = r.roots(program)
		aggregate = len(list) == 0
	default:
		list = r.of(program, r.path, "")
	}
	if !aggregate {
		list = append(list, r.scripts(program)...)
	}
	above, rewrites, cwd := r.above(), r.rewrites(), rel(r.dir, r.root())
	if cwd == "." {
		cwd = ""
	}
	for i := range list {
		list[i].Cwd, list[i].ExtraInputs, list[i].Rewrites = cwd, above, rewrites
		if r.many() {
			// Each run compiles in the directories of its dependencies.
			list[i].Mutex = "gradle:" + r.root()
		}
	}
	return list, aggregate
}

// rewrites returns globs of the archives of the build's other projects and of the included builds, which
// a run makes again from their sources, with other times in them.
func (r *recipes) rewrites() (globs []string) {
	if r.many() {
		globs = jvm.Below(r.f, r.root(), archives()...)
	}
	if r.settings != nil {
		for _, b := range r.settings.Builds {
			globs = append(globs, jvm.Below(r.f, b.Text, archives()...)...)
		}
	}
	return globs
}

// archives returns the outputs of a build, relative to its project.
func archives() []string { return []string{"build/libs/**", "build/distributions/**"} }

// of returns the recipes that one project can have.
func (r *recipes) of(program, path, dir string) []adapters.Task {
	list := lifecycle(program, path, dir)
	tested := r.tested(dir)
	if tested {
		list[1].Run += " -x " + strings.TrimSuffix(path, ":") + ":test"
	}
	return slices.DeleteFunc(list, func(t adapters.Task) bool {
		return t.Name == "test" && !tested || t.Name == "lint" && !r.linted()
	})
}

// roots returns the recipes of the root of a build: for its own code, and for that of
// projects without a script.
func (r *recipes) roots(program string) []adapters.Task {
	var all []adapters.Task
	add := func(path, dir string) {
		for _, t := range r.of(program, path, dir) {
			i := slices.IndexFunc(all, func(old adapters.Task) bool { return old.Name == t.Name })
			if i < 0 {
				all = append(all, t)
				continue
			}
			all[i].Run += strings.TrimPrefix(t.Run, program)
			all[i].Outputs = append(all[i].Outputs, t.Outputs...)
		}
	}
	if r.own() {
		add(":", "")
	}
	for _, path := range r.loose(r.f) {
		add(path, rel(r.dir, r.settings.Projects[path].Dir))
	}
	return all
}

// own reports whether the root of a build has code of its own.
func (r *recipes) own() bool { return r.f.IsDir("src") || r.facts.makes }

// whole returns recipes that run for all projects of the build.
func (r *recipes) whole(program string) []adapters.Task {
	return []adapters.Task{
		{Name: "build", Run: program + " build -x check", Outputs: []string{"**/build/libs/**", "**/build/distributions/**"}},
		{Name: "test", Run: program + " check"},
	}
}

// tested reports whether the project has tests: in the usual directory, or by its own
// script. Where a script configures many projects, the project also needs a directory of
// tests.
func (r *recipes) tested(dir string) bool {
	for _, e := range r.f.List(filepath.Join(dir, "src")) {
		if e.IsDir() && strings.Contains(strings.ToLower(e.Name()), "test") {
			return true
		}
	}
	if dir != "" {
		return false
	}
	return r.facts.tests && (r.path != ":" || r.own() || !r.many()) ||
		r.facts.anyTests && (r.f.IsDir("test") || r.f.IsDir("tests"))
}

// linted reports whether check runs a linter.
func (r *recipes) linted() bool {
	return r.facts.has("checkstyle", "pmd", "codenarc", "findbugs", "type:CheckstylePlugin", "type:PmdPlugin",
		"com.github.spotbugs", "com.diffplug.spotless", "com.diffplug.gradle.spotless", "org.jlleitschuh.gradle.ktlint", "org.jmailen.kotlinter",
		"io.gitlab.arturbosch.detekt", "dev.detekt", "ru.vyarus.quality", "de.thetaphi.forbiddenapis", "ru.vyarus.animalsniffer",
		"com.github.hierynomus.license", "com.github.hierynomus.license-base", "com.android.application", "com.android.library")
}

// scripts returns the tasks that run by name only.
func (r *recipes) scripts(program string) []adapters.Task {
	var list []adapters.Task
	prefix := strings.TrimSuffix(r.path, ":") + ":"
	add := func(name, task string) {
		list = append(list, adapters.Task{Name: name, Run: program + " " + prefix + task, Script: true, NoCache: true, SideEffects: true})
	}
	if r.facts.has("com.diffplug.spotless", "com.diffplug.gradle.spotless") {
		add("format", "spotlessApply")
	} else if r.facts.has("org.jlleitschuh.gradle.ktlint") {
		add("format", "ktlintFormat")
	}
	switch {
	case r.facts.has("org.springframework.boot"):
		add("run", "bootRun")
	case r.facts.has("application", "type:ApplicationPlugin"):
		add("run", "run")
	}
	return list
}

// above returns the files outside the project that its tasks depend on: the scripts of the
// build, its settings, properties, catalogs and plugins, and files that scripts name.
func (r *recipes) above() []string {
	files := slices.Clone(r.facts.scripts)
	root := r.root()
	for _, name := range []string{
		"settings.gradle", "settings.gradle.kts", "gradle.properties", "gradle", "config", "lint.xml",
		"settings-gradle.lockfile", "buildscript-gradle.lockfile",
	} {
		if path := filepath.Join(root, name); r.f.IsFile(path) || r.f.IsDir(path) {
			files = append(files, path)
		}
	}
	for at := r.path; r.settings != nil && at != ":"; {
		at = parent(at)
		if path := filepath.Join(r.settings.Projects[at].Dir, "gradle.properties"); r.f.IsFile(path) {
			files = append(files, path)
		}
	}
	if r.wrapper != nil {
		files = append(files, r.wrapper.Script)
	}
	for _, s := range r.facts.strings {
		if path := r.find(r.f, s.text, filepath.Dir(s.file)); path != "" {
			files = append(files, path)
		}
	}
	if r.settings != nil {
		for _, s := range r.settings.Strings {
			if path := r.find(r.f, s.Text, root); path != "" && r.f.IsFile(path) {
				files = append(files, path)
			}
		}
	}
	files = slices.DeleteFunc(files, func(path string) bool { return adapters.Within(r.dir, path) })
	slices.Sort(files)
	return slices.Compact(files)
}
