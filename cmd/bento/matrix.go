package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

const (
	// maxMatrix is the maximal number of jobs of a matrix at GitHub.
	maxMatrix = 256
	// worthJob is the duration up to which a part is never divided: a job needs time to start.
	worthJob = time.Minute
)

// shardMatrix is the matrix of a workflow at GitHub, with one job for each part.
type shardMatrix struct {
	Include []shardJob `json:"include"`
}

type shardJob struct {
	Shard string `json:"shard"` // "I/N", the value of --shard
}

// printMatrix prints the parts, at most most, into which jobs should divide the run of a selection. It runs nothing.
func (s *session) printMatrix(ctx context.Context, sel selection, most int) error {
	switch {
	case most < 1 || most > maxMatrix:
		return usageError(fmt.Sprintf("--matrix is %d", most), fmt.Sprintf("expected the maximal number of jobs, 1 to %d", maxMatrix))
	case sel.shard != "":
		return usageError("--matrix and --shard exclude each other", "each job runs one part, by --shard ${{ matrix.shard }}")
	}
	weight, err := weights(ctx, sel.durations)
	if err != nil {
		return err
	}
	timed := sel.durations != ""
	sel.durations = "" // it requires a shard
	w, err := s.openFor(ctx, s.lines(), sel.all())
	if err != nil {
		return err
	}
	defer w.close()
	p, err := s.planRun(ctx, w, sel)
	if err != nil {
		return err
	}
	ev, err := w.env.Evaluator(p, s.flags.noCache || sel.force, nil)
	if err != nil {
		return err
	}
	results, err := key.DryRun(ctx, ev)
	if err != nil {
		return err
	}
	ev.Save(nil)
	recorded := func(t *plan.Task) time.Duration { return ev.History().Of(t).Duration }
	if timed {
		recorded = func(t *plan.Task) time.Duration { return time.Duration(weight(t)) * time.Millisecond }
	}
	took := expectedDurations(results, recorded)
	n := fewestShards(most, func(count int) time.Duration { return longestShard(p, count, weight, took) })
	var doc shardMatrix
	for i := 1; i <= n; i++ {
		doc.Include = append(doc.Include, shardJob{fmt.Sprintf("%d/%d", i, n)})
	}
	line, err := json.Marshal(doc)
	if err == nil {
		_, err = io.WriteString(s.out, string(line)+"\n") // one line, for $GITHUB_OUTPUT
	}
	return err
}

// fewestShards returns the least number of parts, at most most, of which none takes longer than the longest of most
// parts, or than worthJob.
func fewestShards(most int, longest func(count int) time.Duration) int {
	bound := max(longest(most), worthJob)
	for n := 1; n < most; n++ {
		if longest(n) <= bound {
			return n
		}
	}
	return most
}

// longestShard returns the duration of the longest of count parts, whose tasks run one after another.
func longestShard(p *plan.Plan, count int, weight func(*plan.Task) int64, took map[*plan.Task]time.Duration) (longest time.Duration) {
	part := p.Parts(count, weight)
	sums := make([]time.Duration, count)
	for t, d := range took {
		i := part[t.Dish]
		sums[i] += d
		longest = max(longest, sums[i])
	}
	return longest
}

// expectedDurations returns the durations of the requested tasks that are no cache hits. One that is not recorded
// counts as the mean of the others, or as worthJob if none is.
func expectedDurations(results []*key.Evaluation, recorded func(*plan.Task) time.Duration) map[*plan.Task]time.Duration {
	took := make(map[*plan.Task]time.Duration)
	var sum, known time.Duration
	for _, ev := range results {
		if ev.Status == key.Hit || !ev.Task.Requested {
			continue
		}
		took[ev.Task] = recorded(ev.Task)
		if sum += took[ev.Task]; took[ev.Task] > 0 {
			known++
		}
	}
	mean := worthJob
	if known > 0 {
		mean = sum / known
	}
	for t, d := range took {
		if d <= 0 {
			took[t] = mean
		}
	}
	return took
}
