package run_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/tier"
	"github.com/bentobuild/bento/internal/workspace"
)

// late is a remote store with the results of a Disk in another directory.
type late struct {
	*testing.T
	from    *cache.Disk
	printed chan struct{}         // closed when a task has printed something; nil for never
	hold    func(context.Context) // is called before a result is fetched; nil for nothing
	lies    bool                  // it says that it has fetched what it has not
	sent    []remote.Outgoing

	mu    sync.Mutex
	asked []int // the number of keys of each question
}

// tier returns the Tier of a workspace.
func (l *late) tier(ws *workspace.Workspace) *tier.Tier {
	return tier.New(tier.Options{
		Open: func() (remote.Store, error) { return l, nil }, Disk: cache.DiskOf(ws.Store), State: ws.State, Read: true, Write: true, Wait: time.Minute,
	})
}

func (l *late) Find(_ context.Context, keys []cache.Key, answer func(remote.Answer)) {
	l.mu.Lock()
	l.asked = append(l.asked, len(keys))
	l.mu.Unlock()
	for _, k := range keys {
		if _, err := l.from.Lookup(k); err != nil && !l.lies {
			answer(remote.Answer{Key: k, Err: remote.ErrMiss})
			continue
		}
		answer(remote.Answer{Key: k, Found: &remote.Found{ID: remote.ID{Key: k}}})
	}
}

func (l *late) Fetch(ctx context.Context, f *remote.Found, disk *cache.Disk) error {
	if l.hold != nil {
		l.hold(ctx)
	}
	if l.lies {
		return nil
	}
	r, err := l.from.Lookup(f.Key)
	if err != nil {
		return err
	}
	blobs, err := remote.Blobs(r)
	for _, b := range append(blobs, remote.Blob{Digest: r.Pack}) {
		if b.Digest == (cache.Digest{}) || err != nil {
			continue
		}
		var from io.ReadCloser
		if from, err = l.from.Open(b.Digest); err == nil {
			err = disk.Add(b.Digest, from)
			from.Close()
		}
	}
	return cmp.Or(err, disk.Record(f.Key, r))
}

func (l *late) Send(_ context.Context, disk *cache.Disk, results []remote.Outgoing, done func(remote.Sent)) {
	for _, r := range results {
		l.sent = append(l.sent, r)
		done(remote.Sent{Key: r.Key})
	}
}

func (l *late) Close() error { return nil }

// forget moves the cache of the bench to another directory, from which results are late, and removes the state and
// what tasks have made.
func (b *bench) forget() {
	b.Helper()
	home, _ := b.env.Lookup("HOME")
	for _, err := range []error{
		os.Rename(filepath.Join(home, "cache"), filepath.Join(home, "late")), os.RemoveAll(filepath.Join(b.root, ".bento")),
		os.RemoveAll(filepath.Join(b.root, "d/out")), os.RemoveAll(filepath.Join(b.root, "d/gen.txt")),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
	from, err := cache.Open(filepath.Join(home, "late"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.late = &late{T: b.T, from: from}
}

// write replaces the tasks of the bench.
func (b *bench) write(tasks string) {
	b.Helper()
	if err := copyTo(filepath.Join(b.root, "d/dish.toml"), []byte(tasks)); err != nil {
		b.Fatal(err)
	}
}

// Misses whose results arrive are hits like any other: nothing is executed, and the outputs are those of the first
// run. A key that needs the outputs of another task is asked for once that has arrived.
func TestFetch(t *testing.T) {
	for name, lies := range map[string]bool{"arrives": false, "lies": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write(lateTasks)
			b.run("all")
			before := b.made()
			b.forget()
			b.late.lies = lies
			results, _ := b.run("all")
			for name, r := range results {
				if want := map[bool]run.Outcome{false: run.CacheHit, true: run.Built}[lies || name == "all"]; r.Outcome != want || r.Remote != (want == run.CacheHit) {
					t.Errorf("%s: %s %s, want %s", name, r.Outcome, r.Message, want)
				}
			}
			if after := b.made(); !slices.Equal(before, after) {
				t.Errorf("made %q, want %q", after, before)
			}
			if !slices.Equal(b.late.asked, []int{1, 1, 1}) {
				t.Errorf("asked for %d keys, want one at a time", b.late.asked)
			}
			if want := map[bool]int{false: 0, true: 3}[lies]; len(b.late.sent) != want {
				t.Errorf("sent %d results, want %d", len(b.late.sent), want)
			}
		})
	}
}

// Results are asked for while tasks are evaluated: the first alone and at once, the others some at a time, each key once.
func TestFetchAsksEarly(t *testing.T) {
	const tasks = 100
	b := newBench(t)
	text := "language = \"none\"\n"
	var names []string
	for i := range tasks {
		text += fmt.Sprintf("[tasks.t%d]\nrace = false\nrun = \"echo %d\"\ninputs = [\"src.c\"]\n", i, i)
		names = append(names, fmt.Sprintf("%q", fmt.Sprintf("t%d", i)))
	}
	b.write(text + "[tasks.all]\nrun = \"true\"\ncache = false\ndepends_on = [" + strings.Join(names, ", ") + "]\n")
	b.run("all")
	b.forget()
	if results, _ := b.run("all"); results["t7"].Outcome != run.CacheHit {
		t.Errorf("%s, want a hit", results["t7"].Outcome)
	}
	sum := 0
	for _, n := range b.late.asked {
		sum += n
	}
	if sum != tasks || !slices.Contains(b.late.asked, 1) || slices.Max(b.late.asked) > 32 {
		t.Errorf("asked for %d keys, want one first, then up to 32, %d in all", b.late.asked, tasks)
	}
}

// A result that arrives while its task is executed ends the command, and replaces what it has left.
func TestFetchOvertakes(t *testing.T) {
	b := newBench(t)
	b.local = true
	home, _ := b.env.Lookup("HOME")
	b.write(strings.ReplaceAll(racingTask, "$HOME", home))
	b.run("build")
	before := b.made()
	b.forget()
	if err := os.WriteFile(filepath.Join(home, "slow"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	printed := make(chan struct{})
	b.late.printed, b.late.hold = printed, func(context.Context) { <-printed }
	results, _ := b.run("build")
	if r := results["build"]; r.Outcome != run.CacheHit || !r.Remote || r.Attempts != 0 {
		t.Errorf("%s %s, %d attempts, want a hit", r.Outcome, r.Message, r.Attempts)
	}
	if after := b.made(); !slices.Equal(before, after) {
		t.Errorf("made %q, want %q", after, before)
	}
	pid, err := os.ReadFile(filepath.Join(home, "pid"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil || syscall.Kill(n, 0) == nil {
		t.Errorf("process %d runs on, %v", n, err)
	}
	b.late = nil
	if results, _ = b.run("build"); results["build"].Outcome != run.CacheHit {
		t.Errorf("then %s, want a hit", results["build"].Outcome)
	}
}

// A task that ends before its result arrives needs it no more.
func TestFetchTooLate(t *testing.T) {
	b := newBench(t)
	b.local = true
	b.write(strings.ReplaceAll(racingTask, "$HOME", "/none"))
	b.run("build")
	b.forget()
	b.late.hold = func(ctx context.Context) { <-ctx.Done() }
	results, _ := b.run("build")
	if r := results["build"]; r.Outcome != run.Built || r.Remote {
		t.Errorf("%s, want built", r.Outcome)
	}
}

const racingTask = `language = "none"
[tasks.build]
run = "mkdir -p out; cat src.c > out/all; if test -e $HOME/slow; then rm out/all; echo half > out/half; echo $$ > $HOME/pid; echo begun; exec sleep 1000; fi"
outputs = ["out/*"]
`

// made describes the outputs of all tasks.
func (b *bench) made() (list []string) {
	err := filepath.WalkDir(filepath.Join(b.root, "d"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		target, _ := os.Readlink(p)
		list = append(list, fmt.Sprintf("%s %v %q %s", d.Name(), fi.Mode(), data, target))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return list
}

const lateTasks = `language = "none"
[tasks.gen]
race = false
run = "cat src.c > gen.txt"
outputs = ["gen.txt"]
[tasks.build]
race = false
run = "mkdir out; cat gen.txt > out/all; chmod 755 out/all; ln -s all out/link"
depends_on = ["gen"]
inputs = ["gen.txt"]
outputs = ["out/*"]
[tasks.check]
race = false
run = "echo checked"
inputs = ["src.c"]
[tasks.all]
run = "true"
depends_on = ["build", "check"]
cache = false
`
