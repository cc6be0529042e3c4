package feed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// planOf returns a plan of n tasks t0, t1, … of the dish d.
func planOf(n int) *plan.Plan {
	p := &plan.Plan{Workspace: &dish.Workspace{}}
	d := &dish.Dish{Name: "d"}
	for i := range n {
		p.Tasks = append(p.Tasks, &plan.Task{Dish: d, Name: fmt.Sprint("t", i), Index: i})
	}
	return p
}

// poll looks once, and returns the runs.
func poll(f *Follower) []*Run {
	f.Add(f.Look())
	return f.Runs()
}

func ids(rows []Row) (list []string) {
	for _, r := range rows {
		list = append(list, r.ID+" "+r.Outcome)
	}
	return list
}

// TestFollow: another process sees a run as it happens, from any point of it, and its end.
func TestFollow(t *testing.T) {
	st, p, at := state.Open(t.TempDir()), planOf(5), time.Now()
	var w Writer
	defer w.Close()
	w.In(st, "bento run all")
	early := Follow(st)
	defer early.Close()
	w.Report(run.Started{Plan: p, At: at})
	w.Report(run.TaskFinished{Result: &run.Result{Task: p.Tasks[0], Outcome: run.CacheHit}})
	if runs := poll(early); len(runs) != 0 {
		t.Fatalf("a run that has done nothing is seen: %v", runs)
	}
	w.Report(run.TaskStarted{Task: p.Tasks[1]})
	runs := poll(early)
	if len(runs) != 1 || runs[0].Command != "bento run all" || runs[0].Tasks != 5 || runs[0].Hits != 1 || runs[0].State != Active || !runs[0].StartedAt.Equal(at) {
		t.Fatalf("the run is seen as %+v", runs)
	}
	version := early.Version()
	w.Report(run.TaskFinished{Result: &run.Result{Task: p.Tasks[1], Outcome: run.Built, Started: at, Duration: 2 * time.Second}})
	w.Report(run.InstallStarted{Install: &run.Install{Dish: "d"}})
	w.Report(run.InstallFinished{Install: &run.Install{Dish: "d", Started: at.Add(time.Second), Err: errors.New("no network")}})
	w.Report(run.TaskFinished{Result: &run.Result{Task: p.Tasks[2], Outcome: run.Failed, Message: strings.Repeat("x", 5000), Started: at}})
	w.Report(run.TaskFinished{Result: &run.Result{Task: p.Tasks[3], Outcome: run.Skipped}})
	late := Follow(st)
	defer late.Close()
	poll(early)
	want := []string{"d: install failed", "d:t1 built", "d:t2 failed"}
	for name, f := range map[string]*Follower{"early": early, "late": late} {
		rows := poll(f)[0].RowsSince(0)
		got := ids(rows)
		if diff := cmp.Diff(map[string]bool{want[0]: true, want[1]: true, want[2]: true}, map[string]bool{got[0]: true, got[1]: true, got[2]: true}); diff != "" || len(got) != 3 {
			t.Errorf("%s: rows (-want +got):\n%s", name, diff)
		}
		for _, r := range rows {
			if len(r.Message) > maxMessage {
				t.Errorf("a message of %d bytes", len(r.Message))
			}
		}
	}
	if got := early.Runs()[0].RowsSince(version); len(got) != 3 {
		t.Errorf("rows that have changed since: %v", ids(got))
	}
	w.Report(run.Finished{Report: &run.Report{Duration: 3 * time.Second, Interrupted: true}})
	if _, ended := early.Add(early.Look()); !ended {
		t.Error("the end is not seen")
	}
	if r := early.Runs()[0]; r.State != Ended || r.DurationMS != 3000 || !r.Interrupted || r.Skipped != 1 {
		t.Errorf("the run has ended as %+v", r)
	}
	if !early.Executed("d:t1") || early.Executed("d:t0") {
		t.Error("Executed does not know what was executed")
	}
}

// TestKilled: a run whose process has died is seen as killed, with what it has done, also if the next run has removed its
// file meanwhile.
func TestKilled(t *testing.T) {
	st, p := state.Open(t.TempDir()), planOf(2)
	begin := func() *Writer {
		w := new(Writer)
		w.In(st, "bento")
		w.Report(run.Started{Plan: p, At: time.Now()})
		w.Report(run.TaskStarted{Task: p.Tasks[0]})
		return w
	}
	f := Follow(st)
	defer f.Close()
	first := begin()
	poll(f)
	first.file.Close() // as the kernel does
	second := begin()
	if names := st.Claims(dir); len(names) != 1 {
		t.Errorf("the files %v, want that of the second run alone", names)
	}
	runs := poll(f)
	if len(runs) != 2 || runs[0].State != Killed || runs[1].State != Active {
		t.Errorf("runs: %+v", runs)
	}
	for range maxEnded + 3 {
		second.Report(run.Finished{Report: &run.Report{}})
		poll(f)
		second.Report(run.Started{Plan: p, At: time.Now()})
		second.Report(run.TaskStarted{Task: p.Tasks[0]})
	}
	if runs := poll(f); len(runs) != maxEnded+1 || len(f.files) != 1 {
		t.Errorf("%d runs and %d files are kept", len(runs), len(f.files))
	}
	second.Close()
	if names := st.Claims(dir); len(names) != 0 {
		t.Errorf("the files %v are left", names)
	}
}

// TestUnwritable: a run does not depend on its feed.
func TestUnwritable(t *testing.T) {
	root, p := t.TempDir(), planOf(1)
	if err := os.WriteFile(filepath.Join(root, state.Name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var w Writer
	w.In(state.Open(root), "bento")
	w.Report(run.Started{Plan: p, At: time.Now()})
	w.Report(run.TaskStarted{Task: p.Tasks[0]})
	w.Report(run.Finished{Report: &run.Report{}})
	var none Writer // without a state
	none.Report(run.Started{Plan: p})
	none.Report(run.TaskStarted{Task: p.Tasks[0]})
}

// FuzzLook: no file of a feed ends or fills a follower.
func FuzzLook(f *testing.F) {
	f.Add([]byte(`{"run":{"command":"bento","started":"2026-01-02T03:04:05Z","tasks":2}}` + "\n" + `{"row":{"id":"a:b","outcome":"running"}}` + "\n" + `{"pass":{"hits":1}}` + "\n" + `{"end":{"duration_ms":3}}` + "\n"))
	f.Add([]byte("{\n{}\n\x00\n" + `{"row":null}` + "\n" + `{"row":{"id":"x"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		st := state.Open(t.TempDir())
		file, err := st.Claim(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(data); err != nil {
			t.Fatal(err)
		}
		follower := Follow(st)
		defer follower.Close()
		poll(follower)
		file.Close()
		poll(follower)
		for _, r := range follower.Runs() {
			if r.State == Active {
				t.Error("a run without a process is active")
			}
			r.RowsSince(0)
		}
	})
}

// BenchmarkWriter measures what a task costs.
func BenchmarkWriter(b *testing.B) {
	st, p, at := state.Open(b.TempDir()), planOf(1), time.Now()
	var w Writer
	w.In(st, "bento")
	w.Report(run.Started{Plan: p, At: at})
	for b.Loop() {
		w.Report(run.TaskStarted{Task: p.Tasks[0]})
		w.Report(run.TaskFinished{Result: &run.Result{Task: p.Tasks[0], Outcome: run.Built, Started: at}})
	}
}
