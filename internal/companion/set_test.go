package companion

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// fake is a host whose extension calls the functions. Nil functions do nothing.
type fake struct {
	mu       sync.Mutex
	heard    []string // topics
	payloads []json.RawMessage
	took     func() // for one event
	finished func(ctx context.Context)
}

func (f *fake) wants(topic string) bool { return topic != report.TopicTaskStarted }

func (f *fake) publish(topic string, payload json.RawMessage) {
	if f.took != nil {
		f.took()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard, f.payloads = append(f.heard, topic), append(f.payloads, payload)
}

func (f *fake) command(context.Context, string, []string) (Output, error) { return Output{}, nil }

func (f *fake) finish(ctx context.Context) {
	if f.finished != nil {
		f.finished(ctx)
	}
}

// open returns a set with one host.
func open(t *testing.T, f *fake) *Set {
	t.Helper()
	root := t.TempDir()
	s := newSet(Options{
		Places: Places{Root: root, Records: &Records{Dir: filepath.Join(t.TempDir(), "records")}},
		State:  state.Open(root), Guard: func() {},
	})
	s.linger = 2 * time.Second
	s.begin(t.Context(), func(ctx context.Context) { s.start(ctx, nil); s.hosts = append(s.hosts, f) })
	<-s.found
	return s
}

// events returns the events of a run in which n tasks were built.
func events(n int) (list []run.Event) {
	d := &dish.Dish{Name: "d"}
	p := &plan.Plan{Workspace: &dish.Workspace{Root: "/ws"}, Dishes: []*dish.Dish{d}}
	r := &run.Report{Plan: p}
	for i := range n {
		p.Tasks = append(p.Tasks, &plan.Task{Dish: d, Name: "t", Index: i})
	}
	list = append(list, run.Started{Plan: p, Workers: 2})
	for _, task := range p.Tasks {
		res := &run.Result{Task: task, Outcome: run.Built, Started: time.Unix(1, 0)}
		r.Results = append(r.Results, res)
		list = append(list, run.TaskStarted{Task: task}, run.TaskOutput{Task: task, Data: []byte("words")}, run.TaskFinished{Result: res})
	}
	return append(list, run.Finished{Report: r})
}

// TestSetPassesOn: an extension gets the events of its topics in order, and the output of tasks only on request.
func TestSetPassesOn(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := open(t, f)
	for _, ev := range events(2) {
		s.Report(ev)
	}
	s.WatchChanged([]string{"a"})
	s.PluginFailed("p", "crashed", "m")
	s.Close()
	want := "plan.made run.started task.finished task.finished cache.stats run.finished watch.changed plugin.failed"
	if got := strings.Join(f.heard, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, text := range f.payloads {
		var head struct{ Schema string }
		if err := json.Unmarshal(text, &head); err != nil || head.Schema != report.Schema("ext."+f.heard[i]) {
			t.Errorf("%s: %v", text, err)
		}
	}
	f = &fake{}
	s = open(t, f)
	s.output = true
	for _, ev := range events(1) {
		s.Report(ev)
	}
	s.Close()
	if got := strings.Join(f.heard, " "); !strings.Contains(got, report.TopicTaskOutput) {
		t.Errorf("with output: %s", got)
	}
}

// TestNothingWaits: a run does not wait for an extension that takes no events or does not end. The set drops and
// counts the oldest events. The end waits for the time of the configuration, and not at all after a run that
// executed no task.
func TestNothingWaits(t *testing.T) {
	stuck := func(ctx context.Context) { <-ctx.Done() }
	for name, c := range map[string]struct {
		idle bool
		want time.Duration
	}{"built": {false, 2 * time.Second}, "idle": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free := make(chan struct{})
				f := &fake{took: func() { <-free }, finished: stuck}
				s := open(t, f)
				s.Report(run.Started{Plan: &plan.Plan{Workspace: &dish.Workspace{}}})
				time.Sleep(2 * gatherTime) // the goroutine is stuck now
				began := time.Now()
				for _, ev := range events(maxQueued + 10) {
					s.Report(ev)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("the run waited for %v", took)
				}
				s.idle.Store(c.idle)
				time.AfterFunc(time.Nanosecond, func() { close(free) })
				s.Close()
				if took := time.Since(began); took > c.want+time.Nanosecond {
					t.Errorf("the end waited for %v, want %v", took, c.want)
				}
				problems := s.Problems()
				if len(problems) != 1 || !strings.Contains(problems[0].Message, "extensions did not hear of ") {
					t.Errorf("%v", problems)
				}
			})
		})
	}
}

// TestFailures: a failure is logged. After too many failures, an extension is quarantined until bento ext reload.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := open(t, &fake{})
	failure := &adapters.Failure{Code: adapters.Crashed, Message: "it exited"}
	s.failed("x", false, failure)
	if r, err := s.o.Places.Records.Load(s.o.Places.Root, "x"); err != nil || r.Quarantined != "" {
		t.Errorf("%+v, %v", r, err)
	}
	s.failed("x", true, failure)
	s.Close()
	if r, err := s.o.Places.Records.Load(s.o.Places.Root, "x"); err != nil || r.Quarantined != "it exited" {
		t.Errorf("%+v, %v", r, err)
	}
	if j := loadJournal(s.o.State, "x"); len(j.Lines) != 2 || !strings.Contains(j.Lines[0].Text, "it exited") {
		t.Errorf("%+v", j.Lines)
	}
}

// BenchmarkReport measures the cost of an event in a run: the run only queues it.
func BenchmarkReport(b *testing.B) {
	f := &fake{}
	s := newSet(Options{State: state.Open(b.TempDir()), Guard: func() {}})
	s.begin(b.Context(), func(context.Context) { s.hosts = append(s.hosts, f) })
	<-s.found
	list := events(1)
	for b.Loop() {
		s.Report(list[3])
	}
	s.Close()
}

// TestLeave: Leave begins the end concurrently with the other work at the end of a run, and publishes all earlier
// notices.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := &fake{finished: func(context.Context) { <-release }}
		s := open(t, f)
		for _, ev := range events(3) {
			s.Report(ev)
		}
		s.Leave()
		s.Leave()
		synctest.Wait() // the extension is about to end
		f.mu.Lock()
		if n := len(f.heard); n == 0 || f.heard[n-1] != report.TopicRunFinished {
			t.Errorf("heard %q before the end", f.heard)
		}
		f.mu.Unlock()
		close(release)
		s.Close()
	})
}

// TestIdleCutsTheStart: a run that executed no task does not wait for extensions that have not started.
func TestIdleCutsTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		s := newSet(Options{Places: Places{Root: root}, State: state.Open(root), Guard: func() {}})
		s.linger = time.Hour
		s.begin(t.Context(), func(ctx context.Context) { <-ctx.Done() })
		s.idle.Store(true)
		began := time.Now()
		s.Close()
		if took := time.Since(began); took > 0 {
			t.Errorf("the end took %v", took)
		}
	})
}

// TestGather: notices are published together after gatherTime, and earlier if there are many or the run ends.
func TestGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := open(t, f)
		heard := func() int {
			synctest.Wait()
			f.mu.Lock()
			defer f.mu.Unlock()
			return len(f.heard)
		}
		for _, ev := range events(3) {
			s.Report(ev)
		}
		if n := heard(); n != 0 {
			t.Errorf("%d notices were passed on at once", n)
		}
		time.Sleep(gatherTime)
		some := heard()
		if some == 0 {
			t.Error("none was passed on after a moment")
		}
		began := time.Now()
		for _, ev := range events(gatherMost) {
			s.Report(ev)
		}
		many := heard()
		if many == some {
			t.Error("many wait for a moment")
		}
		for _, ev := range events(1) {
			s.Report(ev)
		}
		s.Close()
		if n := heard(); n <= many || time.Since(began) > 0 {
			t.Errorf("%d notices after the end, which took %v; %d before", n, time.Since(began), many)
		}
	})
}
