package golang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func FuzzParseModule(f *testing.F) {
	for _, seed := range []string{
		"module m\ngo 1.22\nrequire (\n\ta.com/b v1.0.0 // indirect\n)\nreplace a.com/b => ./b\n",
		"module m/v2\ntoolchain go1.22.1\ntool x/cmd/y\nignore ./z\nretract [v1.0.0, v1.1.0]\n",
		"replace x => ../../../..\n", "\ufeffmodule m", "module \"a\\n\"", "go 1\n/*", "require x v1.0.0 (",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := gomod.ParseModule("/w/go.mod", data)
		if err != nil {
			_ = err.Error()
			return
		}
		for _, r := range m.Replaces {
			if !filepath.IsAbs(r.Dir) || r.Line < 1 {
				t.Errorf("replace %+v", r)
			}
		}
		p := &project{dir: "/w", mod: m}
		_, _ = p.members(), asked(p.mod.Demand, true)
		_ = executable(p, "/w/cmd")
	})
}

func FuzzImports(f *testing.F) {
	f.Add("package a\nimport \"x/y\"\n")
	f.Add("package a\nimport (\n_ `x/y`\n. \"x/z\"")
	f.Fuzz(func(t *testing.T, source string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		importsOf(snapshot.NewFiles(dir), &gomod.Module{Name: "m"}, []member{{mod: &gomod.Module{Name: "x"}}})
		for _, e := range New(snapshot.Options{}).SourceImports("/w", []string{"x"}, "/w/sub/a.go", []byte(source)) {
			if !strings.HasPrefix(e.Path+"/", "/w/") || e.Line < 1 {
				t.Fatalf("%+v", e)
			}
		}
	})
}

func FuzzEmbeds(f *testing.F) {
	f.Add("//go:embed a b/c `d e` \"f\\x20g\"\n\t//go:embed all:h/*.i \"unclosed")
	f.Add("//go:embed ../a /b ./c d//e {f}*[g")
	f.Add("//go:embedded x\n//go:embed\n//go:embed \r\n")
	a := New(snapshot.Options{})
	f.Fuzz(func(t *testing.T, source string) {
		for _, e := range a.Embeds("/w", "/w/sub/a.go", []byte(source)) {
			if !strings.HasPrefix(e.Path+"/", "/w/sub/") || e.Line < 1 || strings.Contains(e.Glob, "..") && strings.Contains("/"+e.Glob+"/", "/../") {
				t.Fatalf("%+v", e)
			}
		}
	})
}

func FuzzFormat(f *testing.F) {
	f.Add("warning\n{\"GOVERSION\": \"go1.22\"}")
	f.Fuzz(func(t *testing.T, out string) {
		if text, err := format(out); err == nil {
			foundVersion(text)
		}
	})
}

// FuzzSettings reads the file that `go env -w` writes.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{"GOMODCACHE=/m\n", "GOPATH=/a:/b\nGOPATH=/c\r\n", "GOPATH=", "GOMODCACHE=\x00", "GOPATH=::"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "env")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		a := New(snapshot.Options{Env: adapters.NewEnviron([]string{"HOME=/h", "GOENV=" + file})})
		if cache := a.moduleCache(snapshot.NewFiles("/w")); cache != "" && !filepath.IsAbs(cache) {
			t.Fatalf("%q", cache)
		}
	})
}
