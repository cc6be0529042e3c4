package golang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// TestImports: the imports of a source are those of other modules, and of a test they are marked.
func TestImports(t *testing.T) {
	const source = "package a\n\nimport (\n\t\"fmt\"\n\tx \"example.org/proto/gen\"\n)\n\nimport \"proto\"\n\nfunc f( {"
	a := golang.New(snapshot.Options{})
	for file, test := range map[string]bool{"/w/a.go": false, "/w/a_test.go": true} {
		want := []adapters.Embed{{Path: "example.org/proto/gen", File: file, Line: 5, Named: test}, {Path: "proto", File: file, Line: 8, Named: test}}
		if diff := cmp.Diff(want, a.Imports("/w", file, []byte(source))); diff != "" {
			t.Error(diff)
		}
	}
	if list := a.Imports("/w", "/w/a.go", []byte("no source")); list != nil {
		t.Error(list)
	}
}

// TestSourceImports: a source needs its own package and those of its module that it imports.
func TestSourceImports(t *testing.T) {
	const source = "package a\n\nimport (\n\t\"fmt\"\n\tx \"example.org/app/gen\"\n\t_ \"example.org/app\"\n\t_ \"example.org/application\"\n\t_ \"example.org/app/../../etc\"\n)\n"
	a := golang.New(snapshot.Options{})
	type need struct {
		Path  string
		Named bool
	}
	for file, want := range map[string][]need{
		"/w/sub/a.go":      {{"/w/sub", false}, {"/w/gen", false}, {"/w", false}},
		"/w/sub/a_test.go": {{"/w/sub", true}, {"/w/gen", true}, {"/w", true}},
		"/w/sub/_a.go":     nil,
	} {
		var got []need
		for _, e := range a.SourceImports("/w", []string{"example.org/app"}, file, []byte(source)) {
			got = append(got, need{e.Path, e.Named})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}
