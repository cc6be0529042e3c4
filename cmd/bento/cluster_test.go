package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/bentobuild/bento/cache/remote/servertest"
)

// takes is a worker that executes nothing: a command with the words "true", a duration and a text takes that long, and its output is
// a file with the text.
type takes struct {
	*servertest.Cluster
	ran, most, running atomic.Int64
}

// startTaking starts a cluster whose server answers each call after a delay.
func startTaking(tb testing.TB, workers int, delay time.Duration) *takes {
	tb.Helper()
	c := &takes{Cluster: &servertest.Cluster{Workers: workers, Delay: delay}}
	c.Work = c.work
	c.Start(tb)
	return c
}

func (c *takes) work(ctx context.Context, command *repb.Command) (*repb.ActionResult, error) {
	now := c.running.Add(1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	defer c.running.Add(-1)
	words := strings.Fields(command.Arguments[len(command.Arguments)-1])
	if len(words) != 3 || words[0] != "true" {
		return nil, fmt.Errorf("no task of the test: %q", command.Arguments)
	}
	duration, err := time.ParseDuration(words[1])
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(duration):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.ran.Add(1)
	res := new(repb.ActionResult)
	for _, p := range command.OutputPaths {
		if p != "bento/moved" {
			res.OutputFiles = append(res.OutputFiles, &repb.OutputFile{Path: p, Digest: c.Put([]byte(words[2] + "\n"))})
		}
	}
	return res, nil
}

// clusterTasks is a workspace whose tasks are executed by a cluster: dishes of ten tasks, in layers.
type clusterTasks struct {
	dishes, layers int
	unit           time.Duration // of the duration of a task, which takes one to nine of it
}

// write writes the workspace. It returns the shortest time in which workers can execute it: that of the longest chain of tasks, or
// that of all tasks together. The tasks of a dish run one after another.
func (w clusterTasks) write(t testing.TB, root, address string, workers int) time.Duration {
	t.Helper()
	const each = 10
	config := fmt.Sprintf("[remote]\nexec = \"grpc://%s\"\njobs = %d\nclass = \"test\"\nqueue = \"10m\"\n", address, workers)
	writeFile(t, filepath.Join(root, "bento.toml"), config)
	var longest, sum time.Duration
	ends := make([]time.Duration, w.dishes*each) // of chains
	perLayer := w.dishes / w.layers
	for d := range w.dishes {
		text := fmt.Sprintf("name = \"d%d\"\nlanguage = \"none\"\n", d)
		for i := range each {
			n := d*each + i
			takes := time.Duration(1+n*7919%9) * w.unit
			needs := ""
			if i > 0 {
				ends[n] = ends[n-1]
			}
			if before := d - perLayer; before >= 0 {
				of := before*each + n*31%each
				needs = fmt.Sprintf("depends_on = [\"d%d:t%d\"]\n", before, of%each)
				ends[n] = max(ends[n], ends[of])
			}
			ends[n] += takes
			longest, sum = max(longest, ends[n]), sum+takes
			text += fmt.Sprintf("[tasks.t%d]\nrun = \"true %s %d\"\noutputs = [\"o%d\"]\ninputs = [\"in\"]\nremote = \"only\"\n%s", i, takes, n, i, needs)
		}
		dir := filepath.Join(root, fmt.Sprintf("d%d", d))
		writeFile(t, filepath.Join(dir, "dish.toml"), text)
		writeFile(t, filepath.Join(dir, "in"), fmt.Sprint(d))
	}
	return max(longest, sum/time.Duration(workers))
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runCluster runs all tasks of a workspace, and returns the end of the process and the summary.
func runCluster(t testing.TB, root string) (*os.ProcessState, runSummary) {
	t.Helper()
	args := []string{"run", "--json"}
	for i := range 10 {
		args = append(args, fmt.Sprintf("t%d", i))
	}
	cmd := exec.Command(builtBento(t), args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, ".bento", "cache"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, errs.String())
	}
	var doc struct{ Summary runSummary }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState, doc.Summary
}

// TestCluster: a cluster of many workers executes what does not depend on each other at once, and each task once.
func TestCluster(t *testing.T) {
	t.Parallel()
	const workers, dishes = 60, 30
	c := startTaking(t, workers, 5*time.Millisecond)
	root := t.TempDir()
	clusterTasks{dishes: dishes, layers: 3, unit: 20 * time.Millisecond}.write(t, root, c.GRPC, workers)
	if _, done := runCluster(t, root); done.Built != dishes*10 || c.ran.Load() != dishes*10 {
		t.Errorf("%+v, %d on workers", done, c.ran.Load())
	}
	if c.most.Load() < 2 || c.most.Load() > workers {
		t.Errorf("%d at once", c.most.Load())
	}
	for i := range dishes * 10 {
		if data, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("d%d/o%d", i/10, i%10))); err != nil || string(data) != fmt.Sprintln(i) {
			t.Fatalf("task %d made %q, %v", i, data, err)
		}
	}
	if _, done := runCluster(t, root); done.Hits != dishes*10 || c.ran.Load() != dishes*10 {
		t.Errorf("again: %+v, %d on workers", done, c.ran.Load())
	}
}

// BenchmarkCluster runs 10,000 tasks on 1,000 workers, whose server answers 20 ms later than it could. It reports the time beside
// the shortest possible one, and the processor time and memory of bento.
func BenchmarkCluster(b *testing.B) {
	const workers = 1000
	for b.Loop() {
		c := startTaking(b, workers, 20*time.Millisecond)
		root := b.TempDir()
		bound := clusterTasks{dishes: 1000, layers: 10, unit: 2 * time.Second}.write(b, root, c.GRPC, workers)
		builtBento(b)
		began := time.Now()
		end, done := runCluster(b, root)
		took := time.Since(began)
		if done.Built != 10_000 {
			b.Fatalf("%+v", done)
		}
		b.ReportMetric(bound.Seconds(), "bound-s")
		b.ReportMetric(took.Seconds()/bound.Seconds(), "x-bound")
		b.ReportMetric((end.UserTime() + end.SystemTime()).Seconds(), "cpu-s")
		b.ReportMetric(float64(end.SysUsage().(*syscall.Rusage).Maxrss)/1024, "MiB")
	}
}

// BenchmarkIndependent runs 200 tasks that do not depend on each other on real servers, 50 at once, and reports the share of one
// processor that bento needs meanwhile. BuildGrid has four workers.
func BenchmarkIndependent(b *testing.B) {
	const tasks, jobs = 200, 50
	builtBento(b)
	for name, open := range map[string]func(*testing.B) string{
		"BuildGrid":     func(b *testing.B) string { return servertest.OpenGrid(b, 4, "").GRPC },
		"buildbox-casd": func(b *testing.B) string { return servertest.Workers(b, "--jobs=50").GRPC },
	} {
		b.Run(name, func(b *testing.B) {
			server := open(b)
			for b.Loop() {
				root := b.TempDir()
				writeFile(b, filepath.Join(root, "bento.toml"), fmt.Sprintf("[remote]\nexec = \"grpc://%s\"\njobs = %d\nclass = \"test\"\n", server, jobs))
				for d := range tasks / 10 {
					text := fmt.Sprintf("name = \"d%d\"\nlanguage = \"none\"\n", d)
					for i := range 10 {
						text += fmt.Sprintf("[tasks.t%d]\nrun = \"sleep 1; echo %s %d >o%d\"\noutputs = [\"o%d\"]\ninputs = [\"in\"]\nremote = \"only\"\n", i, root, d*10+i, i, i)
					}
					writeFile(b, filepath.Join(root, fmt.Sprintf("d%d", d), "dish.toml"), text)
					writeFile(b, filepath.Join(root, fmt.Sprintf("d%d", d), "in"), "in")
				}
				began := time.Now()
				end, done := runCluster(b, root)
				if done.Built != tasks {
					b.Fatalf("%+v", done)
				}
				used := (end.UserTime() + end.SystemTime()).Seconds()
				b.ReportMetric(used, "cpu-s")
				b.ReportMetric(100*used/time.Since(began).Seconds(), "%core")
			}
		})
	}
}
