package node

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/modules"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// maxErrors is how many lines of npm's errors are reported.
const maxErrors = 20

// InstallScope returns the root of the workspace that dir is a member of, else dir.
func (a *Adapter) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	p, err := a.Open(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	s := adapters.Scope{Dir: p.Scope()}
	left, err := a.traces(f, s.Dir)
	if err != nil {
		return adapters.Scope{}, err
	}
	s.Made = left.made
	if !left.plain {
		s.Made = modules.Made(f, s.Dir, left.made)
	}
	basis := a.basisOf(f, p)
	s.Files, s.Copied = basis.files, basis.copied
	s.Nothing = !left.always && p.Space == nil && len(p.Dependencies) == 0
	argv, err := a.installArgs(f, s.Dir)
	if err != nil {
		return adapters.Scope{}, err
	}
	s.Command = a.selection() + commandLine(argv)
	s.Reads = f.Reads()
	return s, nil
}

// selection returns the variables that decide which dependencies an install leaves out, as
// a prefix of the command. With others, the install is another one.
func (a *Adapter) selection() string {
	var b strings.Builder
	for _, name := range []string{"NODE_ENV", "npm_config_include", "npm_config_omit", "npm_config_production", "NPM_CONFIG_PRODUCTION", "YARN_PRODUCTION"} {
		if v := a.env.Get(name); v != "" {
			b.WriteString(name + "=" + adapters.Quote(v) + " ")
		}
	}
	return b.String()
}

// deciding is what decides an install.
type deciding struct {
	files  []string
	copied []adapters.Copied
}

// basisOf returns what decides the install of a package or workspace. Its members share it.
func (a *Adapter) basisOf(f *snapshot.Files, p *project.Project) deciding {
	basis, _ := a.installs.Get(f, p.Scope(), func(f *snapshot.Files) (deciding, error) {
		dir := f.Dir()
		root, err := a.Read(f, dir)
		if err != nil {
			return deciding{}, err
		}
		files := append([]string{filepath.Join(dir, project.File)}, a.deciding(f, dir)...)
		space, err := a.SpaceAt(f, dir) // p.Space does not do: f has not noted its files
		if err != nil {
			return deciding{}, err
		}
		var members []string
		if space != nil {
			members = a.Members(f, space)
		}
		for _, member := range members {
			files = append(files, filepath.Join(member, project.File))
		}
		if root != nil {
			for _, d := range root.Dependencies {
				if target := fileTarget(dir, d.Value); target != "" {
					files = append(files, manifestOf(target))
				}
			}
		}
		return deciding{slices.Clip(files), slices.Clip(a.copied(f, dir, members))}, nil
	})
	return basis
}

// deciding returns the files besides manifests that decide the install in dir: the
// lockfile, and settings with the files that they name.
func (a *Adapter) deciding(f *snapshot.Files, dir string) []string {
	var files []string
	for _, name := range a.locks {
		files = append(files, filepath.Join(dir, name))
	}
	for _, name := range a.settings {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if !isDirectory(name) {
			files = append(files, path)
			continue
		}
		for _, e := range f.List(path) {
			if !e.IsDir() {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	return files
}

// isDirectory reports whether a setting is a directory of files.
func isDirectory(name string) bool { return filepath.Ext(name) == "" }

// manifestOf returns the manifest of a dependency by path.
func manifestOf(target string) string {
	if isArchive(target) {
		return target
	}
	return filepath.Join(target, project.File)
}

// lockOf returns the lockfile in dir, or "".
func (a *Adapter) lockOf(f *snapshot.Files, dir string) string {
	for _, name := range a.locks {
		if path := filepath.Join(dir, name); f.IsFile(path) {
			return path
		}
	}
	return ""
}

// installArgs returns the command without the path of the manager. An empty lockfile locks
// nothing: for the later yarns it marks the root of a project.
func (a *Adapter) installArgs(f *snapshot.Files, dir string) ([]string, error) {
	lock := a.lockOf(f, dir)
	if lock != "" && f.State(f.Whole(lock), true).IsEmpty() {
		lock = ""
	}
	return a.install(f, dir, lock != "")
}

func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = adapters.Quote(arg)
	}
	return strings.Join(quoted, " ")
}

// Install runs the manager in the scope's directory, and repairs an interrupted install.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Now().Files(req.DishDir)
	p, err := a.Open(f)
	if err != nil {
		return err
	}
	left, err := a.traces(f, p.Scope())
	if err != nil {
		return err
	}
	argv, err := a.installArgs(f, p.Scope())
	if err != nil {
		return err
	}
	if _, err := a.tools.Find(req.Env, argv[0]); err != nil {
		return err
	}
	in := modules.Install{Source: a.Source, Dir: p.Scope(), Known: left.made, Mark: left.mark, Discard: req.Force, Claims: req.Claims, Log: log}
	if copied := a.basisOf(f, p).copied; len(copied) > 0 {
		in.Discard = in.Discard || slices.ContainsFunc(copied, func(c adapters.Copied) bool { return !c.Scripts })
		if a.again != nil {
			argv = a.again(argv)
		}
	}
	if p.Space != nil {
		in.Members = a.Members(f, p.Space)
	}
	if left.plain {
		return a.runTool(ctx, req.Leave(), probe.Work{Argv: argv, Dir: in.Dir, Env: req.Env}, log)
	}
	if err := in.Begin(); err != nil {
		return err
	}
	defer req.Claims.End()
	if in.TracksAny() {
		argv = gentle(argv)
	}
	if err := a.runTool(ctx, req.Leave(), probe.Work{Argv: argv, Dir: in.Dir, Env: req.Env}, log); err != nil {
		return err
	}
	return in.End()
}

// gentle returns the command for directories with files that git tracks: "npm ci" empties them.
func gentle(argv []string) []string {
	if slices.Equal(argv, []string{"npm", "ci"}) {
		return []string{"npm", "install", "--no-save"}
	}
	return argv
}

// runTool runs the manager for its effects. The first word is found on PATH.
func (a *Adapter) runTool(ctx context.Context, leave adapters.Leave, w probe.Work, log adapters.LogFunc) error {
	path, err := a.tools.Find(w.Env, w.Argv[0])
	if err != nil {
		return err
	}
	filter := &usageFilter{log: log}
	w.Shown = commandLine(w.Argv)
	w.Argv = slices.Concat([]string{path}, w.Argv[1:])
	w.Env = w.Env.With(a.manifest.SetEnv)
	err = probe.Run(ctx, leave, w, filter.take)
	var failed *adapters.InstallError
	if errors.As(err, &failed) && len(filter.errors) > 0 {
		failed.Detail = strings.Join(filter.errors, "\n")
	}
	return err
}

// usageFilter drops the usage that npm prints after an error.
type usageFilter struct {
	log    adapters.LogFunc
	errors []string
	usage  bool
}

func (u *usageFilter) take(l adapters.Log) {
	text, isError := strings.CutPrefix(l.Message, "npm error")
	if !isError {
		text, isError = strings.CutPrefix(l.Message, "npm ERR!")
	}
	text = strings.TrimSpace(text)
	if isError && text == "Usage:" {
		u.usage = true
	}
	if isError && u.usage {
		return
	}
	if isError && text != "" && len(u.errors) < maxErrors {
		u.errors = append(u.errors, text)
	}
	if u.log != nil {
		u.log(l)
	}
}
