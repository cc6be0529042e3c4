package deno

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// command installs what the lockfile names; without a lockfile bento installs nothing.
const command = "deno install --frozen=true"

// InstallScope returns the root of the workspace that dir is a member of, else dir.
func (a *Adapter) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	s := adapters.Scope{Dir: p.scope(), Command: command}
	lock, l := a.lockOf(f, p)
	s.Nothing = lock == "" || ignores(f, lock) || l.lock != nil && !l.lock.HasNPM && !l.lock.HasRemote
	s.Made = a.made(f, p, l)
	for _, dir := range append([]string{s.Dir}, a.membersOf(f, p.root)...) {
		for _, name := range append(configNames(), "package.json") {
			s.Files = append(s.Files, filepath.Join(dir, name))
		}
	}
	s.Files = append(s.Files, filepath.Join(s.Dir, ".npmrc"))
	for _, path := range []string{p.root.Lock, p.root.ImportMap} {
		if path != "" {
			s.Files = append(s.Files, path)
		}
	}
	s.Reads = f.Reads()
	return s, nil
}

// ignores reports whether the .gitignore beside a lockfile names it. Such a lockfile holds only
// what the commands so far have resolved, and --frozen would refuse it.
func ignores(f *snapshot.Files, lock string) bool {
	data, err := f.ReadIfExists(filepath.Join(filepath.Dir(lock), ".gitignore"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if strings.TrimPrefix(strings.TrimSpace(line), "/") == filepath.Base(lock) {
			return true
		}
	}
	return false
}

// made returns the paths that an install leaves: packages in Deno's directory, and those of
// npm in node_modules where the project sets it or has a package.json.
func (a *Adapter) made(f *snapshot.Files, p *project, l lockfile) []string {
	var made []string
	switch {
	case l.lock == nil:
		return nil
	case l.lock.HasNPM && (p.root.NodeModules || f.IsFile(filepath.Join(p.scope(), "package.json"))):
		made = append(made, "node_modules")
	case l.lock.HasNPM:
		made = append(made, filepath.Join(a.denoDir(), "npm"))
	}
	if l.lock.HasRemote {
		made = append(made, filepath.Join(a.denoDir(), "remote"))
	}
	return made
}

// denoDir returns the directory of Deno's downloads.
func (a *Adapter) denoDir() string {
	if dir := a.env.Get("DENO_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	if dir := a.env.Get("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "deno")
	}
	return filepath.Join(a.env.Get("HOME"), cacheDir, "deno")
}

// Install fetches what the lockfile names. Deno itself repairs an interrupted install.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Now().Files(req.DishDir)
	p, err := a.open(f)
	if err != nil {
		return err
	}
	argv := strings.Fields(command)
	if req.Force {
		argv = append(argv, "--reload")
	}
	return a.run(ctx, req.Leave(), probe.Work{Argv: argv, Dir: p.scope(), Env: req.Env}, log)
}

// run runs Deno for its effects.
func (a *Adapter) run(ctx context.Context, leave adapters.Leave, w probe.Work, log adapters.LogFunc) error {
	env := w.Env
	w.Env = env.With(a.manifest.SetEnv).With(plain())
	return missing(probe.Run(ctx, leave, w, log), env)
}

// Add runs `deno add`. The names of packages state the registry: "jsr:@std/path", "npm:ms".
// Deno has development dependencies only in a package.json.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	argv := []string{"deno", "add"}
	if req.Dev {
		if !a.Now().Files(req.DishDir).IsFile("package.json") {
			return &adapters.Unsupported{Adapter: id, What: "adding packages for development only", Hint: "add them without --dev"}
		}
		argv = append(argv, "--dev")
	}
	return a.run(ctx, req.Leave(), probe.Work{Argv: append(argv, req.Packages...), Dir: req.DishDir, Env: req.Env}, log)
}
