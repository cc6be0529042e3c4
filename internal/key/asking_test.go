package key

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
)

// pairAdapter answers only when it is asked for both of its toolchains at once.
type pairAdapter struct {
	adapters.Adapter
	asked atomic.Int32
	bases atomic.Int32 // calls of ToolchainBasis
	both  chan struct{}
}

func (a *pairAdapter) Manifest() *adapters.Manifest { return &adapters.Manifest{AdapterID: "pair"} }

// ToolchainBasis returns the first letter of dir: "x1" and "x2" have the same toolchain. "?" has none.
func (a *pairAdapter) ToolchainBasis(_ context.Context, dir string) (string, error) {
	a.bases.Add(1)
	if dir == "?" {
		return "", errors.New("no toolchain")
	}
	return dir[:1], nil
}

func (a *pairAdapter) ToolchainFingerprint(_ context.Context, dir string) (string, error) {
	if a.asked.Add(1) == 2 {
		close(a.both)
	}
	<-a.both
	return dir[:1], nil
}

func TestAskAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &pairAdapter{both: make(chan struct{})}
		var tasks []*plan.Task
		for _, dir := range []string{"?", "x1", "x1", "x2", "y1"} {
			tasks = append(tasks, &plan.Task{Dish: &dish.Dish{Dir: dir, Adapter: a}})
		}
		tasks = append(tasks, &plan.Task{Dish: &dish.Dish{Dir: "z1"}})
		st := state.Open(t.TempDir())
		tools := OpenToolchains(st, state.OpenShared(""))
		wait := tools.AskAhead(t.Context(), tasks)
		synctest.Wait() // both toolchains are being asked for
		before := a.bases.Load()
		if got, err := tools.Fingerprint(t.Context(), a, "x2"); got != "x" || err != nil || a.bases.Load() != before {
			t.Errorf("x2 beside it: %q, %v, %d more bases, want 0", got, err, a.bases.Load()-before)
		}
		wait()
		if n := a.asked.Load(); n != 2 {
			t.Errorf("asked %d times, want 2", n)
		}
		if _, err := tools.Fingerprint(t.Context(), a, "x2"); err != nil || a.bases.Load() == before {
			t.Errorf("after it the basis is still the old one (%v)", err)
		}
		for _, dir := range []string{"x1", "x2", "y1"} {
			if got, err := tools.Fingerprint(t.Context(), a, dir); got != dir[:1] || err != nil {
				t.Errorf("%s: %q, %v", dir, got, err)
			}
		}
		if err := tools.Save(); err != nil {
			t.Fatal(err)
		}
		tasks[0].Dish = &dish.Dish{Dir: "new", Adapter: a}
		tools = OpenToolchains(st, state.OpenShared(""))
		wait = tools.AskAhead(t.Context(), tasks)
		before = a.bases.Load()
		for range 3 { // the tasks of one dish
			if got, err := tools.Fingerprint(t.Context(), a, "x1"); got != "x" || err != nil {
				t.Errorf("x1 with known answers: %q, %v", got, err)
			}
		}
		wait()
		if n, more := a.asked.Load(), a.bases.Load()-before; n != 2 || more != 1 {
			t.Errorf("asked %d times with known answers, for %d bases, want 2 and 1", n, more)
		}
	})
}
