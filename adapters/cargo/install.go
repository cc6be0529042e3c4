package cargo

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// InstallScope implements adapters.Scoper: the workspace, else the package. An install
// writes to CARGO_HOME, so Made names no path, except a lockfile that was missing before.
func (a *Adapter) InstallScope(_ context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	lock, err := f.ReadIfExists(p.lock())
	if err != nil {
		return adapters.Scope{}, err
	}
	scope := adapters.Scope{Dir: p.root.Dir(), Command: strings.Join(fetch(lock != nil), " ")}
	scope.Files, err = a.decisive(f, p, lock != nil)
	if err != nil {
		return adapters.Scope{}, err
	}
	if lock != nil {
		scope.Nothing = !bytes.Contains(lock, []byte("\nsource = "))
	} else {
		scope.Made = []string{"Cargo.lock"} // the recipes need it
	}
	scope.Reads = f.Reads()
	return scope, nil
}

// fetch returns the command of an install, which is --locked where a lockfile exists.
func fetch(locked bool) []string {
	if locked {
		return []string{"cargo", "fetch", "--locked"}
	}
	return []string{"cargo", "fetch"}
}

// decisive returns the files that decide an install: the lockfile, which holds what the
// manifests of members require, or without one the manifests.
func (a *Adapter) decisive(f *snapshot.Files, p *project, locked bool) ([]string, error) {
	files := []string{p.root.Path, p.lock()}
	if !locked {
		members, err := a.members(f, p.root)
		if err != nil {
			return nil, err
		}
		for _, dir := range members {
			files = append(files, filepath.Join(dir, "Cargo.toml"))
		}
	}
	root := a.Files(p.root.Dir())
	configs, err := a.configsHere(root)
	if err != nil {
		return nil, err
	}
	for _, c := range configs {
		files = append(files, c.Path)
	}
	toolchain, err := a.toolchainFile(root)
	if toolchain != nil {
		files = append(files, toolchain.Path)
	}
	f.Note(root.Reads())
	slices.Sort(files)
	return files, err
}

// Install implements adapters.Adapter.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Now().Files(req.DishDir)
	p, err := a.project(f)
	if err != nil {
		return err
	}
	return a.run(ctx, req.Leave(), probe.Work{Argv: fetch(f.IsFile(p.lock())), Dir: p.root.Dir(), Env: req.Env}, log)
}

// run runs cargo for its effects. Without an environment it runs in the adapter's own.
func (a *Adapter) run(ctx context.Context, leave adapters.Leave, w probe.Work, log adapters.LogFunc) error {
	w.Env = w.Env.Or(a.env)
	return a.missing(probe.Run(ctx, leave, w, log))
}
