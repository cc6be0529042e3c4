package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/observe"
	"github.com/bentobuild/bento/internal/sampling"
)

// pooled are paths that the tasks of TestObservedIsNeverWrong use and do not declare.
var pooled = []string{"a", "b", "c", "d/a", "d/b", "d/e/a", "f"}

// seeProgram prints a file as cat does, and is no dynamic program.
const seeProgram = `package main

import "os"

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.Write(text)
}
`

// drawer draws commands for /bin/sh. see is the path of seeProgram.
type drawer struct {
	*rand.Rand
	see string
}

// next returns a command that uses some of the pooled paths, in ways that depend on what it finds.
func (r *drawer) next(depth int) string {
	p := func() string { return "../pool/" + pooled[r.IntN(len(pooled))] }
	d := func() string { return "../pool/" + []string{"", "d", "d/e", "f"}[r.IntN(4)] }
	if depth == 0 {
		switch r.IntN(6) {
		case 0:
			return fmt.Sprintf("cat %s || echo none", p())
		case 1:
			return fmt.Sprintf("%s %s || echo none", r.see, p())
		case 2:
			return fmt.Sprintf("{ test -e %s && echo yes || echo no; }", p())
		case 3:
			return fmt.Sprintf("{ test -d %s && echo directory || echo none; }", p())
		case 4:
			return fmt.Sprintf("{ ls %s || echo none; }", d())
		default:
			return fmt.Sprintf("echo %s/*", d())
		}
	}
	one, two := r.next(depth-1), r.next(depth-1)
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("if test -e %s; then %s; else %s; fi", p(), one, two)
	case 1:
		return fmt.Sprintf("if grep -q 1 %s; then %s; else %s; fi", p(), one, two)
	case 2:
		return fmt.Sprintf("{ cat ../pool/d/$(cat %s) || %s; }; %s", p(), one, two)
	default:
		return one + "; " + two
	}
}

// change changes something in the pool of a clone.
func change(t *testing.T, r *rand.Rand, clone string) {
	pool := filepath.Join(clone, "pool")
	at := filepath.Join(pool, pooled[r.IntN(len(pooled))])
	switch r.IntN(5) {
	case 0:
		_ = os.RemoveAll(at)
	case 1:
		_ = os.Rename(at, filepath.Join(pool, pooled[r.IntN(len(pooled))])) // where something is in the way: no change
	case 2:
		_ = os.RemoveAll(at)
		if os.MkdirAll(filepath.Dir(at), 0o777) == nil {
			_ = os.Symlink([]string{"a", "d", "gone", "../pool/d/e"}[r.IntN(4)], at)
		}
	default:
		if os.MkdirAll(filepath.Dir(at), 0o777) == nil {
			_ = os.WriteFile(at, []byte([]string{"a\n", "b\n", "1\n", ""}[r.IntN(4)]), 0o666)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// undeclared is a dish.toml with a task that declares none of the pooled paths; the verb is for its command.
const undeclared = "language = \"none\"\n[tasks.x]\nrun = %q\ninputs = [\"in\"]\noutputs = [\"out\", \"filters\"]\n"

// TestObservedIsNeverWrong: whatever undeclared files tasks use, and whatever happens to these in some clones with one
// cache, the outputs are those of an execution. BENTO_TEST_STEPS is the number of changes.
func TestObservedIsNeverWrong(t *testing.T) {
	neverWrong(t, "", undeclared, "--observe", "always")
}

// TestSometimesObservedIsNeverWrong is TestObservedIsNeverWrong for executions of which only some are observed: where a hit
// is wrong, the execution that it repeats was not.
func TestSometimesObservedIsNeverWrong(t *testing.T) {
	if filters(t, "/proc/self/status") == "" {
		t.Skip("this kernel does not say how many filters a program has")
	}
	neverWrong(t, "", undeclared, "--observe", "auto")
}

// TestObservedInputsAreNeverWrong is TestObservedIsNeverWrong for tasks that declare all these files, and whose inputs
// are observed.
func TestObservedInputsAreNeverWrong(t *testing.T) {
	neverWrong(t, "[defaults]\ninputs = \"observed\"\n", "language = \"none\"\ninputs = [\"in\", \"//pool/**\"]\n[tasks.x]\nrun = %q\noutputs = [\"out\", \"filters\"]\n")
}

// countFilters is a command that writes down whether it is observed: how many seccomp filters it has (proc_pid_status(5)).
const countFilters = "grep ^Seccomp_filters /proc/self/status > filters; :"

// filters returns the line that countFilters writes, "" if the kernel has none.
func filters(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "Seccomp_filters") {
			return line
		}
	}
	return ""
}

// neverWrong changes files in clones of a workspace with a bento.toml and dishes, whose dish.toml has the command in place
// of its verb, and compares the outputs of runs of bento with flags with those of the commands.
func neverWrong(t *testing.T, workspace, settings string, flags ...string) {
	if why := observe.Refused(); why != "" || testing.Short() {
		t.Skip("skipped with -short, and where nothing can be observed: ", why)
	}
	t.Parallel()
	steps := 60
	if n, err := strconv.Atoi(os.Getenv("BENTO_TEST_STEPS")); err == nil {
		steps = n
	}
	r, dir, hits, explained := sampling.Rand(t), t.TempDir(), 0, 0
	clones := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "three")}
	draw := &drawer{Rand: r, see: filepath.Join(dir, "see")}
	write(t, dir, "see.go", seeProgram)
	must(t, goBuild(draw.see, filepath.Join(dir, "see.go")))
	var scripts []string
	for range 4 {
		scripts = append(scripts, "set +e; exec 2>/dev/null; "+draw.next(1+r.IntN(2))+"; :")
	}
	for _, clone := range clones {
		write(t, clone, "bento.toml", workspace)
		for i, run := range scripts {
			write(t, clone, fmt.Sprintf("t%d/dish.toml", i), fmt.Sprintf(settings, "( "+run+" ) > out; "+countFilters))
			write(t, clone, fmt.Sprintf("t%d/in", i), "")
		}
	}
	cmd := exec.Command("/bin/sh", "-c", countFilters) // this process may have one, see observe.Refused
	cmd.Dir = dir
	must(t, cmd.Run())
	own := filters(t, filepath.Join(dir, "filters"))
	for step := range steps {
		clone := clones[r.IntN(len(clones))]
		for range 1 + r.IntN(2) {
			change(t, r, clone)
		}
		cmd := exec.Command(builtBento(t), append([]string{"run", "x"}, flags...)...)
		cmd.Dir, cmd.Env = clone, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(dir, "cache"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("step %d: %v: %s", step, err, out)
		}
		hits += strings.Count(string(out), "hit  ")
		for i, run := range scripts {
			want := exec.Command("/bin/sh", "-c", run)
			want.Dir = filepath.Join(clone, fmt.Sprintf("t%d", i))
			text, _ := want.Output()
			got, err := os.ReadFile(filepath.Join(want.Dir, "out"))
			must(t, err)
			if string(got) == string(text) {
				continue
			}
			isHit := regexp.MustCompile(fmt.Sprintf(`hit +(t\d:x, )*t%d:x`, i)).Match(out)
			if line := filters(t, filepath.Join(want.Dir, "filters")); isHit && line == own && slices.Contains(flags, "auto") {
				explained++ // by an execution that was not observed
				continue
			}
			t.Fatalf("step %d, %s: want %q, got %q\n%s\n%s", step, want.Dir, text, got, run, out)
		}
	}
	if hits == 0 {
		t.Error("there was no hit")
	}
	t.Logf("%d hits in %d steps, %d of executions that were not observed are wrong", hits, steps, explained)
}
