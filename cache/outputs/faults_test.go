//go:build linux

package outputs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/testrun"
)

// TestMain runs the test binary as the bento that is killed, if the environment requires that.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CACHE_TEST_DIR"); dir != "" {
		restoreForever(dir)
		return
	}
	os.Exit(testrun.InMemory(m).Run())
}

// version returns one of two results of a task. They share some paths. At one path, one has a file and the
// other a directory.
func version(n int) tree {
	files := tree{
		"dist/app":  "755 " + strings.Repeat(fmt.Sprint(n), 300_000),
		"dist/same": "644 same",
		"dist/link": fmt.Sprintf("-> target%d", n),
	}
	for i := range 20 {
		files[fmt.Sprintf("dist/v%d/%d", n, i)] = "644 " + strings.Repeat(fmt.Sprint(n), 3000+i)
		files[fmt.Sprintf("dist/%d", i)] = "644 " + strings.Repeat(fmt.Sprint(n), 3000+i)
	}
	files[[]string{"dist/swap", "dist/swap/below"}[n]] = "644 swap"
	return files
}

func stageDir(dir string) string { return filepath.Join(dir, "ws", ".bento", "tmp") }

// restoreForever stores both versions and restores them in turn.
func restoreForever(dir string) {
	s, err := cache.Open(filepath.Join(dir, "cache"), nil)
	for err == nil {
		for n := range 2 {
			from := filepath.Join(dir, fmt.Sprint(n))
			var out []cache.Output
			if out, err = outputs.Capture(nil, s, from, sortedKeys(version(n))); err != nil {
				break
			}
			if err = s.Record(cache.Key{byte(n)}, &cache.Record{Outputs: out}); err != nil {
				break
			}
			o := outputs.Options{Stale: sortedKeys(version(1 - n))}
			if _, err = restore(s, filepath.Join(dir, "ws"), stageDir(dir), out, o); err != nil {
				break
			}
			fmt.Println("restored")
		}
	}
	fmt.Println(err)
}

// checkMixture fails unless each file is that of one of the versions.
func checkMixture(t *testing.T, ws string) {
	t.Helper()
	old, young := version(0), version(1)
	for p, got := range readTree(t, ws) {
		if strings.HasPrefix(p, ".bento/tmp/") || isDir(got) {
			continue
		}
		if got != old[p] && got != young[p] {
			t.Errorf("%q: neither old nor new: %d bytes %.20q", p, len(got), got)
		}
	}
}

func TestKilledAtAnyMoment(t *testing.T) {
	dir := t.TempDir()
	makeTree(t, filepath.Join(dir, "0"), version(0))
	makeTree(t, filepath.Join(dir, "1"), version(1))
	ws := filepath.Join(dir, "ws")
	makeTree(t, ws, tree{"src": "644 mine"})
	if err := os.Remove(filepath.Join(ws, "src")); err != nil {
		t.Fatal(err)
	}
	s := openDiskAt(t, filepath.Join(dir, "cache"))
	kills := 25
	if testing.Short() {
		kills = 5
	}
	for i := range kills {
		killOne(t, dir)
		checkMixture(t, ws)
		if c, err := s.Fsck(t.Context()); err != nil || c.Damaged+c.Incomplete > 0 {
			t.Errorf("%+v, %v", c, err)
		}
		n := i % 2
		r, err := s.Lookup(cache.Key{byte(n)})
		if errors.Is(err, cache.ErrMiss) {
			continue // it was killed before it stored the record
		}
		if err != nil {
			t.Fatal(err)
		}
		stale := append(sortedKeys(version(0)), sortedKeys(version(1))...)
		if _, err := restore(s, ws, stageDir(dir), r.Outputs, outputs.Options{Stale: stale}); err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(filepath.Join(ws, ".bento"))
		if diff := cmp.Diff(version(n), readTree(t, ws)); diff != "" {
			t.Fatalf("the next run, -want +got:\n%s", diff)
		}
	}
}

// killOne starts a bento and kills it during one of its first restores.
func killOne(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CACHE_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range rand.IntN(3) {
		if lines.Scan() && lines.Text() != "restored" {
			t.Errorf("restore: %s", lines.Text())
		}
	}
	time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // any moment
	cmd.Process.Kill()
	cmd.Wait()
}

func openDiskAt(t *testing.T, dir string) *cache.Disk {
	t.Helper()
	s, err := cache.Open(dir, &cache.Options{Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestUnwritableWorkspace(t *testing.T) {
	s, _ := openDisk(t)
	want := captured(t, s, tree{"a/file": "644 new", "b/file": "644 new"})
	root, before := t.TempDir(), tree{"a/file": "644 old", "b/file": "644 old"}
	makeTree(t, root, before)
	cachetest.ReadOnly(t, filepath.Join(root, "b"))
	if err := os.Chmod(filepath.Join(root, "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	stage := t.TempDir()
	if err := os.Chmod(stage, 0o777); err != nil {
		t.Fatal(err)
	}
	cachetest.AsNobody(t, func() {
		_, err := restore(s, root, stage, want, outputs.Options{})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "b/file") {
			t.Errorf("%v, want permission denied for b/file", err)
		}
	})
	if diff := cmp.Diff(before, readTree(t, root)); diff != "" {
		t.Errorf("changed, -want +got:\n%s", diff)
	}
}

func TestRestoreToFullDisk(t *testing.T) {
	s, _ := openDisk(t)
	want := captured(t, s, tree{"a": "644 new", "b": "644 " + cachetest.Noise(300<<10), "c": "644 new"})
	root, before := cachetest.SmallDisk(t), tree{"a": "644 old", "b": "644 old", "d": "644 stale"}
	makeTree(t, root, before)
	for _, stage := range []string{root, filepath.Join(root, "tmp"), t.TempDir()} {
		_, err := restore(s, root, stage, want, outputs.Options{Stale: []string{"d"}})
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v, want no space", err)
		}
		got := readTree(t, root)
		delete(got, "tmp")
		if stage != root && stage != filepath.Join(root, "tmp") {
			before["a"] = "644 new" // with another stage, the failure occurs when files are moved
		}
		if diff := cmp.Diff(before, got); diff != "" {
			t.Errorf("changed, -want +got:\n%s", diff)
		}
	}
}
