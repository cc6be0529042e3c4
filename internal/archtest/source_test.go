package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/bentobuild/bento"
	root   = "../.." // of the repository, seen from here
)

// source is one Go file.
type source struct {
	path  string // relative to the repository, with "/"
	lines int
	test  bool
	ast   *ast.File
	fset  *token.FileSet
}

// dir is the package's directory, "." for the top.
func (s *source) dir() string { return path.Dir(s.path) }

// imports lists import paths; ours are relative to the repository.
func (s *source) imports() []imported {
	list := make([]imported, len(s.ast.Imports))
	for i, spec := range s.ast.Imports {
		list[i].path, list[i].ours = strings.CutPrefix(strings.Trim(spec.Path.Value, "`\""), module+"/")
	}
	return list
}

type imported struct {
	path string
	ours bool // of this module
}

// sources reads every Go file of the module, for any platform and build tag. It leaves out nested
// modules and fixtures.
func sources(t *testing.T) []*source {
	t.Helper()
	list, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var parsed = sync.OnceValues(func() ([]*source, error) {
	var list []*source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() && rel != "." && foreign(name) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		s, err := parse(name, filepath.ToSlash(rel))
		if err == nil {
			list = append(list, s)
		}
		return err
	})
	return list, err
})

// foreign reports whether the go command leaves a directory out of "./...".
func foreign(dir string) bool {
	base := filepath.Base(dir)
	if base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parse(name, rel string) (*source, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &source{path: rel, lines: bytes.Count(data, []byte("\n")), test: strings.HasSuffix(rel, "_test.go"), fset: token.NewFileSet()}
	s.ast, err = parser.ParseFile(s.fset, rel, data, parser.ParseComments)
	return s, err
}

// byPackage groups files by directory.
func byPackage(list []*source) map[string][]*source {
	by := make(map[string][]*source)
	for _, s := range list {
		by[s.dir()] = append(by[s.dir()], s)
	}
	return by
}

// tracked lists the files that git has or would take, sorted.
func tracked(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("this is not a git checkout")
	}
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(files)
	return slices.Compact(files)
}
