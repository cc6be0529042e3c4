// Package config reads bento.toml, bentos/*.toml and dish.toml into values that
// remember where they were written. It looks at nothing but these files: whether
// a path, a dish or an adapter exists is for others to find out.
//
// All problems of all files are told at once; what a problem spoils keeps its
// default, so that the rest can still be looked at.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config/mode"
	"github.com/bentobuild/bento/internal/config/parsed"
	"github.com/bentobuild/bento/internal/config/unit"
	"github.com/bentobuild/bento/internal/config/word"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// The names of the files.
const (
	WorkspaceFile = "bento.toml"
	BentosDir     = "bentos"
	DishFile      = "dish.toml"
)

// The rules of the diagnostics of this package, beside those of tomlfile.
const (
	RuleUnreadable  = "unreadable_file"
	RuleInvalid     = unit.Rule
	RulePath        = word.RulePath
	RuleGlob        = word.RuleGlob
	RuleName        = "invalid_name"
	RuleMissing     = "missing_key"
	RuleDuplicate   = "duplicate_name"
	RuleUnsupported = "unsupported_key"
	RuleIgnored     = "ignored_key"
)

// Pos is where something is written. Its File is relative to the workspace.
type Pos = tomlfile.Pos

// Text is a string and where it is written.
type Text struct {
	Text string
	Pos  Pos
}

// Workspace is what bento.toml and bentos/*.toml say.
type Workspace struct {
	Root string // absolute

	// Discover says that directories without dish.toml are dishes when an adapter
	// detects them.
	Discover bool
	Exclude  []Glob // relative to the root, of directories that are not discovered

	Defaults  Defaults
	Cache     Cache
	Plugins   Plugins
	Toolchain Toolchain
	Bentos    []Bento // by name

	// Own is the absolute path of the user's own file, "" where there is none.
	Own        string
	Extensions []Extension // of the user's own file, in its order
}

// Defaults is the table [defaults].
type Defaults struct {
	Parallelism int // 0: one a CPU
	FailFast    bool
	InheritEnv  bool     // env = "inherit"
	PassEnv     []string // NAME or PREFIX_*
}

// Bento is one selection of dishes.
type Bento struct {
	Name   string
	Pos    Pos
	Dishes []Glob // paths of directories, or globs of them, relative to the root
}

// Load reads the configuration of the workspace at root, an absolute path free of
// links. The workspace is never nil: without bento.toml, or where that cannot be used,
// it has the defaults.
func Load(root string) (*Workspace, []diagnostics.Diagnostic) { return LoadWith(root, "") }

// LoadWith is Load with the user's own file, an absolute path, on top. There need not
// be a file; "" names none.
func LoadWith(root, own string) (*Workspace, []diagnostics.Diagnostic) {
	return readSources(root, own).workspace()
}

// workspace makes what the files say.
func (s *sources) workspace() (*Workspace, []diagnostics.Diagnostic) {
	w := &Workspace{
		Root:     s.root,
		Discover: !s.hasBentos,
		Defaults: Defaults{FailFast: true},
		Cache:    Cache{Mode: mode.All()},
	}
	f, problems := s.parse(WorkspaceFile)
	if f != nil {
		problems = append(problems, w.fill(f)...)
	}
	problems = append(problems, w.Plugins.readLock(s)...)
	problems = append(problems, w.readOwn(s)...)
	problems = append(problems, w.loadBentos(s)...)
	return w, diagnostics.Sorted(append(problems, s.problems...))
}

// Found is a dish.toml that was found.
type Found struct {
	Dir string // that it is in, relative to the root; "." is the root
	// Sum is the BLAKE3 digest of its content, if it is Known.
	Sum   [32]byte
	Known bool
}

// LoadDishes reads files, of which m may know something. The dishes come in their
// order; one whose file cannot be used is there with its path only.
func (w *Workspace) LoadDishes(files []Found, m *Memory) ([]Dish, []diagnostics.Diagnostic) {
	parsed := make([]parsed.File[dishOf], len(files))
	c := clone.At(w.Root)
	var g errgroup.Group
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)))
	for i, f := range files {
		var ok bool
		if parsed[i], ok = m.recall(f); ok {
			continue
		}
		g.Go(func() error {
			parsed[i] = w.parseDish(c, f.Dir)
			return nil
		})
	}
	_ = g.Wait() // the functions give no errors
	m.keep(parsed)
	dishes := make([]Dish, len(files))
	var problems []diagnostics.Diagnostic
	for i := range parsed {
		dishes[i] = parsed[i].Value.Dish
		problems = append(problems, parsed[i].Value.Problems...)
	}
	return dishes, diagnostics.Sorted(append(problems, c.Warnings()...))
}

func unreadable(name string, err error) []diagnostics.Diagnostic {
	var large *clone.TooLargeError
	if errors.As(err, &large) {
		return []diagnostics.Diagnostic{Pos{File: name}.Error(tomlfile.RuleTooLarge, "the file is too large, expected at most %d bytes", large.Max)}
	}
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = perr.Err // the place says the path already
	}
	if diagnostics.IsMachineFault(err) {
		d := Pos{File: name}.Error(diagnostics.RuleMachine, "the file cannot be read: %v", err)
		d.Hint = diagnostics.MachineAdvice
		return []diagnostics.Diagnostic{d}
	}
	return []diagnostics.Diagnostic{Pos{File: name}.Error(RuleUnreadable, "the file cannot be read: %v", err)}
}

// read reads a file of a workspace, or of the machine where c is nil, as far as the
// parser takes it.
func read(c *clone.Clone, name string) ([]byte, error) {
	data, err := c.Read(name, tomlfile.MaxConfig)
	var odd *clone.IrregularError
	if errors.As(err, &odd) {
		err = fmt.Errorf("it is no regular file but %s", odd.Kind())
	}
	return data, err
}

// BadName tells why name cannot be that of a dish or bento, "" when it can.
func BadName(name string) string { return word.BadName(name) }

func checkName(kind, name string, pos Pos) []diagnostics.Diagnostic {
	why := BadName(name)
	if why == "" {
		return nil
	}
	d := pos.Error(RuleName, "%q cannot be the name of a %s: %s", name, kind, why)
	d.Hint = "use letters, digits, - and _"
	return []diagnostics.Diagnostic{d}
}

// dishFile names the dish.toml of a dish's path.
func dishFile(dish string) string { return path.Join(dish, DishFile) }
