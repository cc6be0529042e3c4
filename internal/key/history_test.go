package key

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
)

func task(of, name string) *plan.Task {
	return &plan.Task{Dish: &dish.Dish{Name: of, Path: of}, Name: name}
}

func TestMemoryOfTwoInvocationsIsMerged(t *testing.T) {
	dir := state.Open(t.TempDir())
	one, two := OpenHistory(dir), OpenHistory(dir)
	a := &LastRun{
		Key: cache.Key{1}, Duration: time.Second, Outputs: []string{"a/x", "a/\xff"},
		ByProducts: []ByProduct{{Path: "a/junk", Sum: [32]byte{2}}}, Found: []string{"a/old"}, Reads: []string{"b:build"}, Left: []string{"a/half"},
		Undeclared: []string{"a/dist/x"}, Warned: []string{"a/dist/x"}, Ran: cache.Key{9}, At: 7, Sources: cache.Digest{8},
	}
	b := &LastRun{Key: cache.Key{3}, Unstored: true, Outputs: []string{}, Found: []string{}, Reads: []string{}, Left: []string{}, Undeclared: []string{}, Warned: []string{}}
	one.Keep(task("a", "build"), a)
	two.Keep(task("b", "build"), b)
	for _, m := range []*History{one, two} {
		if err := m.Save(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	got := OpenHistory(dir)
	if diff := cmp.Diff(a, got.Of(task("a", "build"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(b, got.Of(task("b", "build"))); diff != "" {
		t.Error(diff)
	}
	if got := got.Of(task("c", "build")); got.Key != (cache.Key{}) {
		t.Errorf("something is remembered of a task that never ran: %v", got)
	}
}

// A second save keeps the runs that another bento has saved since the first, and does not restore
// removed ones.
func TestHistorySavesAgain(t *testing.T) {
	dir := state.Open(t.TempDir())
	save := func(m *History, dish string) {
		t.Helper()
		m.Keep(task(dish, "build"), &LastRun{Key: cache.Key{1}})
		if err := m.Save(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	check := func(dish string, want bool) {
		t.Helper()
		if got := OpenHistory(dir).Of(task(dish, "build")).Key == (cache.Key{1}); got != want {
			t.Errorf("%s is saved: %v, want %v", dish, got, want)
		}
	}
	save(OpenHistory(dir), "a")
	m := OpenHistory(dir)
	save(m, "b")
	save(OpenHistory(dir), "c")
	save(m, "d")
	save(m, "e")
	for _, dish := range []string{"a", "b", "c", "d", "e"} {
		check(dish, true)
	}
	if err := dir.Store(historyFile, historyVersion, encodeTasks(nil)); err != nil {
		t.Fatal(err)
	}
	save(m, "f")
	for _, dish := range []string{"a", "b", "c", "d", "e"} {
		check(dish, false)
	}
	check("f", true)
}

func TestLeave(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := OpenHistory(dir)
	a := task("a", "build")
	m.Keep(a, &LastRun{Key: cache.Key{1}, Outputs: []string{"a/x"}})
	m.Leave(a.Place(), []string{"a/z", "a/y"})
	m.Leave(a.Place(), []string{"a/y"})
	m.Leave(task("b", "build").Place(), []string{"b/x"})
	if err := m.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	m = OpenHistory(dir)
	if r := m.Of(a); r.Key != (cache.Key{1}) || !cmp.Equal(r.Left, []string{"a/y", "a/z"}) || !cmp.Equal(r.Outputs, []string{"a/x"}) {
		t.Errorf("%+v", r)
	}
	if r := m.Of(task("b", "build")); r.Key != (cache.Key{}) || !cmp.Equal(r.Left, []string{"b/x"}) {
		t.Errorf("of one that is not remembered: %+v", r)
	}
	m.Keep(a, &LastRun{Key: cache.Key{2}})
	if r := m.Of(a); len(r.Left) > 0 {
		t.Errorf("after a good end: %+v", r)
	}
}

func TestMemoryIsWrittenOnlyWhenItChanges(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := OpenHistory(dir)
	r := &LastRun{Key: cache.Key{1}, Outputs: []string{}}
	m.Keep(task("a", "build"), r)
	if err := m.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := OpenHistory(dir)
	again.Keep(task("a", "build"), &LastRun{Key: cache.Key{1}, Outputs: []string{}})
	if len(again.changed) != 0 {
		t.Error("the same counts as changed")
	}
}

func FuzzMemory(f *testing.F) {
	f.Add(encodeTasks(map[string]*LastRun{"a": {Outputs: []string{"x"}, ByProducts: []ByProduct{{Path: "y"}}}}))
	f.Fuzz(func(t *testing.T, payload []byte) {
		tasks, err := decodeTasks(payload)
		if err != nil {
			return
		}
		again, err := decodeTasks(encodeTasks(tasks))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tasks, again); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSavesBesideAnother: a save respects the changes of another bento since the last save, even the
// removal of all runs.
func TestSavesBesideAnother(t *testing.T) {
	dir := state.Open(t.TempDir())
	save := func(m *History) {
		t.Helper()
		if err := m.Save(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := task("a", "build"), task("b", "build"), task("c", "build")
	first := OpenHistory(dir)
	first.Keep(a, &LastRun{Key: cache.Key{1}})
	save(first)
	first.Keep(b, &LastRun{Key: cache.Key{2}})
	other := OpenHistory(dir)
	other.Keep(c, &LastRun{Key: cache.Key{3}})
	save(other)
	save(first)
	if m := OpenHistory(dir); m.Of(a).Key[0] != 1 || m.Of(b).Key[0] != 2 || m.Of(c).Key[0] != 3 {
		t.Errorf("%d, %d, %d are remembered", m.Of(a).Key[0], m.Of(b).Key[0], m.Of(c).Key[0])
	}
	last := OpenHistory(dir)
	last.Keep(c, &LastRun{Key: cache.Key{4}})
	if err := os.Remove(dir.Shown(historyFile)); err != nil {
		t.Fatal(err)
	}
	if !last.Outdated() {
		t.Error("what is removed counts as it was")
	}
	save(last)
	if m := OpenHistory(dir); m.Of(a).Key[0] != 0 || m.Of(c).Key[0] != 4 {
		t.Errorf("%d, %d are remembered after all was removed", m.Of(a).Key[0], m.Of(c).Key[0])
	}
}

// TestSaveWaitsNotForEver: another process that keeps the lock costs two seconds, and the
// error names the lock.
func TestSaveWaitsNotForEver(t *testing.T) {
	dir := state.Open(t.TempDir())
	unlock, err := dir.Lock(t.Context(), historyLock, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	synctest.Test(t, func(t *testing.T) {
		m, began := OpenHistory(dir), time.Now()
		m.Keep(task("a", "build"), &LastRun{Key: cache.Key{1}})
		err := m.Save(t.Context())
		if !errors.Is(err, errLocked) || !strings.Contains(err.Error(), dir.Shown(historyLock)) {
			t.Errorf("Save: %v, want %v", err, errLocked)
		}
		if took := time.Since(began); took != lockWait {
			t.Errorf("took %v, want %v", took, lockWait)
		}
	})
}

// Whatever is noted of tasks, Littered says what looking at each of them says, also after
// the memory was read again.
func TestLittered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		home, err := os.MkdirTemp("", "bento")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(home)
		dir := state.Open(home)
		m := OpenHistory(dir)
		dishes := []string{"a", "a/b", "."}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			who := task(rapid.SampledFrom(dishes).Draw(t, "dish"), rapid.SampledFrom([]string{"build", "test"}).Draw(t, "task"))
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				m.Keep(who, &LastRun{Key: cache.Key{1}, ByProducts: []ByProduct{{Path: "x"}}})
			case 1:
				m.Keep(who, &LastRun{Key: cache.Key{2}})
			case 2:
				m.Leave(who.Place(), []string{"left"})
			case 3:
				if err := m.Save(context.Background()); err != nil {
					t.Fatal(err)
				}
				m = OpenHistory(dir)
			}
			for _, d := range dishes {
				want := len(m.Of(task(d, "build")).ByProducts)+len(m.Of(task(d, "test")).ByProducts) > 0
				if got := m.HasByProducts(task(d, "").Dish); got != want {
					t.Fatalf("Littered of %q is %v, want %v", d, got, want)
				}
			}
		}
	})
}

func TestOfBesideKeep(t *testing.T) {
	m := OpenHistory(state.Open(t.TempDir()))
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			for i := range 1000 {
				if r := m.Of(task("a", strconv.Itoa(i))); len(r.Outputs) > 1 {
					t.Errorf("%d has %q", i, r.Outputs)
				}
			}
		})
	}
	for i := range 1000 {
		m.Keep(task("a", strconv.Itoa(i)), &LastRun{Outputs: []string{"x"}})
	}
	g.Wait()
}
