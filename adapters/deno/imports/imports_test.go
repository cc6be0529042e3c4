package imports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestFind(t *testing.T) {
	text := `import a from "./a.ts";
import {
  b,
} from '../b.ts'; // @deno-types="./c.d.ts"
import"npm:d";
export * from "@ex/e/sub";
const f = await import( "./f.ts" );
/// <reference types="./g.d.ts" />
from("no"); notimport "x"
import a2 from "./a.ts";
`
	var got []string
	for _, i := range find("/x/mod.ts", text) {
		got = append(got, i.Specifier)
		if i.Specifier == "@ex/e/sub" && i.Line != 6 || i.Test {
			t.Errorf("%+v", i)
		}
	}
	want := []string{"./a.ts", "../b.ts", "./c.d.ts", "npm:d", "@ex/e/sub", "./f.ts", "./g.d.ts", "no"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if i := find("/x/mod_test.ts", `import "a"`); !i[0].Test {
		t.Errorf("%+v", i)
	}
}

func TestIn(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"mod.ts", "a/b.tsx", "a/c.txt", "a/b_bench.ts", "node_modules/x/x.js", ".x/y.ts", "vendor/z.ts", "dist/o.js",
		"member/deno.jsonc", "member/m.ts", "member/deep/n_test.ts",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	skip := func(dir string) bool { return filepath.Base(dir) == "dist" }
	m := In(snapshot.NewFiles(root), skip)
	want := []string{filepath.Join(root, "a/b.tsx"), filepath.Join(root, "a/b_bench.ts"), filepath.Join(root, "mod.ts")}
	if diff := cmp.Diff(Modules{Files: want, Benches: true, Complete: true}, m); diff != "" {
		t.Error(diff)
	}
	if m := In(snapshot.NewFiles(filepath.Join(root, "member")), skip); !m.Tests || len(m.Files) != 2 {
		t.Errorf("%+v", m)
	}
}

func TestTests(t *testing.T) {
	for name, want := range map[string]bool{
		"a_test.ts": true, "a.test.tsx": true, "test.js": true, "__tests__/a.ts": true, "atest.ts": false, "a_test.d": false, "a_tests.ts": false, "contest.ts": false,
	} {
		if isTest("/x/"+name) != want {
			t.Errorf("%s is no test: %v", name, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("import a from './b'\nexport {} from \"c\"")
	f.Fuzz(func(t *testing.T, text string) {
		for _, i := range find("f.ts", text) {
			if i.Line < 1 || i.Line > 1+strings.Count(text, "\n") || i.Specifier == "" {
				t.Fatalf("%+v", i)
			}
		}
	})
}
