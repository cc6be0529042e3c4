// Package config reads bento.toml, bentos/*.toml and dish.toml into values with their positions. It
// reads no other files: callers check whether a path, a dish or an adapter exists.
//
// It reports all problems of all files at once. A faulty value keeps its default, so that the rest
// can be checked.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// The rules of the diagnostics of this package, in addition to those of tomlfile.
const (
	RuleUnreadable  = "unreadable_file"
	RuleName        = "invalid_name"
	ruleMissing     = "missing_key"
	RuleDuplicate   = "duplicate_name"
	ruleUnsupported = "unsupported_key"
	ruleIgnored     = "ignored_key"
)

// Workspace is the content of bento.toml, bentos/*.toml and bentos/adapters/*.toml.
type Workspace struct {
	Root string // absolute

	// Discover says that directories without dish.toml are dishes when an adapter detects them.
	Discover bool
	Exclude  []dish.Glob // directories to skip, relative to the root
	Include  []dish.Glob // directories that are dishes in any case, relative to the root

	Version tomlfile.At[string] // the versions of bento that the workspace works with, a range; "" for all
	Scripts map[string][]string // names of scripts by the lifecycle task that they stand for

	IgnoreKeys []string // keys of other tools, about which bento does not warn

	Boundaries []Boundary // in the order of the file

	Defaults   defaults
	Cache      cache
	RemoteExec RemoteExec
	Plugins    Plugins
	Tools      Tools
	Trust      Trust // from the user's own file only
	Toolchain  dish.Toolchain
	Bentos     []Bento   // by name
	Adapters   []Adapter // that the workspace defines, by id

	Containers Containers // from the user's own file only

	// Own is the absolute path of the user's own file, "" when there is none.
	Own        string
	Extensions map[string]Extension // by id
}

// defaults is the table [defaults].
type defaults struct {
	Parallelism int // 0: one per CPU
	FailFast    bool
	InheritEnv  bool         // env = "inherit"
	Observe     dish.Observe // ObserveAuto unless the file says another
	// ObservedInputs is the default of tasks for which dish.toml lists no inputs.
	ObservedInputs bool
	// ObservedOutputs is the default of tasks for which dish.toml lists no outputs.
	ObservedOutputs bool
	Sandbox         dish.Sandbox // "": none
	PassEnv         []string     // NAME or PREFIX_*
	Container       *dish.Container
}

// Bento is one selection of dishes.
type Bento struct {
	Name   string
	Pos    diagnostics.Pos
	Dishes []dish.Glob // paths of directories, or globs of them, relative to the root
	// Sandbox is that of the tasks of its dishes, "" when not given.
	Sandbox dish.Sandbox
}

// Load reads the configuration of the workspace at root, an absolute path free of links. It never
// returns a nil Workspace: without a usable bento.toml it returns the defaults.
//
// own is the absolute path of the user's own file, which is applied last. It may be "" or missing.
func Load(root, own string) (*Workspace, []diagnostics.Diagnostic) {
	return readSources(root, own).workspace()
}

// workspace returns the workspace that the files describe.
func (s *sources) workspace() (*Workspace, []diagnostics.Diagnostic) {
	w := &Workspace{
		Root:     s.root,
		Discover: !s.hasBentos,
		Defaults: defaults{FailFast: true, Observe: dish.ObserveAuto},
		Cache:    defaultCache(),
	}
	f, problems := s.parse(dish.WorkspaceFile)
	if f != nil {
		problems = append(problems, w.fill(f)...)
	}
	problems = append(problems, w.readLock(s)...)
	problems = append(problems, w.readOwn(s)...)
	problems = append(problems, w.loadBentos(s)...)
	problems = append(problems, w.loadAdapters(s)...)
	return w, diagnostics.Sorted(append(problems, s.problems...))
}

// Found is the place of a dish.toml.
type Found struct {
	Dir string // its directory, relative to the root; "." is the root
	// Sum is the BLAKE3 digest of its content, if it is Known.
	Sum   [32]byte
	Known bool
}

// LoadDishes reads files, or takes them from m. It returns the dishes in the same order. A dish with an unusable
// file has only its path.
func (w *Workspace) LoadDishes(files []Found, m *ParseCache) ([]*dish.Settings, []diagnostics.Diagnostic) {
	parsed := make([]*parsedDish, len(files))
	c := clone.At(w.Root)
	var g errgroup.Group
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)))
	for i, f := range files {
		if parsed[i] = m.recall(f); parsed[i] != nil {
			continue
		}
		g.Go(func() error {
			file := w.parseDish(c, f.Dir)
			parsed[i] = &file
			return nil
		})
	}
	_ = g.Wait() // the functions return no errors
	m.keep(parsed)
	dishes := make([]*dish.Settings, len(files))
	var problems []diagnostics.Diagnostic
	for i := range parsed {
		dishes[i] = &parsed[i].Value.Dish
		problems = append(problems, parsed[i].Value.Problems...)
	}
	return dishes, diagnostics.Sorted(append(problems, c.Warnings()...))
}

func unreadable(name string, err error) []diagnostics.Diagnostic {
	var large *clone.TooLargeError
	if errors.As(err, &large) {
		return []diagnostics.Diagnostic{diagnostics.Pos{File: name}.Error(tomlfile.RuleTooLarge, "the file is too large, expected at most %d bytes", large.Max)}
	}
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = perr.Err // the place includes the path
	}
	if diagnostics.IsMachineFault(err) {
		return []diagnostics.Diagnostic{diagnostics.Pos{File: name}.Error(diagnostics.RuleMachine, "the file cannot be read: %v", err).WithHint(diagnostics.MachineAdvice)}
	}
	d := diagnostics.Pos{File: name}.Error(RuleUnreadable, "the file cannot be read: %v", err)
	switch {
	case !errors.Is(err, fs.ErrPermission):
	case filepath.IsAbs(name): // the user's own
		d.Hint = "give the user who runs bento the right to read it, or set XDG_CONFIG_HOME or HOME to a directory of that user"
	default:
		d.Hint = "give the user who runs bento the right to read it"
	}
	return []diagnostics.Diagnostic{d}
}

// read reads a file of a workspace, or of the machine when c is nil, up to the size limit of the
// parser.
func read(c *clone.Clone, name string) ([]byte, error) {
	data, err := c.Read(name, tomlfile.MaxConfig)
	var odd *clone.IrregularError
	if errors.As(err, &odd) {
		err = fmt.Errorf("it is no regular file but %s", odd.Kind())
	}
	return data, err
}

func checkName(kind, name string, pos diagnostics.Pos) []diagnostics.Diagnostic {
	why := BadName(name)
	if why == "" {
		return nil
	}
	return []diagnostics.Diagnostic{pos.Error(RuleName, "%q cannot be the name of a %s: %s", name, kind, why).WithHint("use letters, digits, - and _")}
}

// dishFile returns the path of the dish.toml in a directory.
func dishFile(dir string) string { return path.Join(dir, dish.File) }
