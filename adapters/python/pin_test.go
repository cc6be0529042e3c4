package python

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/diagnostics"
)

func TestRequiredToolchain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  *adapters.Toolchain
	}{
		{"none", []string{"a/requirements.txt", ""}, nil},
		{"file above", []string{"a/pyproject.toml", "[project]\nrequires-python='>=3.9'", ".python-version", "\n# ours\n3.11.7\n3.10\n"},
			&adapters.Toolchain{Tool: "python", Version: "3.11.7", File: ".python-version", Line: 3}},
		{"an environment's name", []string{"a/.python-version", "myproject311", "a/pyproject.toml", "[project]\nrequires-python='>=3.9'"},
			&adapters.Toolchain{Tool: "python", Version: ">=3.9", File: "a/pyproject.toml", Line: 2}},
		{"strict", []string{"a/pyproject.toml", buildSystem + "[project]\nrequires-python='~=3.9'"},
			&adapters.Toolchain{Tool: "python", Version: "~=3.9", File: "a/pyproject.toml", Line: 4, Strict: true}},
		{"poetry", []string{"a/pyproject.toml", "[tool.poetry.dependencies]\npython='^3.9'"},
			&adapters.Toolchain{Tool: "python", Version: "^3.9", File: "a/pyproject.toml", Line: 2}},
		{"setup.cfg", []string{"a/setup.cfg", "[options]\npython_requires = >=3.6\n", "a/setup.py", ""},
			&adapters.Toolchain{Tool: "python", Version: ">=3.6", File: "a/setup.cfg", Line: 2, Strict: true}},
		{"tool-versions", []string{"a/.python-version", "system", ".tool-versions", "nodejs 20\npython 3.12.1"},
			&adapters.Toolchain{Tool: "python", Version: "3.12.1", File: ".tool-versions", Line: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := adaptertest.Tree(t, tt.files...)
			got, err := newPip().RequiredToolchain(t.Context(), filepath.Join(root, "a"))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want != nil {
				tt.want.File = filepath.Join(root, tt.want.File)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMalformedPins(t *testing.T) {
	for _, files := range [][]string{
		{"a/.python-version", "\n3..1"},
		{".python-version", ">=3,<x"},
		{"a/.python-version", strings.Repeat("3", 5000)},
		{"a/pyproject.toml", "[project]\nrequires-python = '=>3.9'"},
		{"a/setup.cfg", "[options]\npython_requires = 3.x.y\n"},
		{".tool-versions", "python 3_11\n"},
	} {
		root := adaptertest.Tree(t, files...)
		_, err := newPip().RequiredToolchain(t.Context(), filepath.Join(root, "a"))
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || problems[0].File != filepath.Join(root, files[0]) || problems[0].Line == 0 || problems[0].Rule != "invalid_pin" {
			t.Errorf("%q gave %v", files, err)
		}
	}
}

func TestCheckPin(t *testing.T) {
	a := newPip()
	const found = "python=3.11.7 implementation=cpython abi=cpython-311-x86_64-linux-gnu platform=linux-x86_64"
	for want, ok := range map[string]bool{
		"3": true, "3.11": true, "3.11.7": true, "3.1": false, "3.11.8": false, "3.x": true, "3.11.*": true, "*": true, "": true,
		">=3.9,<3.12": true, "~=3.10": true, "~=3.10.0": false, "!=3.11.*": false, "^3.9": true, "~3.10": false, ">=3.12": false,
		"cpython-3.11": true, "pypy3.11": false, "pypy3.10-7.3": false, "3.11t": false, "3.11-dev": true, "miniconda3-latest": true,
		"3.11.7rc1": false, "=>3": false,
	} {
		v := a.CheckPin(adapters.Toolchain{Tool: "python", Version: want}, found)
		if v.OK != ok || v.Found != "3.11.7" || (v.Hint == "") != ok {
			t.Errorf("%q: %+v, want %v", want, v, ok)
		}
	}
	for _, tt := range []struct {
		want, found string
		ok          bool
	}{
		{"3.13t", "python=3.13.0 implementation=cpython abi=cpython-313t-x86_64-linux-gnu", true},
		{"3.14.0rc2", "python=3.14.0rc2 implementation=cpython", true},
		{">=3.14", "python=3.14.0rc2 implementation=cpython", true},
		{"3.12", "python=3.12.0+ implementation=cpython", true},
		{"pypy3.10-7.3.12", "python=3.10.12 implementation=pypy", true},
		{"3.10", "python=3.10.12 implementation=pypy", true},
		{"cpython-3.10", "python=3.10.12 implementation=pypy", false},
	} {
		if v := a.CheckPin(adapters.Toolchain{Tool: "python", Version: tt.want}, tt.found); v.OK != tt.ok {
			t.Errorf("%q with %q: %+v", tt.want, tt.found, v)
		}
	}
	if v := a.CheckPin(adapters.Toolchain{Tool: "python", Version: ">=3.13,<4"}, found); v.Hint != `install it with a version manager, such as "pyenv install 3.13", or change the pin` {
		t.Errorf("%+v", v)
	}
	if v := a.CheckPin(adapters.Toolchain{Tool: "uv", Version: "1"}, found); !v.OK {
		t.Errorf("a tool of another program: %+v", v)
	}
}
