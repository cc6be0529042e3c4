package python

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// mark is written last into a virtual environment. One without it is unfinished:
// pip takes what a killed pip left for installed.
const mark = ".venv/.bento-installed"

// InstallScope gives dir itself: each project has its own virtual environment.
func (a *Adapter) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	f := adapters.NewFiles(dir)
	p, err := open(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	locals := p.locals(f)
	s := adapters.Scope{
		Dir:     dir,
		Made:    []string{mark, venvBin + "/python"},
		Nothing: p.nothing(),
		Command: commandLine(dir, p.commands(locals)),
	}
	for _, name := range manifests() {
		s.Files = append(s.Files, filepath.Join(dir, name))
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
		for _, name := range manifests() {
			s.Files = append(s.Files, filepath.Join(l.path, name))
		}
	}
	slices.Sort(s.Files)
	s.Files = slices.Compact(s.Files)
	s.Reads = f.Reads()
	return s, nil
}

// manifests are the files that say what a project needs.
func manifests() []string { return []string{"pyproject.toml", "setup.cfg", "setup.py"} }

// commands gives the arguments of each run of pip.
func (p *project) commands(locals []local) [][]string {
	hashed, rest := []string{"install", "--require-hashes"}, []string{"install"}
	for _, file := range p.take {
		if file.Hashed {
			hashed = append(hashed, "-r", file.name)
		} else {
			rest = append(rest, "-r", file.name)
		}
	}
	var list [][]string
	if len(hashed) > 2 {
		list = append(list, hashed)
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
		if len(list) > 0 && len(rest) == plain && len(p.extras) == 0 {
			rest = append(rest, "--no-deps") // the hashed file is to have all of them
		}
		rest = append(rest, "-e", p.selfTarget())
	}
	if len(rest) > 1 {
		list = append(list, rest)
	}
	return append(list, p.relink(locals)...)
}

func (p *project) selfTarget() string {
	if len(p.extras) == 0 {
		return "."
	}
	return ".[" + strings.Join(p.extras, ",") + "]"
}

// singles are requirements that are given to pip one by one: those of groups, and
// of a project that is not installed itself.
func (p *project) singles() []string {
	var out []string
	add := func(text string) {
		// What begins like an option must not reach pip as one.
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

// relink makes the projects that pip copied editable: of a copy a task would see
// the sources as they were when it was installed.
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

// commandLine gives all that is done, for a shell. The environment stands there
// as an absolute path, for one that was moved has to be made again.
func commandLine(dir string, commands [][]string) string {
	lines := []string{"python3 -m venv " + quote(filepath.Join(dir, venv))}
	for _, args := range commands {
		line := venvBin + "/python -m pip"
		for _, arg := range args {
			line += " " + quote(arg)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " && ")
}

// quote makes one word for the shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.:/@+,=%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Install makes the virtual environment from nothing, whatever was there: pip
// neither repairs what an interrupted install left nor removes what is no longer
// asked for.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := adapters.NewFiles(req.DishDir)
	p, err := open(f)
	if err != nil {
		return err
	}
	env := installEnv(req.Env).With(a.manifest.SetEnv)
	python, err := ask(ctx, env, p.dir, locate)
	if err != nil {
		return err
	}
	locals := p.locals(f)
	unlock, err := a.lock(ctx, p.dir, locals)
	if err != nil {
		return err
	}
	defer unlock()
	if err := clearVenv(p.dir, log); err != nil {
		return err
	}
	i := installer{dir: p.dir, env: env, log: log}
	if err := i.run(ctx, python, "-m", "venv", venv); err != nil {
		return err
	}
	for _, args := range p.commands(locals) {
		if err := i.run(ctx, filepath.Join(p.dir, venvBin, "python"), slices.Concat([]string{"-m", "pip"}, args)...); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(p.dir, mark), []byte("made by bento with "+python+"\n"), 0o644); err != nil {
		return fmt.Errorf("mark the install of %q: %w", p.dir, err)
	}
	return nil
}

// installEnv leaves out what would lead pip to another place than the virtual
// environment.
func installEnv(env adapters.Environ) adapters.Environ {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "VIRTUAL_ENV"}, name)
	})
}

// clearVenv removes the virtual environment, its mark first.
func clearVenv(dir string, log adapters.LogFunc) error {
	err := os.Remove(filepath.Join(dir, mark))
	if _, statErr := os.Lstat(filepath.Join(dir, venv)); err != nil && statErr == nil && log != nil {
		log(adapters.Log{Level: "warn", Message: venv + " has no mark of a finished install, it is made anew"})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, venv)); err != nil {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	return nil
}

// installer runs the commands of one install.
type installer struct {
	dir string
	env adapters.Environ
	log adapters.LogFunc
}

func (i *installer) run(ctx context.Context, path string, args ...string) error {
	out := adapters.NewTranscript(i.log)
	res, err := proc.Run(ctx, proc.Spec{
		Argv: slices.Concat([]string{path}, args), Dir: i.dir, Env: i.env,
		Stdout: out.Stdout(), Stderr: out.Stderr(),
	})
	out.Close()
	switch {
	case err != nil:
		return err
	case res.Canceled:
		return context.Cause(ctx)
	case res.ExitCode != 0:
		words := []string{strings.TrimPrefix(path, i.dir+"/")}
		for _, arg := range args {
			words = append(words, quote(arg))
		}
		return &adapters.InstallError{Command: strings.Join(words, " "), ExitStatus: res.ExitCode, Detail: out.Tail()}
	}
	return nil
}

// lock keeps installs apart that build in the same directory, in one order for
// all, so that none waits for another in turn.
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

// source gives the channel that whoever builds in dir fills.
func (a *Adapter) source(dir string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sources[dir] == nil {
		a.sources[dir] = make(chan struct{}, 1)
	}
	return a.sources[dir]
}
