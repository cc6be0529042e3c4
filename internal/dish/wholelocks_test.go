package dish

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
)

func TestWholeLocksAreToldOnceForEachFile(t *testing.T) {
	whole := adapters.LockAnswer{File: "/w/all.lock", Whole: "format 9 is not known"}
	ws := &Workspace{Root: "/w", Dishes: []*Dish{
		{Name: "b", Lock: whole}, {Name: "a", Lock: whole},
		{Name: "c", Lock: adapters.LockAnswer{File: "/w/all.lock", Digest: "1"}},
		{Name: "d", Lock: adapters.LockAnswer{File: "/w/d/d.lock", Whole: "it is too deep"}},
		{Name: "e"},
	}}
	var got []string
	for _, d := range ws.WholeLocks() {
		got = append(got, d.File+": "+d.Message)
	}
	want := []string{
		"all.lock: every change of this lockfile changes the keys of a, b: format 9 is not known",
		"d/d.lock: every change of this lockfile changes the keys of d: it is too deep",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
