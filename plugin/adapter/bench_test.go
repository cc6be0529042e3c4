package adapter

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/host"
)

// All benchmarks of the host's speed run with
//
//	go test -run '^$' -bench Host ./plugin/adapter ./cmd/bento
//
// The machine may be busy. So each measurement alternates with the same work without bento,
// and the benchmark reports both medians.

// times are measurements of one operation.
type times []time.Duration

func (t *times) measure(do func()) {
	began := time.Now()
	do()
	*t = append(*t, time.Since(began))
}

func (t times) median() time.Duration {
	slices.Sort(t)
	return t[len(t)/2]
}

// tell reports two medians, in microseconds, and how they compare.
func tell(b *testing.B, ours times, name string, other times) {
	b.Helper()
	a, o := ours.median(), other.median()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(a.Nanoseconds())/1000, "µs")
	b.ReportMetric(float64(o.Nanoseconds())/1000, name+"-µs")
	b.ReportMetric(float64((a-o).Nanoseconds())/1000, "more-µs")
	b.ReportMetric(float64(a)/float64(o), "ratio")
}

// bench starts the plugin with the given id.
func bench(b *testing.B, o Options, id string) *Set {
	b.Helper()
	return benchSet(b, o, install(b, b.TempDir(), id))
}

func benchSet(b *testing.B, o Options, c adapters.Candidate) *Set {
	b.Helper()
	set, err := Start(b.Context(), []adapters.Candidate{c}, o)
	if err != nil || len(set.Adapters()) == 0 {
		b.Fatal(err, set.Warnings())
	}
	b.Cleanup(set.Close)
	return set
}

// bare is a plugin that the benchmark calls without bento.
type bare struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	raw io.ReadCloser
}

func startBare(b *testing.B, path string) *bare {
	cmd := exec.Command(path)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return &bare{b: b, cmd: cmd, in: in, out: bufio.NewReader(out), raw: out}
}

// ask writes a request and reads the answer.
func (p *bare) ask(body string) {
	if _, err := fmt.Fprintf(p.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		p.b.Fatal(err)
	}
	header, _ := p.out.ReadString('\n')
	var n int
	if _, err := fmt.Sscanf(header, "Content-Length: %d", &n); err != nil {
		p.b.Fatal(err)
	}
	if _, err := p.out.Discard(n + len("\r\n")); err != nil {
		p.b.Fatal(err)
	}
}

func (p *bare) end() {
	p.in.Close()
	_ = p.cmd.Wait()
}

const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`

// BenchmarkHostHandshake compares the start of a plugin by bento with a bare process that answers its
// first request.
func BenchmarkHostHandshake(b *testing.B) {
	c := install(b, b.TempDir(), "echo")
	o := Options{Digests: host.NewDigests(state.Open(b.TempDir()))}
	var ours, alone times
	for b.Loop() {
		var set *Set
		ours.measure(func() { set, _ = Start(context.Background(), []adapters.Candidate{c}, o) })
		if len(set.Adapters()) == 0 {
			b.Fatal(set.Warnings())
		}
		set.Close()
		var p *bare
		alone.measure(func() { p = startBare(b, c.Path); p.ask(greeting) })
		p.end()
	}
	tell(b, ours, "process", alone)
}

// BenchmarkHostDetect compares a call by bento with the same bytes over the same kind of pipe. It calls
// two plugins: a minimal one, and the example, which uses package plugin and looks for a file. A round has
// 100 calls of each.
func BenchmarkHostDetect(b *testing.B) {
	b.Run("echo", func(b *testing.B) { benchDetect(b, install(b, b.TempDir(), "echo")) })
	b.Run("sdk", func(b *testing.B) { benchDetect(b, noop(b)) })
}

func benchDetect(b *testing.B, c adapters.Candidate) {
	a := benchSet(b, Options{}, c).Adapters()[0]
	p := startBare(b, c.Path)
	p.ask(greeting)
	defer p.end()
	var ours, pipe times
	for i := 0; b.Loop(); i++ {
		for j := range 100 {
			dir := fmt.Sprintf("/dish/%d/%d", i, j)
			ours.measure(func() {
				if _, err := a.Detect(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
			})
		}
		for j := range 100 {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"detect","params":{"dir":"/dish/%d/%d"}}`, j, i, j)
			pipe.measure(func() { p.ask(body) })
		}
	}
	tell(b, ours, "pipe", pipe)
}

// BenchmarkHostParseDiagnostics compares a call with 1 MiB of output with the same call by jrpc2 with its
// own framing.
func BenchmarkHostParseDiagnostics(b *testing.B) {
	req := adapters.ParseRequest{TaskName: "lint", Stdout: strings.Repeat("src/main.zig:12:5: error\n", 1<<20/25), DishDir: "/w", WorkspaceRoot: "/w"}
	a := bench(b, Options{}, "good").Adapters()[0]
	cmd := startBare(b, install(b, b.TempDir(), "good").Path)
	defer cmd.end()
	cli := jrpc2.NewClient(channel.LSP(cmd.raw, cmd.in), nil)
	defer cli.Close()
	var ours, theirs times
	for b.Loop() {
		var err error
		ours.measure(func() { _, err = a.ParseDiagnostics(b.Context(), req) })
		if err != nil {
			b.Fatal(err)
		}
		theirs.measure(func() { _, err = cli.Call(b.Context(), "parseDiagnostics", req) })
		if err != nil {
			b.Fatal(err)
		}
	}
	tell(b, ours, "jrpc2", theirs)
}

// nap makes a plugin whose initialize takes 200 ms and almost no CPU. So a start of 20 of them measures
// bento.
func nap(b *testing.B, dir, id string) adapters.Candidate {
	b.Helper()
	manifest := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocol_version":1,"adapter_id":%q,"display_name":"nap","fingerprint_files":["nap.toml"],"default_tasks":[]}}`, id)
	script := fmt.Sprintf("#!/bin/sh\nread -r header\nsleep 0.2\nprintf 'Content-Length: %d\\r\\n\\r\\n%%s' '%s'\nread -r body\nread -r next\n", len(manifest), manifest)
	c := adapters.Candidate{ID: id, Path: filepath.Join(dir, "bento-adapter-"+id), Contract: adapters.ContractV1}
	if err := os.WriteFile(c.Path, []byte(script), 0o755); err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkHostStart compares the start of 20 plugins with a slow initialize with the start of one.
func BenchmarkHostStart(b *testing.B) {
	dir := b.TempDir()
	var list []adapters.Candidate
	for i := range 20 {
		list = append(list, nap(b, dir, fmt.Sprintf("nap-%d", i)))
	}
	o := Options{Digests: host.NewDigests(state.Open(b.TempDir())), Env: adapters.NewEnviron(os.Environ())}
	starts := func(t *times, list []adapters.Candidate) {
		var set *Set
		t.measure(func() { set, _ = Start(context.Background(), list, o) })
		if len(set.Adapters()) != len(list) {
			b.Fatal(set.Warnings())
		}
		set.Close()
	}
	var twenty, one times
	for b.Loop() {
		starts(&one, list[:1])
		starts(&twenty, list)
	}
	tell(b, twenty, "one", one)
}

// BenchmarkHostFlood consumes a million log notifications a round, and reports the memory of this process
// afterwards.
func BenchmarkHostFlood(b *testing.B) {
	a := bench(b, Options{Numbers: Numbers{Install: 10 * time.Minute}}, "floods-a-million").Adapters()[0]
	for b.Loop() {
		n := 0
		if err := a.Install(b.Context(), adapters.InstallRequest{DishDir: "/w"}, func(adapters.Log) { n++ }); err != nil || n != 1_000_000 {
			b.Fatal(n, err)
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
		var kib float64
		fmt.Sscan(string(rest), &kib)
		b.ReportMetric(kib/1024, "MiB-peak")
	}
}
