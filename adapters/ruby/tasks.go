package ruby

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/ruby/gemfile"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// The rules of warnings: about computed values, and about a linter that would rewrite the sources.
const (
	RuleUnsure   = "computed_manifest"
	RuleRewrites = "lint_rewrites_sources"
)

// Tasks implements adapters.TaskLister: a build of a gem, a test with RSpec, rake or a test
// library of the bundle, a lint with RuboCop or Standard, and the literal tasks of the
// Rakefile as scripts.
func (a *Adapter) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	specs := gemspecsIn(f, dir)
	for _, path := range specs {
		if _, err := gemfile.ReadGemspec(f, path); err != nil {
			return adapters.TasksAnswer{}, err
		}
	}
	// The Reads of the answer must cover RequiredToolchain too.
	p.pin(f)
	ans := adapters.TasksAnswer{}
	if !p.isMember() {
		ans.Members = p.members()
		ans.Warnings = p.warnings()
		ans.Aggregate = len(ans.Members) > 0 && len(specs) == 0 && !hasSources(f, ans.Members)
	}
	rake, err := gemfile.ReadRakefile(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	if !ans.Aggregate {
		lint, warnings := p.lint(f)
		ans.Warnings = append(ans.Warnings, warnings...)
		for _, t := range []adapters.Task{build(specs), p.test(f, rake), lint, p.format()} {
			if t.Run != "" {
				ans.Tasks = append(ans.Tasks, t)
			}
		}
	}
	ans.Tasks = append(ans.Tasks, p.scripts(rake, ans.Tasks)...)
	if !ans.Aggregate && len(p.warnings()) == 0 { // else a gem may be required that bento does not see
		ans.Warnings = append(ans.Warnings, a.scripts.Untested(ans.Tasks, func() snapshot.Untested { return untested(f) })...)
	}
	p.finish(f, ans.Tasks)
	ans.Reads = f.Reads()
	return ans, nil
}

// hasSources reports whether the directory of a Gemfile holds more than members.
func hasSources(f *snapshot.Files, members []string) bool {
	own := func(name string) bool {
		dir := f.Path(name)
		return f.IsDir(name) && !slices.ContainsFunc(members, func(m string) bool { return adapters.Within(dir, m) })
	}
	return slices.ContainsFunc([]string{"lib", "app", "spec", "test"}, own) || f.IsFile("config.ru")
}

// warnings reports values that only the running program knows and no lockfile holds.
func (p *project) warnings() []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	if p.file == nil || p.locked != nil {
		return nil
	}
	for _, u := range p.file.Unsure {
		list = append(list, diagnosticAt(u.File, u.Line, diagnostics.Warning, RuleUnsure,
			u.What+" is computed by the program, so bento does not know it",
			"write it into a Gemfile.lock with \"bundle lock\""))
	}
	return list
}

// build returns the task that builds the gems of the directory.
func build(specs []string) adapters.Task {
	t := adapters.Task{Name: "build", SkipsPrivate: true, NoInstall: true} // gem runs without Bundler
	if len(specs) == 0 {
		return t
	}
	steps := []string{"mkdir -p pkg"}
	for _, path := range specs {
		name := strings.TrimSuffix(filepath.Base(path), ".gemspec")
		steps = append(steps, fmt.Sprintf("gem build %s --output %s", quote(name+".gemspec"), quote("pkg/"+name+".gem")))
	}
	t.Run = strings.Join(steps, " && ")
	t.Outputs = []string{"pkg/*.gem"}
	return t
}

// plainTests runs the tests of minitest and test-unit in files with the usual names.
const plainTests = `ruby -Ilib -Itest -e 'Dir.glob("./test/**/{test_*,*_test}.rb").sort.each { |file| require file }'`

// exec returns a command that runs under Bundler, where a Gemfile exists.
func (p *project) exec(command string) string {
	if p.file == nil {
		return command
	}
	return "bundle exec " + command
}

// hasRake reports whether tasks of a Rakefile can run: rake comes with Ruby, and only a
// bundle hides it.
func (p *project) hasRake() bool { return p.file == nil || p.has("rake") }

func (p *project) test(f *snapshot.Files, rake *gemfile.Rakefile) adapters.Task {
	t := adapters.Task{Name: "test"}
	raked := rake != nil && (rake.Loads || rake.Has("test")) && p.hasRake()
	switch {
	case f.IsDir("spec") && p.hasAny("rspec", "rspec-core", "rspec-rails"):
		t.Run = p.exec("rspec")
	case f.IsDir("test") && raked:
		t.Run = p.exec("rake test")
	case f.IsDir("test") && p.hasAny("minitest", "test-unit"):
		t.Run = p.exec(plainTests)
	}
	return t
}

// untested returns a file of tests of RSpec or minitest.
func untested(f *snapshot.Files) (u snapshot.Untested) {
	for _, c := range []struct{ dir, gem, prefix, suffix string }{
		{"spec", "rspec", "", "_spec.rb"}, {"test", "minitest", "", "_test.rb"}, {"test", "minitest", "test_", ".rb"},
	} {
		if u.File != "" || !f.IsDir(c.dir) {
			continue
		}
		match := func(name string, isDir bool) bool {
			return !isDir && strings.HasPrefix(name, c.prefix) && strings.HasSuffix(name, c.suffix)
		}
		u = snapshot.Untested{Runner: c.gem, Hint: fmt.Sprintf("add %q to the Gemfile or the gemspec", c.gem)}
		u.File, _ = snapshot.Search{Levels: 4, Match: match}.In(f, f.Path(c.dir))
	}
	return u
}

// lint returns the recipe of the linter. No argument takes back what the file .rubocop says, so where that
// corrects the sources there is no recipe, and a warning.
func (p *project) lint(f *snapshot.Files) (adapters.Task, []diagnostics.Diagnostic) {
	t := adapters.Task{Name: "lint", Run: p.linter("")}
	if !strings.Contains(t.Run, "rubocop") {
		return t, nil
	}
	data, _ := f.ReadIfExists(".rubocop") // unreadable: rubocop reports it
	option, line := corrects(string(data))
	if option == "" {
		return t, nil
	}
	return adapters.Task{}, []diagnostics.Diagnostic{diagnosticAt(f.Path(".rubocop"), line, diagnostics.Warning, RuleRewrites,
		fmt.Sprintf("%q would have the task lint rewrite sources, so bento makes no task lint", option),
		"remove it here and correct with \"bento run format\", or write the task lint in dish.toml")}
}

// corrects returns the first option of RuboCop that changes sources, and its line (1-based), "" for none.
func corrects(options string) (option string, line int) {
	for text := range strings.Lines(options) {
		line++
		for _, word := range strings.Fields(text) {
			name, _, _ := strings.Cut(word, "=")
			switch {
			case slices.Contains([]string{"-a", "-A", "-x"}, name), strings.HasPrefix(name, "--autocorrect"), strings.HasPrefix(name, "--auto-correct"),
				name == "--safe-auto-correct", name == "--fix-layout":
				return word, line
			}
		}
	}
	return "", 0
}

func (p *project) format() adapters.Task {
	return adapters.Task{Name: "format", Run: p.linter(" --autocorrect"), Script: true, NoCache: true, SideEffects: true}
}

// linter returns the command of the linter in the bundle. Without a lockfile a plugin of
// the linter identifies it too.
func (p *project) linter(option string) string {
	brings := p.has("rubocop")
	for name := range p.declared {
		brings = brings || p.locked == nil && strings.HasPrefix(name, "rubocop-")
	}
	switch {
	case p.has("standard"):
		if option == "" {
			return p.exec("standardrb --no-fix") // fix: true of .standard.yml would have it rewrite the sources
		}
		return p.exec("standardrb --fix")
	case brings:
		return p.exec("rubocop") + option
	}
	return ""
}

// scripts returns the tasks of the Rakefile whose names no recipe has.
func (p *project) scripts(rake *gemfile.Rakefile, recipes []adapters.Task) []adapters.Task {
	if rake == nil || !p.hasRake() {
		return nil
	}
	var tasks []adapters.Task
	for _, name := range rake.Tasks {
		taken := slices.ContainsFunc(recipes, func(t adapters.Task) bool { return t.Name == name })
		if !taken && !strings.HasPrefix(name, "-") && strings.IndexFunc(name, unicode.IsControl) < 0 {
			t := adapters.Task{Name: name, Run: p.exec("rake " + quote(name)), Script: true, NoCache: true, SideEffects: true}
			if slices.Contains(rake.Plain, name) {
				t.Body = t.Run
			}
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// finish adds the Gemfile and the files above the project to all tasks.
func (p *project) finish(f *snapshot.Files, tasks []adapters.Task) {
	var shared []string
	if p.file == nil {
		return
	}
	if config := filepath.Join(p.dir, ".bundle", "config"); f.IsFile(config) {
		shared = append(shared, config)
	}
	// The install before a task writes a missing lockfile.
	for _, path := range append(slices.Clone(p.file.Files), lockOf(p.file.Path)) {
		if !adapters.Within(p.here, path) {
			shared = append(shared, path)
		}
	}
	lint := configsAbove(f)
	for i := range tasks {
		t := &tasks[i]
		t.Env = map[string]string{"BUNDLE_GEMFILE": p.above(p.file.Path)}
		if p.lock != "" || !p.isEmpty() {
			t.Env["BUNDLE_FROZEN"] = "true"
		}
		t.ExtraInputs = slices.Clone(shared)
		if t.Name == "lint" || t.Name == "format" {
			t.ExtraInputs = append(t.ExtraInputs, lint...)
		}
		slices.Sort(t.ExtraInputs)
	}
}

// configsAbove returns the configurations above the project that its linter finds itself:
// the nearest of each.
func configsAbove(f *snapshot.Files) []string {
	var paths []string
	for _, name := range []string{".rubocop.yml", ".standard.yml", ".ruby-version"} {
		if path, ok := f.Up(name); ok && filepath.Dir(path) != f.Dir() {
			paths = append(paths, path)
		}
	}
	return paths
}

// quote returns word quoted for the shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.:/@+,=%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
