package golang

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

const download = "go mod download"

// InstallScope implements adapters.Scoper: the workspace in effect, else the module. An
// install writes to the module cache.
func (a *Adapter) InstallScope(_ context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	scope := adapters.Scope{Dir: p.dir, Command: download}
	mods := []member{{p.dir, p.mod}}
	if p.work != nil {
		scope.Dir = p.work.Dir()
		scope.Files = []string{p.work.File, filepath.Join(scope.Dir, "go.work.sum")}
		siblings, err := a.siblings(f, p)
		if err != nil {
			return adapters.Scope{}, err
		}
		mods = append(mods, siblings...)
	}
	mods = slices.DeleteFunc(mods, func(m member) bool { return m.mod == nil })
	for _, m := range mods {
		scope.Files = append(scope.Files, filepath.Join(m.dir, "go.mod"), filepath.Join(m.dir, "go.sum"))
	}
	slices.Sort(scope.Files)
	scope.Nothing = vendored(f, scope.Dir) || !needsAny(mods, p.work)
	if cache := a.moduleCache(f); cache != "" && !scope.Nothing {
		scope.Made = []string{filepath.Join(cache, "cache", "download")}
	}
	scope.Reads = f.Reads()
	return scope, nil
}

// vendored reports whether modules come from a vendor directory,
// https://go.dev/ref/mod#vendoring.
func vendored(f *snapshot.Files, dir string) bool {
	return f.IsFile(filepath.Join(dir, "vendor", "modules.txt"))
}

// needsAny reports whether one of mods may need a module that is not in mods and not
// replaced by a directory.
func needsAny(mods []member, w *gomod.Work) bool {
	local := make(map[string]bool)
	var replaces []gomod.Replace
	if w != nil {
		replaces = append(replaces, w.Replaces...)
	}
	for _, m := range mods {
		local[m.mod.Name] = true
		replaces = append(replaces, m.mod.Replaces...)
	}
	for _, r := range replaces {
		local[r.Path] = true
	}
	return slices.ContainsFunc(mods, func(m member) bool {
		return slices.ContainsFunc(m.mod.Requires, func(r gomod.Require) bool {
			return !local[r.Path] || !m.mod.ListsAll()
		})
	})
}

// Install implements adapters.Adapter. The go command would update go.mod, so it works on
// copies; the build reports what is missing. In a workspace go accepts no copies and may
// add sums to go.work.sum, which a warning reports.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	p, err := a.project(a.Now().Files(req.DishDir))
	if err != nil {
		return err
	}
	env := req.Env.Or(a.env).With(p.env())
	tool, err := env.LookPath("go")
	if err != nil {
		return a.missing(err)
	}
	if p.work == nil && !strings.Contains(env.Get("GOFLAGS"), "-modfile") {
		flag, remove, err := copyModfiles(p.dir)
		if err != nil {
			return err
		}
		defer remove()
		return run(ctx, req.Leave(), probe.Work{Argv: []string{tool, "mod", "download", flag}, Dir: p.dir, Env: env}, log)
	}
	dir := p.dir
	if p.work != nil {
		dir = p.work.Dir()
	}
	sums := []string{filepath.Join(dir, "go.sum"), filepath.Join(dir, "go.work.sum")}
	before := readAll(sums)
	if err := run(ctx, req.Leave(), probe.Work{Argv: []string{tool, "mod", "download"}, Dir: dir, Env: env}, log); err != nil {
		return err
	}
	for i, now := range readAll(sums) {
		if log != nil && !bytes.Equal(before[i], now) {
			log(adapters.Log{Level: "warn", Message: fmt.Sprintf("%s: %s added sums; commit the file", sums[i], download)})
		}
	}
	return nil
}

func readAll(paths []string) [][]byte {
	all := make([][]byte, len(paths))
	for i, path := range paths {
		all[i], _ = readRegular(path)
	}
	return all
}

func run(ctx context.Context, leave adapters.Leave, w probe.Work, log adapters.LogFunc) error {
	w.Shown = spoken(w.Argv)
	return probe.Run(ctx, leave, w, log)
}
