package php

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/php/composer"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Tasks implements adapters.TaskLister.
func (a *Adapter) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	m, err := a.manifests.Read(f, manifestFile)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	var answer adapters.TasksAnswer
	for _, p := range a.pathPackages(f, m) {
		if p.Dir() != dir && adapters.Within(dir, p.Dir()) {
			answer.Members = append(answer.Members, p.Dir())
		}
	}
	if _, err := a.pin(f, m); err != nil {
		return adapters.TasksAnswer{}, err
	}
	r := &recipes{f: f, m: m, names: a.scripts}
	answer.Tasks = r.tasks()
	var scripts []snapshot.Script
	for _, s := range m.Scripts {
		scripts = append(scripts, snapshot.Script{Name: s.Name, File: f.Path(manifestFile)})
	}
	answer.Warnings = a.scripts.Unmapped(scripts, answer.Tasks, nil)
	answer.Warnings = append(answer.Warnings, a.scripts.Untested(answer.Tasks, r.untested)...)
	answer.Reads = f.Reads()
	return answer, nil
}

// recipes makes the tasks of one package.
type recipes struct {
	f *snapshot.Files
	m *composer.Manifest

	names snapshot.Scripts
}

// tasks returns the scripts with the name of a lifecycle task, recipes for tools that are
// declared or configured, and the other scripts.
func (r *recipes) tasks() []adapters.Task {
	var list []adapters.Task
	have := func(name string) bool {
		return slices.ContainsFunc(list, func(t adapters.Task) bool { return t.Name == name })
	}
	for _, name := range adapters.Lifecycle() {
		if s := r.script(name); s.Name != "" {
			list = append(list, adapters.Task{Name: name, Run: script(s.Name), Body: cmp.Or(s.Body, s.Name)})
		}
	}
	analysed := slices.Contains(aliases("check"), r.script("check").Name) // a script runs phpstan
	for _, t := range r.tools() {
		if !have(t.Name) && !r.m.HasScript(t.Name) && !(analysed && strings.HasPrefix(t.Run, "phpstan ")) {
			list = append(list, t)
		}
	}
	for _, s := range r.m.Scripts {
		if !have(s.Name) && s.Name != "" && s.Name[0] != '-' {
			list = append(list, adapters.Task{
				Name: s.Name, Run: script(s.Name), Body: cmp.Or(s.Body, s.Name), Script: true, NoCache: true, SideEffects: true,
			})
		}
	}
	for i := range list {
		list[i].Path = []string{r.m.BinDir}
		for _, dir := range r.m.Outside {
			list[i].ExtraInputs = append(list[i].ExtraInputs, filepath.Join(r.m.Dir(), filepath.FromSlash(dir)))
		}
	}
	return list
}

// aliases returns the names under which packages keep the script of a lifecycle task.
func aliases(lifecycle string) []string {
	switch lifecycle {
	case "check":
		return []string{"phpstan", "stan", "analyse"}
	case "lint":
		return []string{"phpcs", "cs"}
	case "test":
		return []string{"phpunit", "pest"}
	}
	return nil
}

// script returns the script of a lifecycle task: the script of that name, else the first one that the workspace names
// for it, else the first one with an alias as its name. The name of the result is empty if there is none.
func (r *recipes) script(lifecycle string) composer.Script {
	for _, name := range slices.Concat([]string{lifecycle}, r.names[lifecycle], aliases(lifecycle)) {
		for _, s := range r.m.Scripts {
			if s.Name == name && (name == lifecycle || r.names.Stands(lifecycle, name, s.Body)) {
				return s
			}
		}
	}
	return composer.Script{}
}

// script returns the command that runs a script of composer.json.
func script(name string) string { return "composer run-script " + adapters.Quote(name) }

// tools returns the recipes of tools that are declared or configured. With two linters,
// phpstan, which finds what a compiler would, is the check.
func (r *recipes) tools() []adapters.Task {
	list := r.tests()
	lint := "lint"
	if t, format, ok := r.style(); ok {
		lint = "check"
		list = append(list, t, adapters.Task{Name: "format", Run: format, Script: true, NoCache: true, SideEffects: true})
	}
	if r.uses("phpstan/phpstan") || r.config("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon") {
		list = append(list, adapters.Task{Name: lint, Run: "phpstan analyse --no-progress --no-interaction --error-format=raw"})
	}
	if r.uses("phpbench/phpbench") {
		list = append(list, adapters.Task{Name: "bench", Run: "phpbench run", Script: true, NoCache: true})
	}
	return list
}

func (r *recipes) uses(name string) bool { return r.m.Find(name) != nil }

func (r *recipes) config(names ...string) bool { return slices.ContainsFunc(names, r.f.IsFile) }

// tests returns the recipe of a test runner. PHPUnit needs the directory of tests. Symfony's
// bridge has no program phpunit: its simple-phpunit fetches PHPUnit.
func (r *recipes) tests() []adapters.Task {
	configured := r.config("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
	program, required := "phpunit", r.uses("phpunit/phpunit")
	if !required && r.uses("symfony/phpunit-bridge") {
		program, required = "simple-phpunit", true
	}
	switch {
	case r.uses("pestphp/pest"):
		return []adapters.Task{{Name: "test", Run: "pest --colors=never"}}
	case configured:
		return []adapters.Task{{Name: "test", Run: program + " --colors=never"}}
	case required && r.f.IsDir("tests"):
		return []adapters.Task{{Name: "test", Run: program + " --colors=never tests"}}
	}
	return nil
}

// untested returns a file of tests of PHPUnit.
func (r *recipes) untested() snapshot.Untested {
	u := snapshot.Untested{Runner: "phpunit/phpunit", Hint: `run "composer require --dev phpunit/phpunit"`}
	if r.f.IsDir("tests") {
		match := func(name string, isDir bool) bool { return !isDir && strings.HasSuffix(name, "Test.php") }
		u.File, _ = snapshot.Search{Levels: 4, Match: match}.In(r.f, r.f.Path("tests"))
	}
	return u
}

// style returns the recipe of a linter of style, and the command that fixes its findings.
func (r *recipes) style() (lint adapters.Task, format string, ok bool) {
	lint.Name = "lint"
	if config := r.phpcsConfig(); config != "" || r.uses("squizlabs/php_codesniffer") {
		where := ""
		if config == "" {
			where = " --ignore=" + adapters.Quote("*/"+r.m.VendorDir+"/*") + " --extensions=php ."
		} else if filepath.Dir(config) != r.f.Dir() {
			lint.ExtraInputs = []string{config}
		}
		lint.Run = "phpcs -q --no-colors --report=emacs" + where
		return lint, "phpcbf -q" + where, true
	}
	if r.uses("friendsofphp/php-cs-fixer") || r.config(".php-cs-fixer.php", ".php-cs-fixer.dist.php") {
		lint.Run = "php-cs-fixer fix --dry-run --diff --show-progress=none"
		return lint, "php-cs-fixer fix", true
	}
	if r.uses("laravel/pint") || r.config("pint.json") {
		lint.Run = "pint --test"
		return lint, "pint", true
	}
	return lint, "", false
}

// phpcsConfig returns the settings of PHP_CodeSniffer in the package or above it, or "".
func (r *recipes) phpcsConfig() string {
	for dir := range r.f.Ancestors() {
		for _, name := range []string{".phpcs.xml", "phpcs.xml", ".phpcs.xml.dist", "phpcs.xml.dist"} {
			if path := filepath.Join(dir, name); r.f.IsFile(path) {
				return path
			}
		}
	}
	return ""
}
