package interpreter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// Machine returns everything that the fingerprints of a machine depend on. It is safe for concurrent
// use.
type Machine struct {
	env  adapters.Environ
	from snapshot.Source
	seen snapshot.Machine[first]
	all  snapshot.Machine[string]
}

// NewMachine returns a Machine that looks for tools in o.Env.
func NewMachine(o snapshot.Options) *Machine { return &Machine{env: o.Env, from: o.Source()} }

// Basis returns everything that Fingerprint depends on: the interpreter, and for a shim of a version
// manager also the installed interpreters and the files and variables that choose between them.
func (m *Machine) Basis(dir string) (string, error) {
	seen, err := m.seen.See(m.from, m.look)
	if err != nil || !seen.shim {
		return seen.basis, err
	}
	b := probe.NewBasis(m.env)
	m.steering(b, dir)
	return seen.basis + b.String(), nil
}

// BasisOfAll returns what the choice of a tool depends on that considers all interpreters:
// every Python on PATH, those of version managers and those of roots, which are patterns.
func (m *Machine) BasisOfAll(dir string, patterns ...string) string {
	seen, _ := m.all.See(m.from, func() (string, error) { return m.lookAtAll(patterns), nil })
	b := probe.NewBasis(m.env)
	m.steering(b, dir)
	return seen + b.String()
}

// first is the part of the basis that all directories share.
type first struct {
	basis string
	shim  bool // python3 is a shim
}

func (m *Machine) look() (first, error) {
	path, err := Find(m.env)
	if err != nil {
		return first{}, err
	}
	b := probe.NewBasis(m.env)
	b.File(path)
	shim := isShim(path)
	if shim {
		m.choices(b, filepath.Dir(filepath.Dir(path)))
		// A shim without a chosen version uses the rest of PATH.
		for _, dir := range filepath.SplitList(m.env.Get("PATH")) {
			if filepath.IsAbs(dir) {
				b.IfThere(filepath.Join(dir, "python3"))
			}
		}
	}
	return first{b.String(), shim}, nil
}

func isShim(path string) bool { return filepath.Base(filepath.Dir(path)) == "shims" }

// choices adds the interpreters that pyenv, asdf and mise choose from. root is the home of
// the version manager.
func (m *Machine) choices(b *probe.Basis, root string) {
	if home := m.env.Get("PYENV_ROOT"); home != "" {
		root = home
	}
	b.File(filepath.Join(root, "version"))
	for _, pattern := range []string{"versions/*/bin/python3", "installs/python/*/bin/python3"} {
		matches(b, filepath.Join(root, pattern))
	}
}

func matches(b *probe.Basis, pattern string) {
	found, _ := filepath.Glob(pattern)
	for _, path := range found {
		b.File(path)
	}
}

func (m *Machine) lookAtAll(patterns []string) string {
	b := probe.NewBasis(m.env)
	for _, dir := range filepath.SplitList(m.env.Get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range pythons(dir) {
			b.File(filepath.Join(dir, name))
		}
		if filepath.Base(dir) == "shims" {
			m.choices(b, filepath.Dir(dir))
		}
	}
	for _, pattern := range patterns {
		matches(b, pattern)
	}
	return b.String()
}

// pythons returns the names of interpreters in dir: python, python3, python3.12, pypy3.
func pythons(dir string) []string {
	file, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0) // waits for no named pipe
	if err != nil {
		return nil
	}
	defer file.Close()
	all, _ := file.Readdirnames(-1)
	var names []string
	for _, name := range all {
		if rest, ok := strings.CutPrefix(name, "python"); (ok || strings.HasPrefix(name, "pypy")) && !strings.Contains(rest, "-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// steering adds the files that version managers read in dir and above, up to the root of
// the file system, and at home.
func (m *Machine) steering(b *probe.Basis, dir string) {
	b.Env("PYENV_VERSION", "PYENV_ROOT", "PYENV_DIR", "ASDF_PYTHON_VERSION", "MISE_PYTHON_VERSION", "MISE_ENV")
	b.Above(dir, append(probe.ManagerFiles(), ".python-version")...)
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
}
