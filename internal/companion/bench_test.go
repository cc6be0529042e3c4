package companion

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	sdk "github.com/bentobuild/bento/plugin/extension"
)

// kidVariable makes the test binary run as the extension of that name.
const kidVariable = "BENTO_TEST_KID"

func TestMain(m *testing.M) {
	if name := os.Getenv(kidVariable); name != "" {
		sdk.Main(kid(name))
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/bentobuild/bento/internal/proc.(*family).adopt.func1")) // it forks all children
}

// kid is an extension that gets all events and does nothing.
type kid string

func (k kid) Info() sdk.Info { return sdk.Info{Name: string(k), Version: "1.0.0"} }

func (k kid) Event(context.Context, *sdk.Client, sdk.Event) error { return nil }

// cpu returns the CPU time of this process.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkFive sends 10,000 events to five extensions, each a process. It reports bento's CPU time.
func BenchmarkFive(b *testing.B) {
	root := b.TempDir()
	cfg := &config.Workspace{Root: root, Extensions: make(map[string]config.Extension)}
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for i := range 5 {
		id := fmt.Sprintf("kid%d", i)
		dir := filepath.Join(root, id)
		manifest := fmt.Sprintf("[plugin]\nname = %q\nversion = \"1.0.0\"\nabi_version = 2\n[capabilities]\nevent_bus = true\n[subscribes]\nsnapshots = [\"task.finished\"]\n[lifecycle]\nspawn = \"eager\"\n", id)
		if err := os.Mkdir(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for name, text := range map[string]string{"manifest.toml": manifest, id: "#!/bin/sh\nexec " + program + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		cfg.Extensions[id] = config.Extension{Own: true, Path: dish.Text{Text: dir}, Grant: []string{"event_bus"}, SetEnv: map[string]string{kidVariable: id}, Wait: time.Minute}
	}
	o := Options{
		Places: Places{Root: root, Records: &Records{Dir: filepath.Join(root, "records")}},
		State:  state.Open(root), Environ: adapters.NewEnviron(os.Environ()), Guard: func() {},
	}
	const bursts, size = 20, 500
	for b.Loop() {
		s := Open(b.Context(), cfg, o)
		settle(b, s)
		end := events(1)[3]
		began := cpu(b)
		for range bursts {
			for range size {
				s.Report(end)
			}
			settle(b, s)
		}
		b.ReportMetric(float64((cpu(b) - began).Milliseconds()), "cpu-ms/10k")
		if n := s.queue.lost(); n > 0 || len(s.Problems()) > 0 {
			b.Fatalf("%d events were dropped, %v", n, s.Problems())
		}
		s.Close()
	}
}

// settle waits until the set has sent all events to all extensions.
func settle(b *testing.B, s *Set) {
	<-s.found
	s.settle(b.Context())
	for _, h := range s.hosts {
		h.(*companions).Settle(b.Context())
	}
}
