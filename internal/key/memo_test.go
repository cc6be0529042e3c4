package key

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// change does something to the workspace that may change keys, or must not.
func (w *world) change(t *rapid.T) {
	i := rapid.IntRange(0, len(w.links)-1).Draw(t, "changed")
	at := func(elem ...string) string { return filepath.Join(append([]string{w.root, name(i)}, elem...)...) }
	var err error
	switch rapid.SampledFrom([]string{
		"nothing", "content", "undo", "touch", "mode", "added", "removed", "directory", "file for directory", "ignored", "not ignored",
		"output", "nested", "command", "explicit", "ignored input", "env", "other file", "link", "rename dish",
	}).Draw(t, "change") {
	case "content":
		w.write(t, name(i)+"/src/f0", fmt.Sprint("edited", rapid.IntRange(0, 3).Draw(t, "text")))
	case "undo":
		w.write(t, name(i)+"/src/f0", fmt.Sprint(i, 0))
	case "touch":
		err = os.Chtimes(at("src"), time.Now(), time.Now())
	case "mode":
		_ = os.Chmod(at("src", "f0"), 0o755)
	case "added":
		w.write(t, name(i)+"/src/new", "")
	case "removed":
		_ = os.Remove(at("src", "new"))
	case "directory":
		_ = os.Remove(at("more")) // the file
		w.write(t, name(i)+"/more/deep/file", "x")
	case "file for directory":
		if err = os.RemoveAll(at("more")); err == nil {
			w.write(t, name(i)+"/more", "y")
		}
	case "ignored":
		w.write(t, name(i)+"/.gitignore", "new\nlocal\n")
	case "not ignored":
		_ = os.Remove(at(".gitignore"))
	case "output":
		w.write(t, name(i)+"/out", fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "made")))
	case "nested":
		w.write(t, name(i)+"/src/dish.toml", fmt.Sprintf("name = \"in-%d\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"true\"\n", i))
	case "command", "explicit", "ignored input", "other file":
		w.rewrite(t, i)
	case "env":
		w.env = adapters.NewEnviron([]string{fmt.Sprintf("VAR%d=%d", i, rapid.IntRange(0, 1).Draw(t, "value"))})
	case "link":
		_ = os.Remove(at("src", "link"))
		err = os.Symlink(rapid.SampledFrom([]string{"f0", "../more", "../../d0"}).Draw(t, "target"), at("src", "link"))
	}
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "local", fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "local")))
}

// rewrite writes dish i with other inputs and another command.
func (w *world) rewrite(t *rapid.T, i int) {
	inputs := rapid.SampledFrom([]string{
		"", `inputs = ["src/**"]`, `inputs = ["!src/f0"]`, `inputs = ["//local"]`, `inputs = ["local", "src/*"]`, `inputs = ["//d0/**", "//d0/out"]`, `inputs = ["//**/f0"]`,
	}).Draw(t, "inputs")
	command := rapid.SampledFrom([]string{"true", "false"}).Draw(t, "command")
	// The outputs or the key of a task of the same dish are in the key of the other task.
	check := rapid.SampledFrom([]string{
		"", "outputs = [\"out\"]\n[tasks.check]\nrun = \"true\"\ndepends_on = [\"build\"]\ninputs = [\"src/f1\"]\n",
		"[tasks.check]\nrun = \"true\"\ndepends_on = [\"build\"]\ninputs = [\"src/f1\"]\n",
	}).Draw(t, "check")
	w.write(t, name(i)+"/dish.toml", fmt.Sprintf("name = %q\nlanguage = \"none\"\n[tasks.build]\nrun = %q\n%s\n%s", name(i), command, inputs, check))
}

// settle reads the workspace until the index relies on the times of all files: the clock of the file
// system must have advanced.
func (w *world) settle(t rapid.TB, st *state.Dir) {
	for known := false; !known; {
		files, err := tree.Walk(context.Background(), w.root, &tree.Options{State: st})
		if err != nil {
			t.Fatal(err)
		}
		known = true
		for _, e := range files.Entries() {
			if _, ok := files.Index().Known(e); !ok && e.Kind == tree.File {
				known = false
				_, _ = files.Index().Sum(e)
			}
		}
		if err := files.Index().Save(); err != nil {
			t.Fatal(err)
		}
	}
}

// A key from remembered digests is equal to a key from scratch, after any changes of the workspace.
func TestRememberedKeysAreRight(t *testing.T) {
	remembered, without, late := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if err := os.Mkdir(w.root+".kept", 0o755); err != nil {
			t.Fatal(err)
		}
		st := state.Open(w.root + ".kept")
		defer os.RemoveAll(w.root + ".kept")
		defer os.RemoveAll(w.root + ".cache")
		store, err := cache.Open(w.root+".cache", nil)
		if err != nil {
			t.Fatal(err)
		}
		results := make(map[cache.Key][]cache.Output) // the same key always has the same outputs
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			if rapid.Bool().Draw(t, "settled") {
				w.settle(t, st)
			}
			e := w.evaluate(t, plan.Request{}, st, store)
			scratch := state.Open(w.root + ".state")
			whole := w.evaluate(t, plan.Request{}, scratch, store)
			os.RemoveAll(w.root + ".state")
			for i, r := range e.evaluations() {
				if want := whole.evaluations()[i]; r.Key != want.Key || r.Known != want.Known || r.Status != want.Status {
					t.Fatalf("%s: remembered %v %s %s, from nothing %s %s", r.Task.ID(), !r.loaded, r.Status, r.Key, want.Status, want.Key)
				}
				if r.Status == Hit && !r.loaded && r.Record == nil {
					remembered++
					if len(r.Outputs) == 0 {
						without++
					}
				}
				key, status := r.Key, r.Status
				if e.Load(context.Background(), r, true); r.Key != key || r.Status != status {
					t.Fatalf("%s: %s %s, with its files read %s %s", r.Task.ID(), status, key, r.Status, r.Key)
				}
				late += len(e.unread)
				if e.readUnread(); FilesOf(e).Differ(r) != "" {
					t.Fatalf("%s: the sources of %s are not those of the key", r.Task.ID(), FilesOf(e).Differ(r))
				}
				if r.Known && rapid.Bool().Draw(t, "run") {
					var made []cache.Output // as a record without outputs is read
					if target := rapid.SampledFrom([]string{"", "f0", "f1"}).Draw(t, "made"); target != "" && len(r.Task.Outputs) > 0 {
						made = append(made, cache.Output{Path: r.Task.Dish.Path + "/out", Kind: cache.Link, Target: target})
					}
					if old, ok := results[r.Key]; ok {
						made = old
					}
					results[r.Key] = made
					if err := store.Record(r.Key, &cache.Record{Created: time.Now(), Outputs: made}); err != nil {
						t.Fatal(err)
					}
					e.UpToDate(r, made)
					r.Stored()
				}
			}
			e.Save(nil)
			w.change(t)
		}
	})
	if late == 0 {
		t.Error("no sources were read after a key was made of them")
	}
	if remembered == without || without == 0 {
		t.Errorf("%d results were remembered, %d of them of tasks without outputs", remembered, without)
	}
	t.Logf("%d results were remembered", remembered)
}

// Sources that are read late and are others than in the key are found.
func TestLateSourcesDiffer(t *testing.T) {
	d := &dish.Dish{Path: "lib"}
	circle := &plan.Circle{Dishes: []*dish.Dish{d}}
	tr, err := tree.Walk(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []bool{true, false} {
		e := &Evaluator{
			tree: tr, files: fileReader{Tree: tr}, builders: &builderPool{}, lockfiles: &lockfiles{},
			ownerships: map[*dish.Dish]*ownership{d: {Dish: d}}, sources: map[*plan.Circle]*sourceSet{},
		}
		s := &sourceSet{circle: circle, plain: true}
		if e.readSources(s); !same {
			s.digest[0] ^= 1
		}
		s.loaded, e.unread = false, []*sourceSet{s}
		e.readUnread()
		if ev := (&Evaluation{sources: []*sourceSet{s}}); (FilesOf(e).Differ(ev) == "") != same {
			t.Errorf("the sources are the same: %v, differ: %q", same, FilesOf(e).Differ(ev))
		}
	}
}
