// Package adaptertest is shared by the tests of adapters: projects on disk, tools that may
// be missing, and the questions that bento asks an adapter.
package adaptertest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/sampling"
)

// Env is the environment of the test with set on top.
func Env(set ...string) adapters.Environ {
	return adapters.NewEnviron(append(os.Environ(), set...))
}

// Project writes a txtar archive under a new directory with a .git, and returns its path
// without links.
func Project(t testing.TB, archive string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	Write(t, filepath.Join(root, ".git", "HEAD"), "")
	for _, f := range txtar.Parse([]byte(archive)).Files {
		Write(t, filepath.Join(root, filepath.FromSlash(f.Name)), string(f.Data))
	}
	return root
}

// Fixture copies a directory of testdata/toolchains of this repository, such as
// "go", as Project does.
func Fixture(t testing.TB, name string) string {
	t.Helper()
	root := Project(t, "")
	if err := os.CopyFS(root, os.DirFS(filepath.Join(repository(t), "testdata", "toolchains", name))); err != nil {
		t.Fatal(err)
	}
	return root
}

// repository is the directory of go.mod above the test.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// Write writes a file and its parent directories.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Replace replaces a text everywhere in a file and fails the test when the text is missing.
func Replace(t testing.TB, path, old, with string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	Write(t, path, strings.ReplaceAll(string(data), old, with))
}

// Relative returns a path relative to root, with forward slashes.
func Relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// Need skips a test that needs a missing tool, or fails it if all tools are required. With -short it
// always skips the test: a tool takes seconds, an adapter milliseconds.
func Need(t testing.TB, tools ...string) {
	t.Helper()
	if testing.Short() && len(tools) > 0 {
		t.Skip("it drives real tools")
	}
	for _, tool := range tools {
		if _, err := Env().LookPath(tool); err != nil {
			Lack(t, "%s is not installed", tool)
		}
	}
}

// Drive is Need for a test of one adapter. Since cmd/bento takes every adapter through its steps with
// the same tools, make check runs one in three of these tests.
func Drive(t testing.TB, tools ...string) {
	t.Helper()
	Need(t, tools...)
	sampling.Skip(t, 3)
}

// Lack skips a test, or fails it if all tools are required.
func Lack(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("BENTO_REQUIRE_TOOLS") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Where returns the problems in err, a line each, with files relative to root.
func Where(t testing.TB, root string, err error) string {
	t.Helper()
	var p diagnostics.Problems
	if !errors.As(err, &p) {
		t.Fatalf("%v: not problems with a place", err)
	}
	var at []string
	for _, d := range p {
		d.File = Relative(root, d.File)
		at = append(at, d.String())
	}
	return strings.Join(at, "\n")
}

// Tree writes files, given as names and texts in turn, below a new root that is
// the top of a repository.
func Tree(t testing.TB, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		Put(t, root, files[i], files[i+1])
	}
	Put(t, root, ".git/HEAD", "")
	return root
}

// Put writes a file, named relative to root with forward slashes, and its parent directories.
func Put(t testing.TB, root, name, text string) {
	t.Helper()
	Write(t, filepath.Join(root, filepath.FromSlash(name)), text)
}
