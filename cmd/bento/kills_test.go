//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/sampling"
)

// killCount is the variable for the number of kills of TestKilledAnywhere. The default is a few.
const killCount = "BENTO_TEST_KILLS"

// slowly returns the files of chain, with tasks that take some time and leave half an output when killed.
func slowly(version string) map[string]string {
	files := chain(".", version)
	for i := range 5 {
		before, source := "", "src"
		if i > 0 {
			before, source = fmt.Sprintf("depends_on = [\"d%d\"]\n", i-1), fmt.Sprintf("../d%d/out/of src", i-1)
		}
		files[fmt.Sprintf("d%d/dish.toml", i)] = fmt.Sprintf(`name = "d%d"
language = "none"
%s[tasks.build]
run = "mkdir -p out && cat %s > out/of && ln -s of out/link && printf half > out/slow && sleep 0.01 && echo done > out/slow && head -c 300000 /dev/zero > out/large"
outputs = ["out/**"]
[tasks.test]
run = "cat out/of"
depends_on = ["build"]
`, i, before, source)
	}
	return files
}

func slowlyMakes(version string) map[string]string {
	want := chainMakes(version)
	for i := range 5 {
		dir := fmt.Sprintf("d%d/out/", i)
		want[dir+"slow"], want[dir+"large"] = "644 done\n", "644 "+string(make([]byte, 300000))
	}
	return want
}

// TestKilledAnywhere kills a run at a random moment: a run from scratch, after an edit, or with outputs to
// restore. The next run has the right outputs, the cache is not damaged, and no process is left.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	kills := 6
	if s := os.Getenv(killCount); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatalf("%s=%q: not a number", killCount, s)
		}
	}
	w := newWorld(t, builtBento(t))
	mark := "LC_BENTO_MARK=" + w.dir
	w.write(slowly("v0"))
	began := time.Now()
	w.must("run", "build", "test")
	whole := time.Since(began)
	random, killed := sampling.Rand(t), 0
	for n := 1; killed < kills && !t.Failed() && n < 20*kills; n++ {
		version := fmt.Sprintf("v%d", n%3)
		w.write(slowly(version))
		switch n % 4 {
		case 0: // from scratch
			w.removeAll(".bento")
			_ = os.RemoveAll(w.cache)
		case 1: // the run restores all or some outputs
			w.removeAll()
		}
		if w.killedAfter(time.Duration(random.Int64N(int64(whole)))+time.Millisecond, mark) {
			killed++
		}
		w.rightAgain(n, version, mark)
	}
	t.Logf("killed %d times", killed)
}

func (w *world) removeAll(more ...string) {
	for i := range 5 {
		more = append(more, fmt.Sprintf("d%d/out", i))
	}
	for _, path := range more {
		w.remove(path)
	}
}

// killedAfter starts a run and kills it after delay. It reports whether the run was killed before its end.
func (w *world) killedAfter(delay time.Duration, mark string) bool {
	w.t.Helper()
	cmd := exec.Command(w.bento, "run", "build", "test")
	cmd.Dir = w.ws
	cmd.Env = append(os.Environ(), "HOME="+w.dir, "BENTO_CACHE_DIR="+w.cache, "BENTO_WORKSPACE_ROOT=", mark)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	if err != nil && cmd.ProcessState.ExitCode() >= 0 {
		w.t.Errorf("the run that is to be killed: %v", err)
	}
	return err != nil
}

// rightAgain checks the run after the nth kill.
func (w *world) rightAgain(n int, version, mark string) {
	w.t.Helper()
	out, stderr, err := w.run([]string{mark}, "run", "build", "test")
	if err != nil {
		w.t.Errorf("killed for the %dth time: the next run: %v\n%s%s", n, err, out, stderr)
	}
	want := slowlyMakes(version)
	if diff := cmp.Diff(want, w.chainMade()); diff != "" {
		w.t.Errorf("killed for the %dth time: after the next run, -want +got:\n%s", n, diff)
	}
	if left := marked([]byte(mark)); len(left) > 0 {
		w.t.Errorf("killed for the %dth time: left running: %q", n, left)
	}
	w.checkCache(n)
	w.checkLeft(n)
	if entries, err := filepath.Glob(filepath.Join(w.ws, "d*", "out", ".bento-tmp-*")); err != nil || len(entries) > 0 {
		w.t.Errorf("killed for the %dth time: left: %q, %v", n, entries, err)
	}
}
