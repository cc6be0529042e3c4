package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestManyReady runs many tasks that are ready at once, and completes their names. BENTO_TEST_READY is the
// number of tasks.
func TestManyReady(t *testing.T) {
	t.Parallel()
	count := 500
	if n, err := strconv.Atoi(os.Getenv("BENTO_TEST_READY")); err == nil {
		count = n
	}
	root := t.TempDir()
	write(t, root, "bento.toml", "")
	for i := range count {
		write(t, root, fmt.Sprintf("d%03d/p%05d/dish.toml", i/100, i), "language = \"none\"\n[tasks.build]\nrun = [\"true\"]\n")
	}
	bento := func(args ...string) (string, *os.ProcessState) {
		cmd := exec.Command(builtBento(t), args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, "cache"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%.2000s", args, err, out)
		}
		return string(out), cmd.ProcessState
	}
	all := fmt.Sprintf("%d tasks", count)
	if out, _ := bento("build", "-j", "64", "--output", "quiet"); !strings.Contains(out, all+": 0 hits, "+strconv.Itoa(count)+" built") {
		t.Errorf("the first run says %.2000s", out)
	}
	if out, _ := bento("build", "-j", "64", "--output", "quiet"); !strings.Contains(out, all+": "+strconv.Itoa(count)+" hits") {
		t.Errorf("the second run says %.2000s", out)
	}
	if out, _ := bento("__complete", "build", "p00001"); !strings.Contains(out, "p00001") {
		t.Errorf("the name is not completed: %.2000s", out)
	}
}

// TestFloodOfOutput: bento keeps little of the output of a task in memory, and all of it in the log.
// BENTO_TEST_FLOOD is the size of the output in MiB.
func TestFloodOfOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("prints 288 MiB")
	}
	t.Parallel()
	size := 64
	if n, err := strconv.Atoi(os.Getenv("BENTO_TEST_FLOOD")); err == nil {
		size = n
	}
	root := t.TempDir()
	write(t, root, "bento.toml", "")
	flood := func(size int, args ...string) (kib int64) {
		write(t, root, "d/dish.toml", fmt.Sprintf("language = \"none\"\n[tasks.build]\nrun = \"head -c %dM /dev/zero; exit 1\"\n[tasks.good]\nrun = \"yes | head -c %dM\"\n", size, size))
		cmd := exec.Command(builtBento(t), args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, "cache"))
		kib, _, err := resident(t, cmd)
		if (err == nil) == (args[0] == "build") {
			t.Errorf("%q: %v", args, err)
		}
		return kib
	}
	for _, args := range [][]string{{"build"}, {"run", "good"}, {"run", "good", "--output", "full"}, {"run", "good", "--output", "stream", "--no-cache"}} {
		// The need for 8 MiB of output varies by up to 48 MiB, by the race detector and by garbage that
		// is not collected yet. A bento that keeps the output would need 56 MiB more.
		few := flood(8, args...)
		if many := flood(size, args...); many > few+48<<10 || many > 256<<10 {
			t.Errorf("%q took %d MiB of memory for %d MiB of output, %d MiB for 8 MiB", args, many>>10, size, few>>10)
		}
	}
	logs, _ := filepath.Glob(filepath.Join(root, ".bento", "logs", "d-*.log"))
	for _, log := range logs {
		if fi, err := os.Stat(log); err != nil || fi.Size() != int64(size)<<20 {
			t.Errorf("%s: %v, %v", log, fi, err)
		}
	}
	if len(logs) != 2 {
		t.Errorf("there are the logs %q", logs)
	}
}
