package answers

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// TestEverythingIsSaved packs random values of all saved types, and reads them back.
func TestEverythingIsSaved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := saved{Scopes: []adapters.Scope{rapid.Make[adapters.Scope]().Draw(rt, "scope")}, Answers: []savedAnswer{{Question: rapid.Make[question]().Draw(rt, "question"), Answer: Answer{
			Tasks: rapid.Make[adapters.TasksAnswer]().Draw(rt, "tasks"),
			Pin:   &adapters.Toolchain{Tool: "t", Version: "v", File: "f", Line: 3, Strict: true, More: []adapters.Toolchain{{Tool: "u"}}},
			Links: rapid.Make[adapters.LinksAnswer]().Draw(rt, "links"),
			Lock:  rapid.Make[adapters.LockAnswer]().Draw(rt, "lock"),
		}}}}
		var w pack.Writer
		w.Add(want)
		var got saved
		if err := pack.NewReader(w.Payload()).Next(&got); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// TestAllAdaptersAreRemembered checks that every built-in adapter reports the files that it read for an
// answer, and that the next invocation reuses the answers about a project.
func TestAllAdaptersAreRemembered(t *testing.T) {
	fixtures, err := filepath.Glob("../../testdata/toolchains/*")
	if err != nil || len(fixtures) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, f := range fixtures {
		t.Run(filepath.Base(f), func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(root, "x"), os.DirFS(f)); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(root, ".bento"), 0o755); err != nil {
				t.Fatal(err)
			}
			// No caller looks above the root of a workspace.
			if err := os.WriteFile(filepath.Join(root, "bento.toml"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			first := open(t, root)
			asked := askEverybody(t, first, root)
			save(t, first)
			if err := first.o.Tree.Index().Save(); err != nil {
				t.Fatal(err)
			}
			checkIndexed(t, first, asked)
			second := open(t, root)
			for _, q := range asked {
				if second.answered[q] == nil {
					t.Errorf("%q is not remembered because of %q", q, first.blamed(q))
				}
			}
		})
	}
}

// checkIndexed checks that the saved index knows the files that the answers have read, so that the next
// invocation reads no file.
func checkIndexed(t *testing.T, m *Cache, asked []question) {
	t.Helper()
	files, err := tree.Walk(t.Context(), m.o.Tree.Root(), &tree.Options{State: state.Open(m.o.Tree.Root())})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for _, q := range asked {
		for path, state := range m.pathsOf(m.answered[q]) {
			rel, _ := m.looker.relative(path)
			e, found := files.Lookup(rel)
			if !found || state.Kind != adapters.Regular || state.Sum == [32]byte{} || !m.o.Tree.Settled(e) {
				continue
			}
			if _, known := files.Index().Known(e); !known {
				t.Errorf("%s has to be read again", path)
			}
		}
	}
}

func open(t *testing.T, root string) *Cache { return openWith(t, root, "b", nil) }

func openWith(t *testing.T, root, basis string, list []adapters.Adapter) *Cache {
	st := state.Open(root)
	files, err := tree.Walk(t.Context(), root, &tree.Options{State: st})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(files.Close)
	return Open(Options{Saved: st.OpenParts("answers", 1), Tree: files, Source: sourceOf(files), Basis: basis, Adapters: list})
}

// save saves the answers as discovery does.
func save(t interface{ Fatal(...any) }, m *Cache) {
	m.Look().Store()
	if err := m.o.Saved.Save(); err != nil {
		t.Fatal(err)
	}
}

// askEverybody asks every adapter about every directory that it detects.
func askEverybody(t *testing.T, m *Cache, root string) (asked []question) {
	env := adapters.NewEnviron([]string{"HOME=/nowhere", "PATH=" + os.Getenv("PATH")})
	for _, dir := range m.o.Tree.Dirs() {
		dir = filepath.Join(root, dir)
		for _, a := range builtin.All(snapshot.Options{Env: env}) {
			yes, err := m.Detect(context.Background(), a, dir)
			if err != nil || !yes {
				continue
			}
			if _, err := m.Ask(context.Background(), a, dir); err != nil {
				t.Logf("%s: %v", dir, err)
				continue
			}
			asked = append(asked, ask(a, dir))
		}
	}
	if len(asked) == 0 {
		t.Fatal("no adapter knows it")
	}
	return slices.Clip(asked)
}

// blamed returns the paths that keep an answer from being saved.
func (m *Cache) blamed(q question) (paths []string) {
	if m.answered[q] == nil {
		return []string{"it does not say what it was made from"}
	}
	for path, state := range m.pathsOf(m.answered[q]) {
		if !state.Holds(state) {
			paths = append(paths, path)
		}
	}
	return paths
}

// TestBasis checks that no answer is reused for another program, environment or adapter.
func TestBasis(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "bento.toml"), "")
	write(t, filepath.Join(root, "x", "go.mod"), "module x\n\ngo 1.22\n")
	write(t, filepath.Join(root, ".bento", "keep"), "")
	first := open(t, root)
	asked := askEverybody(t, first, root)
	save(t, first)
	q := asked[0]
	for _, c := range []struct {
		basis    string
		adapters []adapters.Adapter
		answered bool
		detected bool
	}{
		{"b", nil, true, true},
		{"another", nil, false, false},
		{"b", builtin.All(snapshot.Options{})[:1], true, false},
	} {
		m := openWith(t, root, c.basis, c.adapters)
		_, detected := m.recallDetect(q)
		if answered := m.answered[q] != nil; answered != c.answered || detected != c.detected {
			t.Errorf("basis %q, %d adapters: answered %t, detected %t", c.basis, len(c.adapters), answered, detected)
		}
	}
}

func write(t *testing.T, path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
