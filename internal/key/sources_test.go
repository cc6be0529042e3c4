package key

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// After a refresh the sources of a dish have changed if a source was added, removed or written, at
// any place in the list. Outputs are no sources.
func TestRefind(t *testing.T) {
	root := t.TempDir()
	at := func(p string) string { return filepath.Join(root, "d", p) }
	write := func(p, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(p)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(p), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"dish.toml", "b", "m/b", "m/out", "y"} {
		write(p, p)
	}
	tr, err := tree.Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	d := &dish.Dish{Path: "d"}
	task := &plan.Task{Dish: d, Name: "build", Outputs: []plan.Output{{Glob: "m/out"}}}
	all, err := newOwnerships(&dish.Workspace{Dishes: []*dish.Dish{d}}, func(*dish.Dish) []*plan.Task { return []*plan.Task{task} })
	if err != nil {
		t.Fatal(err)
	}
	own := all[d]
	for _, step := range []struct {
		name   string
		do     func()
		change bool
		want   []string
	}{
		{"first", func() {}, true, []string{"d/b", "d/m/b", "d/y"}},
		{"nothing", func() {}, false, []string{"d/b", "d/m/b", "d/y"}},
		{"output", func() { write("m/out", "again") }, false, []string{"d/b", "d/m/b", "d/y"}},
		{"written", func() { write("m/b", "longer") }, true, []string{"d/b", "d/m/b", "d/y"}},
		{"added first", func() { write("a", "") }, true, []string{"d/a", "d/b", "d/m/b", "d/y"}},
		{"added last", func() { write("z", "") }, true, []string{"d/a", "d/b", "d/m/b", "d/y", "d/z"}},
		{"removed last", func() { os.Remove(at("z")) }, true, []string{"d/a", "d/b", "d/m/b", "d/y"}},
		{"removed first", func() { os.Remove(at("a")) }, true, []string{"d/b", "d/m/b", "d/y"}},
	} {
		step.do()
		if err := tr.Apply(t.Context(), []string{"d"}); err != nil {
			t.Fatal(err)
		}
		if got := own.refind(tr); got != step.change {
			t.Errorf("%s: changed is %v, want %v", step.name, got, step.change)
		}
		var got []string
		for _, e := range own.Own(tr) {
			got = append(got, e.Path)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: got %q, want %q", step.name, got, step.want)
		}
	}
}
