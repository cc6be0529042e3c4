package key

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// TestAffectedKeys: a change of a file affects every task whose key it changes, including tasks of
// dishes around the file.
func TestAffectedKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		for _, d := range m.dishes { // another test covers targets of links
			maps.DeleteFunc(d.files, func(_ string, f modelFile) bool { return f.target != "" })
		}
		before := make(map[string]string)
		m.each(func(d *modelDish, task *modelTask) { before[d.name()+":"+task.name] = m.key(d, task) })
		d, p := m.any(t), pick(t, "path", "src/a", "src/b", "src/deep/c", "new")
		d.files[p] = modelFile{content: "edited"}
		root, err := os.MkdirTemp("", "bento-affected-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		if root, err = filepath.EvalSymlinks(root); err != nil {
			t.Fatal(err)
		}
		m.lay(t, root, false)
		affected := m.affected(t, root, path.Join(d.path, p))
		m.each(func(d *modelDish, task *modelTask) {
			id := d.name() + ":" + task.name
			if before[id] != m.key(d, task) && !affected[id] {
				t.Fatalf("%s is not affected", id)
			}
		})
	})
}

func (m *model) each(f func(*modelDish, *modelTask)) {
	for _, d := range m.dishes {
		for i := range d.tasks {
			f(d, &d.tasks[i])
		}
	}
}

// affected returns the ids of the tasks that a change of a path affects.
func (m *model) affected(t *rapid.T, root, changed string) map[string]bool {
	cfg, problems := config.Load(root, "")
	files, err := tree.Walk(context.Background(), root, &tree.Options{State: state.Open(root)})
	if err != nil {
		t.Fatal(err)
	}
	ws, more := discovery.Find(context.Background(), discovery.Options{Tree: files, Config: cfg, Registry: adapters.NewRegistry(&teller{m, root})})
	p, last := plan.Build(ws, plan.Request{Tasks: []string{"build", "check"}})
	if problems = slices.Concat(problems, more, last); len(problems) > 0 {
		t.Fatal(problems)
	}
	tasks, err := Affected(p, files, &History{}, []string{changed})
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for task, is := range tasks {
		ids[task.ID()] = is
	}
	return ids
}
