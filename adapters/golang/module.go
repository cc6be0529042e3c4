package golang

import (
	"errors"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/bentobuild/bento/diagnostics"
)

// module is what a go.mod says, https://go.dev/ref/mod#go-mod-file.
type module struct {
	name     string
	demand   demand
	requires []require
	replaces []replace
	instead  []string // modules that take the place of others
	tools    []string // package paths
	ignores  []string // as written
}

// demand is the versions of go that a file asks for, with the lines that do.
type demand struct {
	file          string
	goVersion     string // "1.22"
	goLine        int
	toolchain     string // "go1.22.3"
	toolchainLine int
}

type require struct {
	path, version string
	line          int
}

// replace is a replace directive that leads to a directory.
type replace struct {
	path string // of the module
	dir  string // absolute
	file string
	line int
}

// work is what a go.work says, https://go.dev/ref/mod#go-work-file.
type work struct {
	file     string
	demand   demand
	uses     []string // absolute directories, in order
	replaces []replace
	instead  []string
}

func (w *work) dir() string { return filepath.Dir(w.file) }

func parseModule(path string, data []byte) (*module, error) {
	f, err := modfile.Parse(path, data, nil)
	if err != nil {
		return nil, problems(path, err)
	}
	m := &module{
		demand:   newDemand(path, f.Go, f.Toolchain),
		replaces: localReplaces(path, f.Replace), instead: moduleReplaces(f.Replace),
	}
	if f.Module != nil {
		m.name = f.Module.Mod.Path
	}
	for _, r := range f.Require {
		m.requires = append(m.requires, require{r.Mod.Path, r.Mod.Version, r.Syntax.Start.Line})
	}
	for _, t := range f.Tool {
		m.tools = append(m.tools, t.Path)
	}
	for _, i := range f.Ignore {
		m.ignores = append(m.ignores, i.Path)
	}
	return m, nil
}

func parseWork(path string, data []byte) (*work, error) {
	f, err := modfile.ParseWork(path, data, nil)
	if err != nil {
		return nil, problems(path, err)
	}
	w := &work{
		file: path, demand: newDemand(path, f.Go, f.Toolchain),
		replaces: localReplaces(path, f.Replace), instead: moduleReplaces(f.Replace),
	}
	for _, u := range f.Use {
		w.uses = append(w.uses, resolve(path, u.Path))
	}
	return w, nil
}

func newDemand(path string, g *modfile.Go, t *modfile.Toolchain) demand {
	d := demand{file: path}
	if g != nil {
		d.goVersion, d.goLine = g.Version, g.Syntax.Start.Line
	}
	if t != nil {
		d.toolchain, d.toolchainLine = t.Name, t.Syntax.Start.Line
	}
	return d
}

func localReplaces(path string, list []*modfile.Replace) []replace {
	var local []replace
	for _, r := range list {
		if r.New.Version == "" {
			local = append(local, replace{r.Old.Path, resolve(path, r.New.Path), path, r.Syntax.Start.Line})
		}
	}
	return local
}

// moduleReplaces gives the paths of modules that replace others.
func moduleReplaces(list []*modfile.Replace) []string {
	var paths []string
	for _, r := range list {
		if r.New.Version != "" {
			paths = append(paths, r.New.Path)
		}
	}
	return paths
}

// resolve makes a directory that the file at path names absolute.
func resolve(path, dir string) string {
	if dir = filepath.FromSlash(dir); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(filepath.Dir(path), dir)
}

// problems gives what modfile found wrong, each with its place.
func problems(path string, err error) error {
	var list modfile.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	var all diagnostics.Problems
	for _, e := range list {
		bare := modfile.Error{Verb: e.Verb, ModPath: e.ModPath, Err: e.Err}
		all = append(all, diagnostics.Diagnostic{
			File: path, Line: e.Pos.Line, Col: e.Pos.LineRune,
			Severity: diagnostics.Error, Source: diagnostics.Source, Rule: "gomod_syntax",
			Message: bare.Error(), Hint: "see https://go.dev/ref/mod#go-mod-file",
		})
	}
	return diagnostics.Problems(diagnostics.Sorted(all))
}
