// Package gomod reads go.mod, go.work and go.sum, with the places of their entries.
// https://go.dev/ref/mod describes them.
package gomod

import (
	"errors"
	"go/version"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// Module is a parsed go.mod, https://go.dev/ref/mod#go-mod-file.
type Module struct {
	Name     string
	Demand   Demand
	Requires []Require
	Replaces []Replace
	Instead  []string // modules that replace others
	Tools    []string // package paths
	Ignores  []string // as written
}

// Demand is the versions of go that a file requires, with their lines.
type Demand struct {
	File          string
	GoVersion     string // "1.22"
	GoLine        int
	Toolchain     string // "go1.22.3"
	ToolchainLine int
}

// Require is a module that go.mod requires.
type Require struct {
	Path, Version string
	Line          int
}

// Replace is a replace directive that leads to a directory.
type Replace struct {
	Path string // of the module
	Dir  string // absolute
	File string
	Line int
}

// Work is a parsed go.work, https://go.dev/ref/mod#go-work-file.
type Work struct {
	File     string
	Demand   Demand
	Uses     []string // absolute directories, in order
	Replaces []Replace
	Instead  []string
}

// Dir returns the directory of the go.work.
func (w *Work) Dir() string { return filepath.Dir(w.File) }

// ParseModule reads a go.mod. A malformed one is a diagnostics.Problems error.
func ParseModule(path string, data []byte) (*Module, error) {
	f, err := modfile.Parse(path, data, nil)
	if err != nil {
		return nil, problems(path, err)
	}
	m := &Module{
		Demand:   newDemand(path, f.Go, f.Toolchain),
		Replaces: localReplaces(path, f.Replace), Instead: moduleReplaces(f.Replace),
	}
	if f.Module != nil {
		m.Name = f.Module.Mod.Path
	}
	for _, r := range f.Require {
		m.Requires = append(m.Requires, Require{r.Mod.Path, r.Mod.Version, r.Syntax.Start.Line})
	}
	for _, t := range f.Tool {
		m.Tools = append(m.Tools, t.Path)
	}
	for _, i := range f.Ignore {
		m.Ignores = append(m.Ignores, i.Path)
	}
	return m, nil
}

// ParseWork reads a go.work. A malformed one is a diagnostics.Problems error.
func ParseWork(path string, data []byte) (*Work, error) {
	f, err := modfile.ParseWork(path, data, nil)
	if err != nil {
		return nil, problems(path, err)
	}
	if err := diagnostics.Bounded(path, 0, "modules in use", len(f.Use), adapters.MaxMembers); err != nil {
		return nil, err
	}
	w := &Work{
		File: path, Demand: newDemand(path, f.Go, f.Toolchain),
		Replaces: localReplaces(path, f.Replace), Instead: moduleReplaces(f.Replace),
	}
	for _, u := range f.Use {
		w.Uses = append(w.Uses, resolve(path, u.Path))
	}
	return w, nil
}

func newDemand(path string, g *modfile.Go, t *modfile.Toolchain) Demand {
	d := Demand{File: path}
	if g != nil {
		d.GoVersion, d.GoLine = g.Version, g.Syntax.Start.Line
	}
	if t != nil {
		d.Toolchain, d.ToolchainLine = t.Name, t.Syntax.Start.Line
	}
	return d
}

func localReplaces(path string, list []*modfile.Replace) []Replace {
	var local []Replace
	for _, r := range list {
		if r.New.Version == "" {
			local = append(local, Replace{r.Old.Path, resolve(path, r.New.Path), path, r.Syntax.Start.Line})
		}
	}
	return local
}

// moduleReplaces returns the paths of modules that replace others.
func moduleReplaces(list []*modfile.Replace) []string {
	var paths []string
	for _, r := range list {
		if r.New.Version != "" {
			paths = append(paths, r.New.Path)
		}
	}
	return paths
}

// resolve returns the absolute path of dir in the file at path.
func resolve(path, dir string) string {
	if dir = filepath.FromSlash(dir); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(filepath.Dir(path), dir)
}

// maxProblems is how many problems of one file are reported at most, maxMessage how long a
// message is at most, in bytes.
const (
	maxProblems = 20
	maxMessage  = 300
)

// clip shortens a message that quotes too much of the file.
func clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}

// problems returns modfile's errors, each with its place.
func problems(path string, err error) error {
	var list modfile.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	var all diagnostics.Problems
	for _, e := range list[:min(len(list), maxProblems)] {
		bare := modfile.Error{Verb: e.Verb, ModPath: e.ModPath, Err: e.Err}
		all = append(all, diagnostics.Pos{File: path, Line: e.Pos.Line, Col: e.Pos.LineRune}.Error("gomod_syntax", "%s", clip(bare.Error())).WithHint("see https://go.dev/ref/mod#go-mod-file"))
	}
	return diagnostics.Problems(diagnostics.Sorted(all))
}

// MayNeed reports whether a module may take part in the build of m.
func (m *Module) MayNeed(path string) bool {
	return m.Find(path) != nil || !m.ListsAll()
}

// ListsAll reports whether m's requirements name all modules of its build. From go 1.17 on they do
// (https://go.dev/ref/mod#graph-pruning); before, they leave out requirements of other modules.
func (m *Module) ListsAll() bool {
	return version.Compare("go"+m.Demand.GoVersion, "go1.17") >= 0
}

// Find returns the requirement of a module, or nil.
func (m *Module) Find(path string) *Require {
	i := slices.IndexFunc(m.Requires, func(r Require) bool { return r.Path == path })
	if i < 0 {
		return nil
	}
	return &m.Requires[i]
}

// Has reports whether dir is a member of the workspace, possibly through links.
func (w *Work) Has(dir string) bool {
	if slices.Contains(w.Uses, dir) {
		return true
	}
	return slices.ContainsFunc(w.Uses, func(use string) bool {
		real, err := filepath.EvalSymlinks(use)
		return err == nil && real == dir
	})
}
