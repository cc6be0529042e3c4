package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/host"
)

// ample is a timeout that no test misses, however busy the machine is.
const ample = 10 * time.Minute

// short returns the numbers of the tests: short pauses and shutdown times, and ample timeouts.
func short() Numbers {
	return Numbers{Install: ample, Numbers: host.Numbers{
		Handshake: ample,
		Query:     ample,
		Window:    time.Hour,
		Respawn:   []time.Duration{10 * time.Millisecond, 40 * time.Millisecond},
		Shutdown:  500 * time.Millisecond,
		Term:      300 * time.Millisecond,
		Drain:     500 * time.Millisecond,
	}}
}

// numbers shortens the timeout that the behaviour misses on purpose.
func (b *behaviour) numbers() Numbers {
	n := short()
	switch {
	case strings.Contains(b.says, "no answer to initialize"):
		n.Handshake = time.Second
	case strings.Contains(string(b.code), string(adapters.Timeout)):
		n.Query, n.Install = time.Second, time.Second
	case strings.Contains(b.says, "exit status"): // after it has closed its stdout
		n.Drain = ample
	}
	return n
}

// install makes the test binary a plugin with this id in dir.
func install(t testing.TB, dir, id string) adapters.Candidate {
	t.Helper()
	path := filepath.Join(dir, "bento-adapter-"+id)
	if err := os.Symlink(testrun.Kid(t), path); err != nil {
		t.Fatal(err)
	}
	return adapters.Candidate{ID: id, Path: path, Contract: adapters.ContractV1}
}

// TestMisbehave runs every behaviour (with -short a sample), twelve at a time. Each must have its expected
// result in time, and leave no process.
func TestMisbehave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	began := time.Now()
	atOnce := make(chan struct{}, 12)
	var all sync.WaitGroup
	list := behaviours()
	if testing.Short() {
		list = sampling.Of(t, len(list)/2, list)
	}
	for _, b := range list {
		c := install(t, dir, b.id)
		all.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			took, got, err := misbehave(c, b)
			if err != nil {
				t.Errorf("%s: %v", b.id, err)
			}
			t.Logf("%-20s %-26s %6d ms", b.id, got, took.Milliseconds())
		})
	}
	all.Wait()
	if left := testrun.LeftIn(dir); len(left) > 0 {
		t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
	t.Logf("%d behaviours in %v", len(list), time.Since(began).Round(10*time.Millisecond))
}

// limit is how long a behaviour may take. It is less than the ample timeouts.
const limit = ample / 2

// misbehave returns the time and the result of a behaviour. The error describes a wrong result.
func misbehave(c adapters.Candidate, b behaviour) (took time.Duration, got string, err error) {
	began := time.Now()
	set, err := Start(context.Background(), []adapters.Candidate{c}, Options{Version: "0", Stderr: io.Discard, Numbers: b.numbers(), Digests: digests()})
	if err != nil {
		return 0, "", err
	}
	outcome, err := b.check(set)
	set.Close()
	if took = time.Since(began); took > limit {
		err = errors.Join(err, fmt.Errorf("took %v", took))
	}
	return took, codeOf(outcome), err
}

func codeOf(err error) string {
	var f *adapters.Failure
	if errors.As(err, &f) {
		return string(f.Code)
	}
	return "ok"
}

// check asks the questions of b and compares the outcome.
func (b *behaviour) check(set *Set) (outcome, problem error) {
	left := b.left
	outcome = failureOf(set, b.id)
	switch {
	case b.ask == "" && left == "":
		left = Failed
	case b.ask != "" && len(set.Adapters()) == 1: // even if it has failed since its start
		outcome = b.asked(set.Adapters()[0].(*Process))
	}
	if problem := b.compare(outcome); problem != nil {
		return outcome, problem
	}
	return outcome, b.compareStatus(set, left)
}

func failureOf(set *Set, id string) error {
	if f := set.Failures()[id]; f != nil {
		return f
	}
	return nil
}

// asked asks all questions of b.ask and returns the last error.
func (b *behaviour) asked(p *Process) (err error) {
	for i, question := range strings.Fields(b.ask) {
		err = ask(p, question, "/dish/"+strconv.Itoa(i))
	}
	return err
}

func ask(p *Process, question, dir string) (err error) {
	ctx := context.Background()
	switch question {
	case "detect":
		var found bool
		if found, err = p.Detect(ctx, dir); err == nil && !found {
			err = errors.New("not detected")
		}
	case "toolchain":
		_, err = p.RequiredToolchain(ctx, dir)
	case "fingerprint":
		_, err = p.ToolchainFingerprint(ctx, dir)
	case "install":
		err = p.Install(ctx, adapters.InstallRequest{DishDir: dir, DishName: "dish"}, func(adapters.Log) {})
	case "tasks":
		_, err = p.Tasks(ctx, dir)
	case "links":
		_, err = p.Links(ctx, dir)
	case "scope":
		_, err = p.InstallScope(ctx, dir)
	case "lint":
		_, err = p.ParseDiagnostics(ctx, adapters.ParseRequest{TaskName: "lint", Stdout: strings.Repeat("line\n", 50_000), DishDir: dir, WorkspaceRoot: "/dish"})
	case "nothing":
		err = askAll(p, dir)
	}
	return err
}

// askAll calls all methods of a plugin that knows none. Each must return the default of an adapter without
// the method.
func askAll(p *Process, dir string) error {
	ctx := context.Background()
	found, err := p.Detect(ctx, dir)
	pin, err2 := p.RequiredToolchain(ctx, dir)
	print, err3 := p.ToolchainFingerprint(ctx, dir)
	tasks, err4 := p.Tasks(ctx, dir)
	scope, err5 := p.InstallScope(ctx, dir)
	links, err6 := p.Links(ctx, dir)
	err7 := p.Install(ctx, adapters.InstallRequest{DishDir: dir}, nil)
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7); err != nil {
		return err
	}
	if found || pin != nil || print != "" || len(tasks.Tasks) != 1 || scope.Dir != dir || links.Links != nil {
		return fmt.Errorf("got %v, %v, %q, %v, %v, %v", found, pin, print, tasks, scope, links)
	}
	return nil
}

func (b *behaviour) compare(err error) error {
	var f *adapters.Failure
	if !errors.As(err, &f) {
		if err != nil || b.code != "" {
			return fmt.Errorf("got error %v, want code %q", err, b.code)
		}
		return nil
	}
	if !oneOf(string(f.Code), string(b.code)) || !partOf(f.Message, b.says) {
		return fmt.Errorf("got %q %q, want %q %q", f.Code, f.Message, b.code, b.says)
	}
	if f.Adapter != b.id || f.Path == "" || len(f.Stderr) > 64<<10 {
		return fmt.Errorf("incomplete failure %+v", f)
	}
	return nil
}

func (b *behaviour) compareStatus(set *Set, want string) error {
	if got := set.Status()[0].Status; want != "?" && got != or(want, Loaded) {
		return fmt.Errorf("status %q, want %q", got, or(want, Loaded))
	}
	return nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func oneOf(got, want string) bool {
	for w := range strings.SplitSeq(want, "|") {
		if got == w {
			return true
		}
	}
	return false
}

func partOf(text, parts string) bool {
	for part := range strings.SplitSeq(parts, "|") {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
