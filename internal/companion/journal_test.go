package companion

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/sep"
)

// TestJournalIsBounded: after many runs, the journal has the newest lines and decisions within their bounds, and no
// unreadable records.
func TestJournalIsBounded(t *testing.T) {
	t.Parallel()
	st := state.Open(t.TempDir())
	const runs, each = 12, 300
	for run := range runs {
		j := new(Journal)
		for i := range each {
			j.Log("info", fmt.Sprintf("%d\n%d", run, i))
			j.Decide(report.ExtensionDecision{Method: fmt.Sprint(run, i)})
		}
		if err := j.save(st, "k"); err != nil {
			t.Fatal(err)
		}
	}
	got := loadJournal(st, "k")
	if n := len(got.Lines); n == 0 || n > maxLines || got.Lines[n-1].Text != fmt.Sprintf("%d\n%d", runs-1, each-1) {
		t.Errorf("%d lines", n)
	}
	if n := len(got.Decisions); n != maxDecisions || got.Decisions[n-1].Method != fmt.Sprint(runs-1, each-1) || got.Decisions[0].Method != fmt.Sprint(5, 100) {
		t.Errorf("%d decisions, from %v", n, got.Decisions[0])
	}
	long := new(Journal)
	for range 100 {
		long.Log("info", strings.Repeat("x", maxLine))
	}
	if err := long.save(st, "k"); err != nil {
		t.Fatal(err)
	}
	data, err := st.Load(journalName("k"), journalVersion)
	size := 0
	for record := range bytes.Lines(data) {
		if record[0] == lineRecord {
			size += len(record)
		}
	}
	if err != nil || size < maxLogBytes/2 || size > maxLogBytes {
		t.Fatalf("%d bytes of lines, %v", size, err)
	}
	if lines := loadJournal(st, "k").Lines; len(lines) < 40 || len(lines) > maxLogBytes/maxLine {
		t.Errorf("%d lines", len(lines))
	}
	if j := readJournal(append([]byte("l{\nx\n\nd[]\n"), bytes.TrimSuffix(data, []byte("\n"))...)); len(j.Lines) < 40 || len(j.Decisions) != maxDecisions {
		t.Errorf("damaged: %d lines, %d decisions", len(j.Lines), len(j.Decisions))
	}
}

// TestJournalCounts: the counters of all runs are added, however many lines are dropped. A run of which nothing is to
// be counted or logged writes nothing.
func TestJournalCounts(t *testing.T) {
	t.Parallel()
	st := state.Open(t.TempDir())
	for range 12 {
		j := new(Journal)
		for range 300 {
			j.Log("info", "line")
		}
		j.Count(sep.Counters{Starts: 2, Restarts: 1, Denied: 3})
		if err := j.save(st, "k"); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := loadJournal(st, "k").Counters, (report.ExtensionCounters{Starts: 24, Restarts: 12, Denied: 36}); got != want {
		t.Errorf("counters %+v, want %+v", got, want)
	}
	if j := readJournal([]byte("c{\nc[]\nc{\"starts\":1}\n")); j.Counters.Starts != 1 {
		t.Errorf("damaged counters: %+v", j.Counters)
	}
	idle := new(Journal)
	idle.Count(sep.Counters{})
	if err := idle.save(st, "idle"); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Load(journalName("idle"), journalVersion); err == nil {
		t.Error("a journal without content was saved")
	}
}
