package record

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// listed is a workspace with the outputs of one task.
type listed struct {
	*testing.T
	Recorder
	a, b, root *plan.Task // of the dishes "a", "b" and "."
}

func newListed(t *testing.T, ignored string) *listed {
	l := &listed{T: t}
	l.Root, l.Plan = t.TempDir(), &plan.Plan{Workspace: &dish.Workspace{}}
	l.write(".gitignore", ignored)
	l.write("a/dist/out", "")
	l.write("b/src", "")
	var err error
	if l.Tree, err = tree.Walk(t.Context(), l.Root, nil); err != nil {
		t.Fatal(err)
	}
	for at, p := range map[string]**plan.Task{"a": &l.a, "b": &l.b, ".": &l.root} {
		d := &dish.Dish{Path: at}
		l.Plan.Workspace.Dishes = append(l.Plan.Workspace.Dishes, d)
		*p = &plan.Task{Name: "build", Dish: d}
	}
	l.a.Outputs = []plan.Output{{Glob: "dist/**"}}
	return l
}

func (l *listed) write(name, content string) {
	l.Helper()
	path := filepath.Join(l.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		l.Fatal(err)
	}
}

// shared returns the shared listing of the outputs of a, once its directories are old enough.
func (l *listed) shared() *listing {
	l.Helper()
	for {
		list, shared, err := l.at(l.a)
		if err != nil {
			l.Fatal(err)
		}
		if shared {
			return list
		}
		if list.dirs != nil {
			l.Fatal("the listing is not shared")
		}
		runtime.Gosched()
	}
}

// A shared listing is not checked again until the results are stored, and does not hold then if
// something was written there.
func TestSharedListing(t *testing.T) {
	l := newListed(t, "dist\n")
	list := l.shared()
	if !l.held(l.a, list) {
		t.Error("it does not hold")
	}
	l.write("a/dist/stray", "")
	if again := l.shared(); again != list {
		t.Error("it is checked for every execution")
	}
	x := &Execution{Recorder: &l.Recorder, before: snapshot{shared: []*listing{list}}}
	if x.IsInvalid() || l.held(l.a, list) || !x.IsInvalid() {
		t.Error("it holds")
	}
	if list, _, err := l.at(l.a); err != nil || len(list.entries) != 2 {
		t.Errorf("got %v, %v; want the new file", list, err)
	}
}

// Where a task begins that may write there, listings are checked first and shared no more.
func TestClosedListing(t *testing.T) {
	for name, of := range map[string]func(l *listed) *plan.Task{
		"its dish":       func(l *listed) *plan.Task { return &plan.Task{Name: "test", Dish: l.a.Dish} },
		"around":         func(l *listed) *plan.Task { return l.root },
		"outputs beyond": func(l *listed) *plan.Task { l.b.Outputs = []plan.Output{{Glob: "//a/x"}}; return l.b },
		"rewrites":       func(l *listed) *plan.Task { l.b.Rewrites = []string{"//a/x"}; return l.b },
	} {
		t.Run(name, func(t *testing.T) {
			l := newListed(t, "dist\n")
			list, writer := l.shared(), of(l)
			done := l.Writing(writer)
			l.write("a/dist/stray", "")
			if !l.isClosed(list) || !l.held(l.a, list) {
				t.Error("what was written after it was closed counts")
			}
			l.unshared()
			done()
			list = l.shared()
			l.write("a/dist/more", "")
			defer l.Writing(writer)()
			if l.held(l.a, list) {
				t.Error("what was written before it was closed does not count")
			}
		})
	}
	l := newListed(t, "dist\n")
	list := l.shared()
	defer l.Writing(l.b)()
	if l.isClosed(list) {
		t.Error("another dish closes it")
	}
}

// Listings of places where other programs than tasks may write are not shared.
func TestUnsharedListing(t *testing.T) {
	for name, change := range map[string]func(l *listed){
		"directory of the dish": func(l *listed) { l.a.Outputs = []plan.Output{{Glob: "*.out"}} },
		"mutex":                 func(l *listed) { l.a.Mutex = "m" },
		"around another dish":   func(l *listed) { l.a = &plan.Task{Dish: l.root.Dish, Outputs: []plan.Output{{Glob: "a/dist/**"}}} },
	} {
		t.Run(name, func(t *testing.T) {
			l := newListed(t, "dist\n")
			change(l)
			l.unshared()
		})
	}
	newListed(t, "other\n").unshared() // git does not ignore it
}

func (l *listed) unshared() {
	l.Helper()
	for {
		switch list, shared, err := l.at(l.a); {
		case err != nil || shared:
			l.Fatalf("shared %v, %v", shared, err)
		case list.dirs != nil:
			return
		}
		runtime.Gosched()
	}
}
