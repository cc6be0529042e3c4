package key

import (
	"testing"

	"github.com/bentobuild/bento/internal/state"
)

// TestOutdated: after an execution the evaluations of its dish and of the dishes inside it are no longer
// valid, because a file that is no source may have changed their toolchain. The evaluations of other
// dishes are still valid.
func TestOutdated(t *testing.T) {
	m := &model{}
	for _, path := range []string{"a", "a/in", "ab"} {
		d := &modelDish{path: path, adapted: true, tool: "1", lock: "1", files: map[string]modelFile{"marker": {}}}
		d.tasks = [2]modelTask{{name: "build", run: "true"}, {name: "check", run: "true"}}
		m.dishes = append(m.dishes, d)
	}
	root := t.TempDir()
	m.lay(t, root, false)
	e := m.evaluate(t, ways{root: root, state: state.Open(t.TempDir())})
	ran := e.plan.Tasks[0]
	for _, task := range e.plan.Tasks {
		if FilesOf(e).Sources(task); task.ID() == "a:build" { // as before it is executed
			ran = task
		}
	}
	for _, d := range m.dishes[:2] {
		d.tool = "2"
	}
	e.NoteWritten(t.Context(), Written{Executed: ran})
	if e.clock.sources.since(0, ".") {
		t.Fatal("sources have changed")
	}
	for _, task := range e.plan.Tasks {
		old := e.last(task)
		outdated := e.Outdated(old)
		if same := e.Evaluate(t.Context(), task).Key == old.Key; outdated == same {
			t.Errorf("%s: Outdated returns %v, and the key is the same: %v", task.ID(), outdated, same)
		}
	}
}

// TestHaveLinks: a link that a task makes among the sources of a dish is seen in the dishes linked to it.
func TestHaveLinks(t *testing.T) {
	m := &model{}
	for _, path := range []string{"a", "b"} {
		m.dishes = append(m.dishes, &modelDish{path: path, files: map[string]modelFile{"src/a": {}}, tasks: [2]modelTask{{name: "build", run: "true"}, {name: "check", run: "true"}}})
	}
	m.dishes[1].links = []int{0}
	root := t.TempDir()
	m.lay(t, root, false)
	e := m.evaluate(t, ways{root: root, state: state.Open(t.TempDir())})
	from := e.circles[e.plan.Workspace.Dishes[1]]
	if e.haveLinks(from) {
		t.Fatal("a link was found, want none")
	}
	put(t, root, "a/src/link", modelFile{target: "a"})
	if e.NoteWritten(t.Context(), Written{Executed: e.plan.Tasks[0]}); !e.haveLinks(from) || !e.Outdated(e.last(e.plan.TasksOf(e.plan.Workspace.Dishes[1])[0])) {
		t.Error("the link was not found")
	}
}
