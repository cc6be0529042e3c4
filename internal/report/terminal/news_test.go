package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
)

// TestNews: over several runs, a hit is reported if its key differs from the last one.
func TestNews(t *testing.T) {
	var out bytes.Buffer
	l := &Lines{Out: &out, Err: &out, News: true}
	task := &plan.Task{Name: "build", Dish: &dish.Dish{Name: "a"}}
	for _, r := range []struct {
		outcome run.Outcome
		key     byte
		told    bool
	}{
		{run.CacheHit, 1, true}, {run.CacheHit, 1, false}, {run.Built, 2, true}, {run.CacheHit, 2, false},
		{run.CacheHit, 1, true}, {run.Failed, 3, true}, {run.CacheHit, 3, true}, {run.Built, 3, true},
	} {
		out.Reset()
		l.Report(run.Started{Plan: &plan.Plan{}})
		l.Report(run.TaskFinished{Result: &run.Result{Task: task, Outcome: r.outcome, Key: cache.Key{r.key}}})
		if told := strings.Contains(out.String(), "a:build"); told != r.told {
			t.Errorf("%s of key %d: told %v, want %v", r.outcome, r.key, told, r.told)
		}
		out.Reset()
		l.Report(run.Finished{Report: &run.Report{}})
		if failed := strings.Contains(out.String(), "a:build"); failed != (r.outcome == run.Failed) {
			t.Errorf("%s of key %d: the summary says %q", r.outcome, r.key, &out)
		}
	}
}
