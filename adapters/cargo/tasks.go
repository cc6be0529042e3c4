package cargo

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/cargo/rustup"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// locked makes cargo refuse to change the lockfile. Where it is missing the install writes
// it first; a recipe without the option would have another key once the lockfile exists.
const locked = " --locked"

// lifecycle returns the recipes of every package. Its check compiles these targets.
func lifecycle(targets string) []adapters.Task {
	return []adapters.Task{
		{Name: "build", Run: "cargo build" + locked},
		{Name: "check", Run: "cargo check" + locked + targets},
		{Name: "test", Run: "cargo test" + locked},
	}
}

// Tasks implements adapters.TaskLister. Members of a workspace run in their own directory, where
// cargo handles only the package.
func (a *Adapter) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	answer := adapters.TasksAnswer{Aggregate: p.Package == nil}
	if answer.Members, err = a.members(f, p.Manifest); err != nil {
		return adapters.TasksAnswer{}, err
	}
	if _, err := a.pin(f, p); err != nil {
		return adapters.TasksAnswer{}, err
	}
	r := &recipes{f: f, project: p}
	if r.configs, err = a.configsHere(f); err != nil {
		return adapters.TasksAnswer{}, err
	}
	if r.toolchain, err = a.toolchainFile(f); err != nil {
		return adapters.TasksAnswer{}, err
	}
	answer.Tasks = r.tasks()
	answer.Reads = f.Reads()
	return answer, nil
}

// recipes makes the tasks of one project.
type recipes struct {
	*project
	f         *snapshot.Files
	configs   []*cargotoml.Config // of the project
	toolchain *rustup.File        // nil when missing
	aliases   map[string]string
}

func (r *recipes) tasks() []adapters.Task {
	r.aliases = aliasesOf(r.configs)
	var list []adapters.Task
	if r.Package != nil {
		targets := r.targets()
		list = lifecycle(targets)
		list[0].SkipsPrivate = r.root.SplitsFeatures()
		list = append(list, r.lint(targets)...)
		list = append(list, r.scripts()...)
	}
	list = append(list, aliasTasks(r.aliases, list)...)
	above := r.above()
	for i := range list {
		list[i].ExtraInputs = append(list[i].ExtraInputs, above...)
	}
	return list
}

// scripts returns the tasks that run by name only. Benchmarks measure the machine, and the
// others run for their effects.
func (r *recipes) scripts() []adapters.Task {
	list := []adapters.Task{{Name: "format", Run: "cargo fmt", Script: true, NoCache: true, SideEffects: true}}
	if r.Package.Benches || r.f.IsDir("benches") {
		list = append(list, adapters.Task{Name: "bench", Run: "cargo bench" + locked, Script: true, NoCache: true})
	}
	if r.Package.DefaultRun != "" || binaries(r.f, r.Package) == 1 {
		list = append(list, adapters.Task{Name: "run", Run: "cargo run" + locked, Script: true, NoCache: true, SideEffects: true})
	}
	return list
}

// binaries counts the binary targets of a package,
// https://doc.rust-lang.org/cargo/reference/cargo-targets.html#target-auto-discovery.
func binaries(f *snapshot.Files, p *cargotoml.Package) int {
	names := make(map[string]bool)
	for _, name := range p.Bins {
		names[name] = true
	}
	if f.IsFile("src/main.rs") {
		names[p.Name] = true
	}
	for _, e := range f.List("src/bin") {
		name, isFile := strings.CutSuffix(e.Name(), ".rs")
		if isFile || f.IsFile(filepath.Join("src", "bin", name, "main.rs")) {
			names[name] = true
		}
	}
	return len(names)
}

// aliasesOf returns the aliases of the project; the nearest file wins. Like cargo, it
// ignores names of cargo's own commands.
func aliasesOf(configs []*cargotoml.Config) map[string]string {
	all := make(map[string]string)
	for _, c := range slices.Backward(configs) {
		maps.Copy(all, c.Aliases)
	}
	for _, own := range []string{
		"b", "build", "bench", "c", "check", "clean", "d", "doc", "fetch", "fix", "install", "new", "package", "publish",
		"r", "remove", "rm", "run", "t", "test", "update", "vendor",
	} {
		delete(all, own)
	}
	return all
}

// aliasTasks returns a script for each alias. Only aliases that build or check are cached:
// the effects of the others, such as a release, are not in files.
func aliasTasks(aliases map[string]string, have []adapters.Task) []adapters.Task {
	var list []adapters.Task
	for _, name := range slices.Sorted(maps.Keys(aliases)) {
		if slices.ContainsFunc(have, func(t adapters.Task) bool { return t.Name == name }) || !isWord(name) {
			continue
		}
		command, _, _ := strings.Cut(aliases[name], " ")
		if name == "lint" && rewrites(aliases[name]) {
			continue // "bento lint" would run it
		}
		pure := !rewrites(aliases[name]) && slices.Contains([]string{"b", "build", "c", "check", "clippy", "d", "doc", "t", "test"}, command)
		list = append(list, adapters.Task{Name: name, Run: "cargo " + name, Script: true, NoCache: !pure, SideEffects: !pure})
	}
	return list
}

// isWord reports whether a name needs no quotes in a shell command.
func isWord(name string) bool {
	return name != "" && name[0] != '-' && strings.Trim(name, "-_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// above returns the files outside the dish that change its tasks: the manifest and lockfile
// of the workspace, the configuration and toolchain files of the directories above, and
// sources outside of the package.
func (r *recipes) above() []string {
	var files []string
	if r.root != r.Manifest {
		files = append(files, r.root.Path, r.lock())
	}
	own := filepath.Join(r.Dir(), ".cargo")
	for _, c := range r.configs {
		if filepath.Dir(c.Path) != own {
			files = append(files, c.Path)
		}
	}
	for dir := range r.f.Ancestors() {
		for _, name := range rustup.Names() {
			if path := filepath.Join(dir, name); dir != r.Dir() && r.f.IsFile(path) {
				files = append(files, path)
			}
		}
	}
	return append(files, r.Outside...)
}
