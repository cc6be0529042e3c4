package pyproject

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "pyproject.toml", "\xef\xbb\xbf"+`[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "app"
requires-python = ">=3.9"
dependencies = [
  "six>=1",
  "lib @ file:../lib", "--index-url=https://evil", 3,
]

[project.optional-dependencies]
test = ["pytest>=7"]
none = "wrong"

[dependency-groups]
lint = ["ruff"]
dev = [{include-group = "Lint"}, "mypy", {include-group = "dev"}, {other = 1}]

[tool.uv]
dev-dependencies = ["black"]
[tool.uv.sources]
ui = {path = "../ui"}
web = {git = "https://x"}
bad = 3

[tool.poetry.dependencies]
python = "^3.10"
core = {path = "core", develop = true}
[tool.poetry.group.docs.dependencies]
sphinx = "^7"
`)
	write(t, dir, "setup.cfg", `[options]
python_requires = >=3.6
install_requires =
    attrs
    # no
    zope.interface>=5 ; python_version > "3"
[options.extras_require]
Fast = ujson
`)
	p, err := Read(snapshot.NewFiles(dir))
	if err != nil {
		t.Fatal(err)
	}
	toml, cfg := filepath.Join(dir, "pyproject.toml"), filepath.Join(dir, "setup.cfg")
	req := func(file string, line int, text, name, spec string) requirements.Requirement {
		return requirements.Requirement{Text: text, Name: name, Spec: spec, File: file, Line: line}
	}
	lib := req(toml, 10, "lib @ file:../lib", "lib", "")
	lib.Path = filepath.Join(filepath.Dir(dir), "lib")
	ui := req(toml, 24, filepath.Join(filepath.Dir(dir), "ui"), "ui", "")
	ui.Path = ui.Text
	core := req(toml, 30, filepath.Join(dir, "core"), "core", "")
	core.Path = core.Text
	want := &Project{
		Path: toml, HasBuildSystem: true, HasProject: true, HasPoetry: true, Backend: "hatchling.build", Name: "app",
		Dependencies: []requirements.Requirement{
			req(cfg, 4, "attrs", "attrs", ""),
			req(cfg, 6, `zope.interface>=5 ; python_version > "3"`, "zope-interface", ">=5"),
			req(toml, 9, "six>=1", "six", ">=1"), lib,
		},
		Extras: []Group{
			{Name: "fast", Requirements: []requirements.Requirement{req(cfg, 8, "ujson", "ujson", "")}},
			{Name: "test", Requirements: []requirements.Requirement{req(toml, 14, "pytest>=7", "pytest", ">=7")}},
			{Name: "none"},
		},
		Groups: []Group{
			{Name: "lint", Requirements: []requirements.Requirement{req(toml, 18, "ruff", "ruff", "")}},
			{Name: "dev", Requirements: []requirements.Requirement{req(toml, 19, "mypy", "mypy", ""), req(toml, 18, "ruff", "ruff", "")}},
			{Name: "dev", Requirements: []requirements.Requirement{req(toml, 22, "black", "black", "")}},
			{Name: "docs", Poetry: true, Requirements: []requirements.Requirement{req(toml, 32, "", "sphinx", "")}},
		},
		RequiresPython: Entry{Value: ">=3.9", File: toml, Line: 7},
		Sources:        []requirements.Requirement{ui},
		Poetry:         []requirements.Requirement{core},
	}
	if diff := cmp.Diff(want, p, cmpopts.IgnoreUnexported(Project{})); diff != "" {
		t.Error(diff)
	}
	if !p.Table("tool", "uv") || p.Table("tool", "uv", "dev-dependencies") || !p.Has("tool", "uv", "dev-dependencies") || p.Text("project", "name") != "app" {
		t.Error("lookups are wrong")
	}
}

func TestWraps(t *testing.T) {
	for text, want := range map[string]bool{
		"[build-system]\nbuild-backend='maturin'": true, "[build-system]\nrequires=['maturin>=1']\nbuild-backend='own'": true,
		"[build-system]\nrequires=['setuptools','Setuptools_Rust']": true, "[tool.setuptools-rust]": true,
		"[build-system]\nrequires=['setuptools']": false, "[project]\ndependencies=['maturin']": false,
	} {
		dir := t.TempDir()
		write(t, dir, "pyproject.toml", text)
		p, err := Read(snapshot.NewFiles(dir))
		if err != nil || slices.Contains(p.Wraps(), "cargo") != want {
			t.Errorf("%q: %v, want %v (%v)", text, p.Wraps(), want, err)
		}
	}
}

func TestReadAbsentAndMalformed(t *testing.T) {
	dir := t.TempDir()
	p, err := Read(snapshot.NewFiles(dir))
	if err != nil || p.Path != "" || p.Table("project") || p.Has("x") || p.Text("x") != "" {
		t.Errorf("without files: %+v, %v", p, err)
	}
	write(t, dir, "pyproject.toml", "[project]\nname = \n")
	_, err = Read(snapshot.NewFiles(dir))
	var problems diagnostics.Problems
	if !errors.As(err, &problems) || problems[0].File != filepath.Join(dir, "pyproject.toml") || problems[0].Line != 2 {
		t.Errorf("got %v", err)
	}
}

func TestSection(t *testing.T) {
	data := []byte("[flake8]\nextend-exclude =\n  a,\n\n  b\n[mypy]\nFiles: src\n")
	if v, ok := Section(data, "flake8", "extend-exclude"); !ok || v != "a,\n\nb" {
		t.Errorf("%q, %v", v, ok)
	}
	if v, ok := Section(data, "mypy", "files"); !ok || v != "src" {
		t.Errorf("%q, %v", v, ok)
	}
	if _, ok := Section(data, "tox", "x"); ok {
		t.Error("a section that is not there")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("[project]\ndependencies = [\"a @ file:../x\"]\n[dependency-groups]\na = [{include-group = \"a\"}]\n"), []byte("[options]\ninstall_requires =\n a\n [b\n"))
	f.Add([]byte("tool.uv.sources = {a = {path = \"b\"}}\n[tool.poetry.group]\na.dependencies.b = 1\n"), []byte("x\n[a]\n=b\n c:\n"))
	f.Fuzz(func(t *testing.T, toml, cfg []byte) {
		dir := t.TempDir()
		write(t, dir, "pyproject.toml", string(toml))
		write(t, dir, "setup.cfg", string(cfg))
		p, err := Read(snapshot.NewFiles(dir))
		if err != nil {
			return
		}
		most := 1 + strings.Count(string(toml), "\n") + strings.Count(string(cfg), "\n")
		for _, r := range append(p.Dependencies, p.Sources...) {
			if r.Line < 1 || r.Line > most || r.File == "" || strings.HasPrefix(r.Text, "-") && r.File == p.Path {
				t.Fatalf("%+v", r)
			}
		}
	})
}
