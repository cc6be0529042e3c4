package uv

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// InstallScope returns the root of the workspace, whose members share an environment.
func (a *Adapter) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	s := adapters.Scope{Dir: p.Dir, Made: []string{environment.Mark, environment.Python}, Command: environment.CommandLine(p.Dir, [][]string{p.sync(f)})}
	for _, name := range []string{"pyproject.toml", lockName, settings, ".python-version"} {
		s.Files = append(s.Files, filepath.Join(p.Dir, name))
	}
	for _, m := range p.Members {
		for _, name := range pyproject.Manifests() {
			s.Files = append(s.Files, filepath.Join(m.Dir, name))
		}
		for _, r := range m.Sources {
			if r.IsArchive() {
				s.Files = append(s.Files, r.Path)
				continue
			}
			for _, name := range pyproject.Manifests() {
				s.Files = append(s.Files, filepath.Join(r.Path, name))
			}
		}
	}
	for _, b := range p.built(f) {
		s.Copied = append(s.Copied, adapters.Copied{Dir: b.dir})
	}
	slices.Sort(s.Files)
	s.Files = slices.Compact(s.Files)
	s.Reads = f.Reads()
	return s, nil
}

// sync returns the command: it installs all members at once, with the groups and extras of
// recipes' tools. With --locked uv refuses a lockfile that does not match the manifests,
// which --frozen would accept.
func (p *project) sync(f *snapshot.Files) []string {
	args := []string{"uv", "sync", "--all-packages"}
	if f.IsFile(filepath.Join(p.Dir, lockName)) {
		args = append(args, "--locked")
	}
	groups, extras := p.Asked()
	for _, group := range groups {
		args = append(args, "--group="+group)
	}
	for _, extra := range extras {
		args = append(args, "--extra="+extra)
	}
	return args
}

// Install runs uv, which updates the environment. An environment of an interrupted or
// forced install, or of another interpreter, is made from scratch: uv repairs nothing that it believes
// to be installed. In one that bento has not made, uv replaces every package instead.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Now().Files(req.DishDir)
	p, err := a.open(f)
	if err != nil {
		return err
	}
	env := environment.ForInstall(req.Env).With(a.manifest.SetEnv)
	with := "uv\n"
	python, err := a.pythonForInstall(ctx, p, req)
	var refused *probe.Refusal
	if errors.As(err, &refused) && !a.download {
		return &adapters.InstallError{Command: refused.Command, ExitStatus: refused.ExitStatus, Detail: refused.Stderr}
	} else if err != nil && refused == nil {
		return err
	}
	sync := p.sync(f)
	if err == nil {
		with = "uv and " + python + "\n"
		sync = append(sync, "--python", python)
	}
	made, err := environment.Renew(a.Source, req.Claims, p.Dir, with, req.Force, log)
	if err != nil {
		return err
	}
	defer req.Claims.End()
	if made.Repair {
		sync = append(sync, "--reinstall")
	}
	for _, b := range p.built(f) {
		// uv looks at the manifest alone, here and in its cache.
		sync = append(sync, "--reinstall-package="+b.name)
	}
	i := environment.Installer{Leave: req.Leave(), Dir: p.Dir, Env: env, Log: log}
	if err := i.Run(ctx, sync); err != nil {
		return err
	}
	return environment.WriteMark(a.Source, p.Dir, made.Mark)
}

// pythonForInstall finds the interpreter with the same probe as the fingerprint, so that
// both mean the same one.
func (a *Adapter) pythonForInstall(ctx context.Context, p *project, req adapters.InstallRequest) (string, error) {
	env, at := req.Env.With(a.manifest.SetEnv), probe.At{Dir: p.Dir}
	python, err := a.findPython(ctx, p, env, at)
	var late *adapters.KnownAtRun
	if errors.As(err, &late) {
		at.Leave = req.Leave()
		return a.findPython(ctx, p, env, at)
	}
	return python, err
}

// Add runs `uv add`, which writes manifest and lockfile. The next install installs the
// packages.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	args := []string{"uv", "add", "--no-sync"}
	if req.Dev {
		args = append(args, "--dev")
	}
	i := environment.Installer{Leave: req.Leave(), Dir: req.DishDir, Env: environment.ForInstall(req.Env).With(a.manifest.SetEnv), Log: log}
	return i.Run(ctx, slices.Concat(args, []string{"--"}, req.Packages))
}

// Scaffold implements adapters.Scaffolder: a package with a test, marked as managed by uv.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	return environment.ScaffoldFiles(name, "\n[tool.uv]\nmanaged = true\n"), nil
}
