package oneshot_test

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/oneshot"
	"github.com/bentobuild/bento/plugin/plugintest"
)

// failed returns the failed clauses.
func failed(r *plugintest.Report) (clauses []string) {
	for _, a := range r.Axes {
		if a.Status == plugintest.Fail {
			clauses = append(clauses, a.Clause)
		}
	}
	return clauses
}

// examine runs the suite on a behaviour.
func examine(t *testing.T, path string, b oneshot.Behaviour) *plugintest.Report {
	o := plugintest.OneshotOptions{ID: b.ID, Function: "check", Capabilities: b.Granted, Input: json.RawMessage(`{"paths":[]}`), Handshake: oneshot.Ample, Setup: plugintest.Setup{Within: oneshot.Ample, Exit: oneshot.Ample}}
	// A deadline is short only if the behaviour always misses it, or if it makes no difference.
	switch {
	case b.Short && b.Clause == "O3.1":
		o.Handshake = time.Second
	case b.Short && b.Clause == "O4.1":
		o.Within = time.Second
	}
	if !slices.Contains([]string{"", "O2.2", "O5.2", "O5.6"}, b.Clause) {
		o.Exit = time.Second
	}
	r, err := plugintest.RunOneshot(t.Context(), []string{path}, o)
	if err != nil {
		t.Errorf("%s: %v", b.ID, err)
		return &plugintest.Report{}
	}
	return r
}

// TestSuiteNamesTheClause runs the suite on every behaviour that the author of a tool can cause (with
// -short on a sample). The suite must name the broken clause, and no process is left.
func TestSuiteNamesTheClause(t *testing.T) {
	dir := t.TempDir()
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	all := sampling.Short(t, 20, oneshot.Behaviours())
	// This one answers before it has read the request, and needs the long request of its own test.
	all = slices.DeleteFunc(all, func(b oneshot.Behaviour) bool { return b.ID == "answers-unread" })
	for _, b := range all {
		path := oneshot.Install(t, dir, b.ID)
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r := examine(t, path, b)
			got := failed(r)
			for tries := 0; b.Clause == "O2.6" && !slices.Contains(got, b.Clause) && tries < 20; tries++ {
				got = failed(examine(t, path, b)) // a slow tool reads several pieces at once
			}
			if b.Clause == "" && b.Good() { // several give the same answer to any function
				got = slices.DeleteFunc(got, func(clause string) bool { return clause == "O4.4" })
			}
			switch {
			case b.Clause != "" && !slices.Contains(got, b.Clause):
				t.Errorf("%s: clause %s is not failed, those are: %v", b.ID, b.Clause, got)
			case b.Clause == "" && b.Good() && len(got) > 0:
				t.Errorf("%s: %v are failed: %+v", b.ID, got, r.Axes)
			}
			for _, a := range r.Axes {
				if strings.Contains(a.Got, "json: ") || strings.Contains(a.Got, "Go ") {
					t.Errorf("%s: clause %s mentions Go: %s", b.ID, a.Clause, a.Got)
				}
			}
			t.Logf("%-20s %6d ms  %v", b.ID, r.Took.Milliseconds(), got)
		})
	}
	running.Wait()
	if left := testrun.LeftIn(dir); len(left) > 0 {
		t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
}

// TestEveryOneshotAxisCanFail: each axis of the suite has a behaviour that fails it, and each clause of a
// behaviour is an axis.
func TestEveryOneshotAxisCanFail(t *testing.T) {
	r := examine(t, oneshot.Install(t, t.TempDir(), "good"), oneshot.Behaviour{ID: "good", Short: true})
	for _, a := range r.Axes {
		if !slices.ContainsFunc(oneshot.Behaviours(), func(b oneshot.Behaviour) bool { return b.Clause == a.Clause }) {
			t.Errorf("no behaviour fails %s: %s", a.Clause, a.Expected)
		}
	}
	for _, b := range oneshot.Behaviours() {
		if b.Clause != "" && !slices.ContainsFunc(r.Axes, func(a plugintest.Result) bool { return a.Clause == b.Clause }) {
			t.Errorf("%s names %s, which is no axis", b.ID, b.Clause)
		}
	}
	if len(r.Axes) == 0 {
		t.Error("no axes")
	}
}

// TestNoExecutable: a tool that cannot be started fails its first clause.
func TestNoExecutable(t *testing.T) {
	r, err := plugintest.RunOneshot(t.Context(), []string{"/none"}, plugintest.OneshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := failed(r); !slices.Equal(got, []string{"O3.1"}) {
		t.Errorf("failed clauses: %v", got)
	}
}
