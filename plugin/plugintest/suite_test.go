package plugintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/testrun"
)

// install makes the test binary a plugin with this id in dir.
func install(t testing.TB, dir, id string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "bento-adapter-"+id)
	if err := os.Symlink(testrun.Kid(t), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// failed returns the failed clauses.
func failed(r *Report) (clauses []string) {
	for _, a := range r.Axes {
		if a.Status == Fail {
			clauses = append(clauses, a.Clause)
		}
	}
	return clauses
}

// ample is a timeout that no test misses, however busy the machine is.
const ample = 10 * time.Minute

// TestAxes runs the suite on every kid (with -short on a sample). The suite must name the broken clauses,
// and no process is left.
func TestAxes(t *testing.T) {
	dir := t.TempDir()
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for _, b := range sampling.Short(t, 10, kids()) {
		path := install(t, dir, b.id)
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			o := Options{Setup: Setup{Within: ample, Exit: ample}}
			if slices.Contains([]string{"prints-first", "silent", "string-id", "drops-the-second", "counts-characters", "stays", "outlives-stdin", "deaf-to-term", "forgets-cancelled"}, b.id) {
				o.Within, o.Exit = 2*time.Second, time.Second
			}
			r, err := Run(t.Context(), path, o)
			if err != nil {
				t.Errorf("%s: %v", b.id, err)
				return
			}
			got := failed(r)
			for _, clause := range strings.Fields(b.fails) {
				if !slices.Contains(got, clause) {
					t.Errorf("%s: clause %s is not failed, those are: %v", b.id, clause, got)
				}
			}
			for _, a := range r.Axes {
				if strings.Contains(a.Got, "json: ") {
					t.Errorf("%s: clause %s mentions Go: %s", b.id, a.Clause, a.Got)
				}
			}
			if b.fails == "" && len(got) > 0 {
				t.Errorf("%s: %v are failed: %+v", b.id, got, r.Axes)
			}
			t.Logf("%-22s %6d ms  %v", b.id, r.Took.Milliseconds(), got)
		})
	}
	running.Wait()
	if left := testrun.LeftIn(dir); len(left) > 0 {
		t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
}

// emptySuite is the suite of no plugin, whose table has all axes.
func emptySuite() *suite { return &suite{lab: &lab{}, manifest: &adapters.Manifest{}} }

// TestEveryAxisCanFail: each axis of the suite has a kid that fails it.
func TestEveryAxisCanFail(t *testing.T) {
	var all []string
	for _, b := range kids() {
		all = append(all, strings.Fields(b.fails)...)
	}
	for _, a := range emptySuite().axes() {
		if !slices.Contains(all, a.clause) {
			t.Errorf("no kid fails %s: %s", a.clause, a.expected)
		}
	}
}

// need skips a test whose tool is missing, or fails it if the environment requires all tools.
func need(t *testing.T, tool string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it drives real tools")
	}
	if _, err := exec.LookPath(tool); err != nil {
		if os.Getenv("BENTO_REQUIRE_TOOLS") != "" {
			t.Fatalf("%s is not installed", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
}

// TestPythonNoop tests two plugins: the example passes every axis, and the plugin in the text of the
// contract fails only the clause about wrong params.
func TestPythonNoop(t *testing.T) {
	need(t, "python3")
	for path, want := range map[string][]string{
		"../../examples/bento-adapter-noop/python/bento-adapter-noop": nil,
		"testdata/contract/bento-adapter-noop":                        {"3.6"},
	} {
		r, err := Run(t.Context(), path, Options{Setup: Setup{Stderr: t.Output(), Within: ample, Exit: ample}})
		if err != nil {
			t.Fatal(err)
		}
		if got := failed(r); !slices.Equal(got, want) {
			t.Errorf("%s: failed clauses: %v, want %v, of %+v", path, got, want, r.Axes)
		}
	}
}

// TestGoNoop: a plugin on the SDK passes every axis.
func TestGoNoop(t *testing.T) {
	need(t, "go")
	path := filepath.Join(t.TempDir(), "bento-adapter-noop")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", path, "../../examples/bento-adapter-noop").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := Run(t.Context(), path, Options{Setup: Setup{Stderr: t.Output(), Within: ample, Exit: ample}})
	if err != nil {
		t.Fatal(err)
	}
	if got := failed(r); len(got) > 0 {
		t.Errorf("failed clauses: %v, of %+v", got, r.Axes)
	}
}

// TestNoExecutable: a plugin that cannot be started fails its first clause.
func TestNoExecutable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bento-adapter-none")
	r, err := Run(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := failed(r); !slices.Contains(got, "4.1") {
		t.Errorf("failed clauses: %v", got)
	}
}
