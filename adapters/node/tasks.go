package node

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/tsconfig"
)

// Tasks returns a recipe for each script of package.json. Those named build, check, lint
// and test keep their names; the others are scripts. The root of a workspace has only
// scripts.
func (a *Adapter) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.Open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	if err := a.pins.MayNotDownload(p); err != nil {
		return adapters.TasksAnswer{}, err
	}
	// The Reads of the answer must cover Detect and RequiredToolchain too.
	a.Decide(f)
	_, _ = a.pins.Of(f, p)
	ans := adapters.TasksAnswer{Aggregate: p.Aggregate() != nil}
	if ans.Aggregate {
		ans.Members = a.Members(f, p.Aggregate())
	}
	r := recipes{Project: p, dialect: &a.dialect, shared: a.sharedBy(f, p), ts: tsconfig.Read(f)}
	for _, s := range p.Scripts {
		if t, ok := r.task(s, ans.Aggregate); ok {
			ans.Tasks = append(ans.Tasks, t)
		}
	}
	if a.manager == project.Bun && !ans.Aggregate && p.Script("test").Line == 0 && hasTests(f) {
		ans.Tasks = append(ans.Tasks, r.bunTest())
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// recipes makes the tasks of one package.
type recipes struct {
	*project.Project
	dialect *dialect
	shared  shared
	ts      tsconfig.Config
}

func (r *recipes) task(s packagejson.Entry, aggregate bool) (adapters.Task, bool) {
	if !nameable(s.Name) || isPlaceholder(s) {
		return adapters.Task{}, false
	}
	t := adapters.Task{
		Name:   s.Name,
		Run:    r.dialect.run(s.Name),
		Path:   r.path(),
		Script: aggregate || !slices.Contains([]string{"build", "check", "lint", "test"}, s.Name),
	}
	t.ExtraInputs = r.shared.inputs(s.Name, r.ts.Above)
	if t.Script {
		// Its effects outside the dish are unknown.
		t.NoCache, t.SideEffects = true, true
		return t, true
	}
	switch s.Name {
	case "build":
		t.Outputs = r.outputs()
	case "test":
		if build := r.Script("build"); build.Line > 0 {
			t.DependsOn = []string{"build"}
		}
	}
	return t, true
}

// nameable reports whether a script's name can be the name of a task.
func nameable(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == '\uFFFD'
	}) < 0
}

// isPlaceholder reports whether s is the test script of "npm init".
func isPlaceholder(s packagejson.Entry) bool {
	return s.Name == "test" && strings.Contains(s.Value, "no test specified")
}

// quote returns word quoted for the shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.:/@+,=%", r)
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// path returns the directories of installed commands, the nearer first.
func (r *recipes) path() []string {
	bin := filepath.Join("node_modules", ".bin")
	dirs := []string{bin}
	if r.IsMember() {
		if rel, err := filepath.Rel(r.Dir, r.Scope()); err == nil {
			dirs = append(dirs, filepath.Join(rel, bin))
		}
	}
	return dirs
}

// outputs returns the possible outputs of a build: the usual directories, those of the
// frameworks among the dependencies, and those of tsconfig.json.
func (r *recipes) outputs() []string {
	out := []string{"dist/**", "build/**", "*.tsbuildinfo"}
	for _, f := range []struct {
		name  string
		globs []string
	}{
		{"next", []string{".next/**", "!.next/cache/**", "out/**"}},
		{"nuxt", []string{".nuxt/**", ".output/**"}},
		{"@sveltejs/kit", []string{".svelte-kit/**"}},
	} {
		if _, ok := r.Depends(f.name); ok {
			out = append(out, f.globs...)
		}
	}
	for _, g := range r.ts.Outputs {
		if !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}
