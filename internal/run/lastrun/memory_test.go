package lastrun

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
)

func task(dish, name string) *plan.Task {
	return &plan.Task{Dish: &discovery.Dish{Name: dish, Path: dish}, Name: name}
}

func TestMemoryOfTwoInvocationsIsMerged(t *testing.T) {
	dir := state.Open(t.TempDir())
	one, two := Open(dir), Open(dir)
	a := &Run{
		Key: cache.Key{1}, Duration: time.Second, Outputs: []string{"a/x", "a/\xff"},
		ByProducts: []ByProduct{{Path: "a/junk", Sum: [32]byte{2}}}, Found: []string{"a/old"},
	}
	b := &Run{Key: cache.Key{3}, Outputs: []string{}, Found: []string{}}
	one.Keep(task("a", "build"), a)
	two.Keep(task("b", "build"), b)
	for _, m := range []*Memory{one, two} {
		if err := m.Save(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	got := Open(dir)
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

func TestMemoryIsWrittenOnlyWhenItChanges(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := Open(dir)
	r := &Run{Key: cache.Key{1}, Outputs: []string{}}
	m.Keep(task("a", "build"), r)
	if err := m.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := Open(dir)
	again.Keep(task("a", "build"), &Run{Key: cache.Key{1}, Outputs: []string{}})
	if len(again.changed) != 0 {
		t.Error("the same counts as changed")
	}
}

func FuzzMemory(f *testing.F) {
	f.Add(encodeTasks(map[string]*Run{"a": {Outputs: []string{"x"}, ByProducts: []ByProduct{{Path: "y"}}}}))
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
