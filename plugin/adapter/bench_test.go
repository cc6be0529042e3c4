package adapter

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/bentobuild/bento/adapters"
)

// bench starts the plugin with this id.
func bench(b *testing.B, o Options, id string) *Set {
	b.Helper()
	set, err := Start(b.Context(), []adapters.Candidate{install(b, b.TempDir(), id)}, o)
	if err != nil || len(set.Adapters()) == 0 {
		b.Fatal(err, set.Warnings())
	}
	b.Cleanup(set.Close)
	return set
}

// BenchmarkHandshake compares a start with that of the bare process.
func BenchmarkHandshake(b *testing.B) {
	c := install(b, b.TempDir(), "good")
	b.Run("plugin", func(b *testing.B) {
		for b.Loop() {
			set, err := Start(context.Background(), []adapters.Candidate{c}, Options{})
			if err != nil || len(set.Adapters()) == 0 {
				b.Fatal(err)
			}
			b.StopTimer()
			set.Close()
			b.StartTimer()
		}
	})
	b.Run("process", func(b *testing.B) { // until it reads and answers
		for b.Loop() {
			cmd := exec.Command(c.Path)
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
			fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body)
			if _, err := out.Read(make([]byte, 1<<16)); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			in.Close()
			cmd.Wait()
			b.StartTimer()
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	a := bench(b, Options{}, "good").Adapters()[0]
	i := 0
	for b.Loop() {
		i++
		if _, err := a.Detect(b.Context(), fmt.Sprintf("/dish/%d", i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseDiagnostics compares 1 MiB of output with the same call made by
// jrpc2 with its own framing.
func BenchmarkParseDiagnostics(b *testing.B) {
	req := adapters.ParseRequest{TaskName: "lint", Stdout: strings.Repeat("src/main.zig:12:5: error\n", 1<<20/25), DishDir: "/w", WorkspaceRoot: "/w"}
	b.Run("host", func(b *testing.B) {
		a := bench(b, Options{}, "good").Adapters()[0]
		b.SetBytes(int64(len(req.Stdout)))
		for b.Loop() {
			if _, err := a.ParseDiagnostics(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("jrpc2", func(b *testing.B) {
		cmd := exec.Command(install(b, b.TempDir(), "good").Path)
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		cli := jrpc2.NewClient(channel.LSP(out, in), nil)
		b.SetBytes(int64(len(req.Stdout)))
		for b.Loop() {
			if _, err := cli.Call(b.Context(), "parseDiagnostics", req); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		cli.Close()
		cmd.Wait()
	})
}

// BenchmarkFlood consumes a million log notifications a round, and tells the
// memory of this process afterwards.
func BenchmarkFlood(b *testing.B) {
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
