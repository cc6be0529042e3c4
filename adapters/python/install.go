package python

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/interpreter"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// InstallScope returns dir itself: each project has its own virtual environment.
func (a *Adapter) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	p, err := open(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	locals := p.locals(f)
	s := adapters.Scope{
		Dir:     dir,
		Made:    []string{environment.Mark, environment.Python},
		Nothing: p.nothing(),
		Command: environment.CommandLine(dir, p.steps(locals)),
	}
	for _, name := range pyproject.Manifests() {
		s.Files = append(s.Files, filepath.Join(dir, name))
	}
	if p.poetry {
		s.Files = append(s.Files, filepath.Join(dir, poetryLock), filepath.Join(dir, "poetry.toml"))
	}
	for _, file := range p.take {
		s.Files = append(s.Files, file.Files...)
	}
	normal, dev := p.asked()
	for _, r := range slices.Concat(normal, dev) {
		if r.IsArchive() {
			s.Files = append(s.Files, r.Path)
		}
	}
	for _, l := range locals {
		for _, name := range pyproject.Manifests() {
			s.Files = append(s.Files, filepath.Join(l.path, name))
		}
	}
	s.Copied = p.compiled(f, locals)
	slices.Sort(s.Files)
	s.Files = slices.Compact(s.Files)
	s.Reads = f.Reads()
	return s, nil
}

// compiled returns the projects that an install builds from their sources or copies: those with
// extensions, and with poetry those that are not installed for development.
func (p *project) compiled(f *snapshot.Files, locals []local) (list []adapters.Copied) {
	if p.canBuild() && p.Compiles(f) {
		list = append(list, adapters.Copied{Dir: p.dir})
	}
	for _, l := range locals {
		below := f.In(l.path)
		other, err := pyproject.Read(below)
		if p.poetry && !l.editable || err == nil && other.Compiles(below) {
			list = append(list, adapters.Copied{Dir: l.path})
		}
		f.Note(below.Reads())
	}
	return list
}

// commands returns the arguments of each run of pip. Pinned files come before the project: pip
// refuses to resolve pins together with a project that they contain, or that needs another version
// of one of them.
func (p *project) commands(locals []local) [][]string {
	hashed, pinned, rest := []string{"install", "--require-hashes"}, []string{"install"}, []string{"install"}
	for _, file := range p.take {
		switch {
		case file.Hashed:
			hashed = append(hashed, "-r", file.name)
		case p.self && file.Pinned():
			pinned = append(pinned, "-r", file.name)
		default:
			rest = append(rest, "-r", file.name)
		}
	}
	var list [][]string
	if len(hashed) > 2 {
		list = append(list, hashed)
	}
	if len(pinned) > 1 {
		list = append(list, pinned)
	}
	plain := len(rest)
	rest = append(rest, p.single...)
	rest = append(rest, p.singles()...)
	for _, l := range locals {
		if l.unknown {
			rest = append(rest, "-e", relative(p.dir, l.path))
		}
	}
	if p.self {
		if len(hashed) > 2 && len(rest) == plain && len(p.extras) == 0 {
			rest = append(rest, "--no-deps") // the hashed file lists all packages
		}
		rest = append(rest, "-e", p.selfTarget())
	}
	if len(rest) > 1 {
		list = append(list, rest)
	}
	return append(list, p.relink(locals)...)
}

// notes returns notes with the files of an install, in order.
func (p *project) notes() []string {
	if p.poetry || len(p.take) == 0 {
		return nil
	}
	var first, with []string
	for _, file := range p.take {
		if file.Hashed || p.self && file.Pinned() {
			first = append(first, file.name)
		} else {
			with = append(with, file.name)
		}
	}
	switch {
	case len(first) == 0:
		return []string{"an install takes " + strings.Join(with, ", ")}
	case !p.self && len(with) == 0:
		return []string{"an install takes the pins of " + strings.Join(first, ", ")}
	case p.self:
		with = append(with, "the project")
	}
	return []string{"an install takes the pins of " + strings.Join(first, ", ") + " first, then " + strings.Join(with, ", ")}
}

func (p *project) selfTarget() string {
	if len(p.extras) == 0 {
		return "."
	}
	return ".[" + strings.Join(p.extras, ",") + "]"
}

// singles returns the requirements that pip gets one by one: those of groups, and of a
// project that is not installed itself.
func (p *project) singles() []string {
	var out []string
	add := func(text string) {
		// A requirement that begins like an option must not reach pip.
		if !strings.HasPrefix(text, "-") && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if !p.self {
		for _, r := range p.Dependencies {
			add(r.Text)
		}
	}
	for _, g := range p.groups {
		for _, r := range g.Requirements {
			add(r.Text)
		}
	}
	return out
}

// relink returns commands that install copied projects as editable: from a copy a task
// would read the sources of the time of the install.
func (p *project) relink(locals []local) [][]string {
	args := []string{"install", "--no-deps"}
	if p.copied {
		args = append(args, "-e", ".")
	}
	for _, l := range locals {
		if !l.editable && !l.unknown {
			args = append(args, "-e", relative(p.dir, l.path))
		}
	}
	if len(args) == 2 {
		return nil
	}
	return [][]string{args}
}

// steps returns the commands of an install.
func (p *project) steps(locals []local) [][]string {
	if p.poetry {
		// Poetry installs without pip, into the existing environment.
		return [][]string{{environment.BasePython, "-m", "venv", "--without-pip", environment.Dir}, p.poetryInstall()}
	}
	steps := [][]string{{environment.BasePython, "-m", "venv", environment.Dir}}
	for _, args := range p.commands(locals) {
		steps = append(steps, slices.Concat([]string{environment.Python, "-m", "pip"}, args))
	}
	return steps
}

// Install makes the virtual environment from scratch: pip neither repairs an interrupted install
// nor removes packages that are no longer required.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Now().Files(req.DishDir)
	p, err := open(f)
	if err != nil {
		return err
	}
	env := environment.ForInstall(req.Env).With(a.manifest.SetEnv)
	python, err := a.locate(ctx, req, env, p.dir)
	if err != nil {
		return err
	}
	locals := p.locals(f)
	unlock, err := a.lock(ctx, p.dir, locals)
	if err != nil {
		return err
	}
	defer unlock()
	if err := environment.Begin(a.Source, req.Claims, p.dir, log); err != nil {
		return err
	}
	defer req.Claims.End()
	i := environment.Installer{Leave: req.Leave(), Dir: p.dir, Env: env, Python: python, Log: log}
	for _, step := range p.steps(locals) {
		if err := i.Run(ctx, step); err != nil {
			return err
		}
	}
	return environment.WriteMark(a.Source, p.dir, environment.Made+python+"\n")
}

// locate returns the interpreter that makes the environment. It uses the same probe as the
// fingerprint, so that both mean the same interpreter.
func (a *Adapter) locate(ctx context.Context, req adapters.InstallRequest, env adapters.Environ, dir string) (string, error) {
	path, err := interpreter.Find(env)
	if err != nil {
		return "", err
	}
	asker, at := probe.New(a.Source, env), probe.At{Dir: dir, Path: path}
	python, err := interpreter.Locate(ctx, asker, at)
	var late *adapters.KnownAtRun
	if errors.As(err, &late) {
		at.Leave = req.Leave()
		return interpreter.Locate(ctx, asker, at)
	}
	return python, err
}

// lock serializes installs that build in the same directory. All lock in one order, so that
// none waits for another in a cycle.
func (a *Adapter) lock(ctx context.Context, dir string, locals []local) (unlock func(), err error) {
	dirs := []string{dir}
	for _, l := range locals {
		dirs = append(dirs, l.path)
	}
	slices.Sort(dirs)
	var held []chan struct{}
	unlock = func() {
		for _, c := range held {
			<-c
		}
	}
	for _, dir := range slices.Compact(dirs) {
		c := a.source(dir)
		select {
		case c <- struct{}{}:
			held = append(held, c)
		case <-ctx.Done():
			unlock()
			return nil, context.Cause(ctx)
		}
	}
	return unlock, nil
}

// source returns the channel that is full while an install builds in dir.
func (a *Adapter) source(dir string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sources[dir] == nil {
		a.sources[dir] = make(chan struct{}, 1)
	}
	return a.sources[dir]
}
