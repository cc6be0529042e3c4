package answers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// TestTraces checks that a path whose trace still holds is unchanged: the same content, the same names, or
// missing.
func TestTraces(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		above, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		if above, err = filepath.EvalSymlinks(above); err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(above)
		root := filepath.Join(above, "r")
		for _, dir := range []string{".bento", "a", "ignored/x"} {
			_ = os.MkdirAll(filepath.Join(root, dir), 0o755)
		}
		_ = os.WriteFile(filepath.Join(root, ".gitignore"), []byte("ignored\n"), 0o644)
		for range 6 {
			editPath(rt, above)
		}
		type look struct {
			t   trace
			saw string
		}
		looks := make(map[string]look)
		for range rapid.IntRange(2, 5).Draw(rt, "rounds") {
			st := state.Open(root)
			files, err := tree.Walk(context.Background(), root, &tree.Options{State: st})
			if err != nil {
				rt.Fatal(err)
			}
			defer files.Close()
			l := &looker{files: files, from: sourceOf(files)}
			for _, path := range allPaths(above) {
				saw := observe(path)
				if was, ok := looks[path]; ok {
					if holds, _ := l.holds(path, was.t); holds && saw != was.saw {
						rt.Fatalf("%s still has its trace %v, but it was %q and is %q", path, was.t, was.saw, saw)
					}
				}
				looks[path] = look{l.traced(path, l.from.State(path, true)), saw}
			}
			if err := files.Index().Save(); err != nil {
				rt.Fatal(err)
			}
			for range rapid.IntRange(0, 3).Draw(rt, "edits") {
				editPath(rt, above)
			}
		}
	})
}

var pathNames = []string{"a", "b", "ignored"}

// allPaths returns paths in a workspace, in a directory that git ignores, and above the workspace.
func allPaths(above string) (list []string) {
	root := filepath.Join(above, "r")
	list = append(list, above, root, filepath.Join(above, "a"))
	for _, x := range pathNames {
		list = append(list, filepath.Join(root, x))
		for _, y := range pathNames {
			list = append(list, filepath.Join(root, x, y), filepath.Join(root, x, y, "b"))
		}
	}
	return list
}

func editPath(rt *rapid.T, above string) {
	path := rapid.SampledFrom(allPaths(above)[2:]).Draw(rt, "path")
	switch rapid.IntRange(0, 6).Draw(rt, "edit") {
	case 0:
		_ = os.RemoveAll(path)
	case 1:
		_ = os.MkdirAll(path, 0o755)
	case 2:
		_ = os.RemoveAll(path)
		_ = os.Symlink(rapid.SampledFrom([]string{"a", "../b", "ignored", "../../a"}).Draw(rt, "to"), path)
	case 3:
		_ = os.Rename(path, rapid.SampledFrom(allPaths(above)[2:]).Draw(rt, "to"))
	default:
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		_ = os.WriteFile(path, []byte(rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "text")), 0o644)
	}
}

// observe returns everything that an adapter can see at a path.
func observe(path string) string {
	fi, err := os.Stat(path)
	if err != nil {
		return "nothing"
	}
	if !fi.IsDir() {
		data, err := os.ReadFile(path)
		return fmt.Sprintf("%v %q %v", fi.Mode(), data, err)
	}
	entries, err := os.ReadDir(path)
	return fmt.Sprint(entries, err)
}

// sourceOf returns a source that reads a tree.
func sourceOf(files *tree.Tree) snapshot.Source {
	shown := new(snapshot.Snapshot)
	shown.Hold(NewView(files, nil))
	return snapshot.Options{Snapshot: shown}.Source()
}

// watcher is an adapter whose answer about a directory is its view of some paths.
type watcher struct {
	adapters.Adapter
	from  snapshot.Source
	paths map[string][]string // by directory
}

func (w *watcher) Manifest() *adapters.Manifest { return &adapters.Manifest{AdapterID: "w"} }

func (w *watcher) RequiredToolchain(context.Context, string) (*adapters.Toolchain, error) {
	return nil, nil
}

func (w *watcher) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	saw, reads := w.see(w.from, dir)
	return adapters.TasksAnswer{Tasks: []adapters.Task{{Run: saw}}, Reads: reads}, nil
}

// see looks at each path in one of the ways that adapters can.
func (w *watcher) see(from snapshot.Source, dir string) (saw string, reads adapters.Reads) {
	f := from.Files(dir)
	for i, path := range w.paths[dir] {
		switch (i + len(path)) % 3 {
		case 0:
			data, err := f.Read(path)
			saw += fmt.Sprintf("%q %t\n", data, err == nil)
		case 1:
			saw += fmt.Sprintln(f.IsFile(path), f.IsDir(path))
		default:
			saw += fmt.Sprintln(f.List(path))
		}
	}
	return saw, f.Reads()
}

// TestKnownAnswersAreTrue checks that a saved answer about a directory is the answer that its adapter
// would give in a later invocation, after any edits.
func TestKnownAnswersAreTrue(t *testing.T) {
	base := t.TempDir()
	known := 0
	rapid.Check(t, func(rt *rapid.T) {
		above, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		if above, err = filepath.EvalSymlinks(above); err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(above)
		root := filepath.Join(above, "r")
		for _, dir := range []string{".bento", "a", "ignored/x"} {
			_ = os.MkdirAll(filepath.Join(root, dir), 0o755)
		}
		_ = os.WriteFile(filepath.Join(root, ".gitignore"), []byte("ignored\n"), 0o644)
		w := &watcher{paths: make(map[string][]string)}
		for _, dir := range []string{root, filepath.Join(root, "a"), filepath.Join(root, "b")} {
			w.paths[dir] = rapid.SliceOfNDistinct(rapid.SampledFrom(allPaths(above)), 1, 12, rapid.ID[string]).Draw(rt, "reads")
		}
		for range rapid.IntRange(2, 5).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 3).Draw(rt, "edits") {
				editPath(rt, above)
			}
			m := openAt(rt, root)
			w.from = m.o.Source
			for dir := range w.paths {
				if m.Knows(w, dir) {
					known++
				}
				got, err := m.Ask(context.Background(), w, dir)
				want, _ := w.see(snapshot.Source{}, dir)
				if err != nil || got.Tasks.Tasks[0].Run != want {
					rt.Fatalf("%s: %v, answered\n%swant\n%s", dir, err, got.Tasks.Tasks[0].Run, want)
				}
			}
			save(rt, m)
			if err := m.o.Tree.Index().Save(); err != nil {
				rt.Fatal(err)
			}
		}
	})
	if known == 0 {
		t.Error("nothing was ever known")
	}
}

func openAt(rt *rapid.T, root string) *Cache {
	st := state.Open(root)
	files, err := tree.Walk(context.Background(), root, &tree.Options{State: st})
	if err != nil {
		rt.Fatal(err)
	}
	rt.Cleanup(files.Close)
	return Open(Options{Saved: st.OpenParts("answers", 1), Tree: files, Source: sourceOf(files), Basis: "b"})
}

// TestTraceFindsItsStamp checks that a trace without a stamp holds. It is saved again once the tree has a
// stamp for it.
func TestTraceFindsItsStamp(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "a", "b"), "")
	files, err := tree.Walk(t.Context(), root, &tree.Options{State: state.Open(root)})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	l := &looker{files: files, from: sourceOf(files)}
	for path, whole := range map[string]bool{filepath.Join(root, "a", "none"): false, filepath.Join(root, "a"): true} {
		ok, cheap := l.holds(path, trace{State: l.from.State(path, whole)})
		if !ok || cheap == files.SettledDir("a") {
			t.Errorf("%s: holds %t, cheap %t, want it to find its stamp: %t", path, ok, cheap, files.SettledDir("a"))
		}
	}
	above := filepath.Join(filepath.Dir(root), "none")
	if ok, cheap := l.holds(above, trace{State: l.from.State(above, false)}); !ok || !cheap {
		t.Errorf("outside of the workspace: holds %t, cheap %t", ok, cheap)
	}
}
