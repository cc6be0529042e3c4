package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The pair of keys with which results of the benchmark are signed.
const (
	publicKey  = "ci:HUkTFatBu2D+VK2H2j+BlqB40/R0X59m5wUkt0co2Hk="
	privateKey = "ci:ApszOlRGh/MEQcDPicdaFF1O5Y3hYZDmkchrCiuv2+0dSRMVq0G7YP5UrYfaP4GWoHjT9HRfn2bnBSS3RyjYeQ=="
)

// remoteBench measures the remote cache.
type remoteBench struct {
	*bench
	before string // a bento without a remote cache, "" for none
	n      int    // tasks of a workspace
	delays []time.Duration
	missed []string // the bars that were missed
}

// row is a case of the remote cache with a bar.
type row struct {
	name, bar string
	run       func(*remoteBench) error
}

func remoteRows() []row {
	return []row{
		{"1", "no remote cache configured, beside a bento that has none: no-op ≤ 1.02, start-up + 0.3 ms", (*remoteBench).unused},
		{"2", "all hits are local, with a remote cache beside none: ≤ 1.05", (*remoteBench).localHits},
		{"3", "small hits on an empty disk: ≤ turbo's time, the longest delay ≤ the shortest + 1 s", (*remoteBench).hits},
		{"4", "misses beside no remote cache: ≤ 1.05, memory + 10 MiB", (*remoteBench).misses},
		{"5", "sick servers beside no remote cache: + 100 ms, at most one warning", (*remoteBench).sick},
		{"6", "2 GB killed half-way continues, ≤ 64 MiB resident", tests("./cmd/bento", "TestLargeOutputKilled", "BENTO_TEST_LARGE=2147483648")},
		{"7", "evictions are misses, built and mended", tests("./cache/remote/...", "TestEvictions|TestServers|TestBackends")},
		{"8", "hostile servers: nothing accepted", tests("./cache/remote/...", "Hostile|TestWrongBytes|TestReplay|TestFlippedBits|TestForbiddenRecords|TestManyOutputs|TestEndless")},
		{"9", "what a pull request writes, trunk builds", tests("./cache/remote/...", "TestMemoryAsStore|TestScopesOf")},
		{"10", "two systems share no native result", tests("./cmd/bento", "TestMachineClasses")},
		{"11", "tasks executed by buildbox-casd and BuildGrid: also row 12", tests("./cmd/bento", "TestScriptWithWorkers")},
		{"13", "Bazel, Pants, turbo and bento in one server", tests("./cmd/bento", "TestBeside")},
	}
}

// remote measures chosen rows.
func remote(args []string) error {
	set := flag.NewFlagSet("bench remote", flag.ContinueOnError)
	bento := set.String("bento", "bin/bento", "the `program` to measure")
	before := set.String("before", "", "a `program` without a remote cache, for row 1")
	names := set.String("rows", "1,2,3,4,5,6,7,8,9,10,11,13", "the rows to measure, a `list`")
	n := set.Int("n", 1000, "how many tasks the workspaces have")
	delays := set.String("delays", "0,20,100", "the round trips to servers in milliseconds, a `list`")
	rounds := set.Int("rounds", 5, "how often each command is run")
	dir := set.String("dir", "", "where workspaces are put, and left; default: a directory that is removed")
	if err := set.Parse(args); err != nil {
		return err
	}
	r := &remoteBench{bench: &bench{rounds: max(1, *rounds), dir: *dir}, n: *n, before: *before}
	for text := range strings.SplitSeq(*delays, ",") {
		ms, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || ms < 0 {
			return fmt.Errorf("-delays %q: expected numbers of milliseconds", *delays)
		}
		r.delays = append(r.delays, time.Duration(ms)*time.Millisecond)
	}
	if err := r.open(*bento); err != nil {
		return err
	}
	if *dir == "" {
		defer os.RemoveAll(r.dir)
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "old")); err != nil { // from an earlier run with -dir
		return err
	}
	return r.rows(strings.Split(*names, ","))
}

func (r *remoteBench) rows(names []string) error {
	all := remoteRows()
	for _, name := range names {
		i := slices.IndexFunc(all, func(o row) bool { return o.name == strings.TrimSpace(name) })
		if i < 0 {
			return fmt.Errorf("-rows: there is no row %q", name)
		}
		begin := time.Now()
		fmt.Printf("row %s: %s\n", all[i].name, all[i].bar)
		if err := all[i].run(r); err != nil {
			r.judge(false, "row %s is not measured: %v", all[i].name, err) // the others are
		}
		fmt.Printf("  row %s took %v\n", all[i].name, time.Since(begin).Round(time.Second))
	}
	if len(r.missed) > 0 {
		return errors.New("missed:\n  " + strings.Join(r.missed, "\n  "))
	}
	return nil
}

// tests returns a row that tests of a package check.
func tests(pkg, pattern string, env ...string) func(*remoteBench) error {
	return func(r *remoteBench) error {
		cmd := exec.Command("go", "test", "-count=1", "-timeout=1h", "-v", "-run", pattern, pkg)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if text := strings.TrimSpace(line); strings.HasPrefix(text, "---") || strings.HasPrefix(text, "ok") || strings.Contains(text, ".go:") || err != nil {
				fmt.Print("  ", line)
			}
		}
		r.judge(err == nil, "go test -run %q %s: %v", pattern, pkg, err)
		return nil
	}
}

// judge prints whether a bar is met, and notes a missed one.
func (r *remoteBench) judge(good bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if good {
		fmt.Println("  met:", text)
		return
	}
	fmt.Println("  MISSED:", text)
	r.missed = append(r.missed, text)
}

// within judges the ratio of two commands that took turns.
func (r *remoteBench) within(c, base *command, most float64) {
	got := paired(c, base, func(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) })
	r.judge(got <= most, "%s: %.3f of %s, at most %.2f", c.name, got, base.name, most)
}

// later judges how much longer a command takes than one that took turns with it.
func (r *remoteBench) later(c, base *command, most time.Duration) {
	got := paired(c, base, func(a, b time.Duration) float64 { return ms(a - b) })
	r.judge(got <= ms(most), "%s: %+.1f ms beside %s, at most %.1f", c.name, got, base.name, ms(most))
}

// larger judges the memory of a command beside another.
func (r *remoteBench) larger(c, base *command, most int64) {
	got := c.peak() - base.peak()
	r.judge(got <= most, "%s: %+d KiB beside %s, at most %d", c.name, got>>10, base.name, most>>10)
}

// paired returns the median of what compare returns for each round.
func paired(c, base *command, compare func(a, b time.Duration) float64) float64 {
	list := make([]float64, len(c.runs))
	for i := range list {
		list[i] = compare(c.runs[i].wall, base.runs[i].wall)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// flat makes a workspace whose tasks do not depend on each other, and returns the commands for it.
func (r *remoteBench) flat(name string, s shape) (*commands, error) {
	root := filepath.Join(r.dir, name)
	for _, dir := range []string{root, root + "-cache"} { // from an earlier run with -dir
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	s.flat, s.bazel = true, true
	s.config = fmt.Sprintf("[cache]\nremote_keys = [%q]\n", publicKey)
	g, err := generate(root, s)
	return &commands{bench: r.bench, generated: g, cache: root + "-cache"}, err
}

// few is the number of sources of a package: what a remote cache costs is not to vanish beside what the files cost.
const few = 5

// far returns a bento command with a remote cache.
func (c *commands) far(name, url string, args ...string) *command {
	o := c.of(name, args...)
	o.env = append(o.env, "BENTO_REMOTE="+url, "BENTO_CACHE_TOKEN="+token)
	return o
}

// send fills a server with the results of the workspace.
func (c *commands) send(url string) error {
	if err := c.forget(); err != nil {
		return err
	}
	for _, args := range [][]string{{"run", "build", "--cache", "remote:rw"}, {"cache", "push", "--cache", "remote:rw"}} {
		o := c.far("bento "+strings.Join(args, " "), url, args...)
		o.env = append(o.env, "BENTO_REMOTE_SIGN_KEY="+privateKey)
		if _, err := o.run(c.root); err != nil {
			return err
		}
	}
	return nil
}
