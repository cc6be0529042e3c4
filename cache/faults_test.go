//go:build linux

package cache_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
)

// TestMain lets the test binary be a bento that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CACHE_TEST_DIR"); dir != "" {
		restoreForever(dir)
		return
	}
	os.Exit(m.Run())
}

// version gives one of two results of a task. They share some paths, and one has a
// file where the other has a directory.
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

// restoreForever stores both versions and restores one after the other.
func restoreForever(dir string) {
	s, err := cache.Open(filepath.Join(dir, "cache"), nil)
	for err == nil {
		for n := range 2 {
			from := filepath.Join(dir, fmt.Sprint(n))
			var out []cache.Output
			if out, err = cache.Capture(s, from, sortedKeys(version(n))); err != nil {
				break
			}
			if err = s.Record(cache.Key{byte(n)}, &cache.Record{Outputs: out}); err != nil {
				break
			}
			o := cache.RestoreOptions{StageDir: stageDir(dir), Stale: sortedKeys(version(1 - n))}
			if _, err = cache.Restore(s, filepath.Join(dir, "ws"), out, o); err != nil {
				break
			}
			fmt.Println("restored")
		}
	}
	fmt.Println(err)
}

// checkMixture fails unless each file is one of either version.
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
			continue // killed before it was recorded
		}
		if err != nil {
			t.Fatal(err)
		}
		stale := append(sortedKeys(version(0)), sortedKeys(version(1))...)
		if _, err := cache.Restore(s, ws, r.Outputs, cache.RestoreOptions{Stale: stale, StageDir: stageDir(dir)}); err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(filepath.Join(ws, ".bento"))
		if diff := cmp.Diff(version(n), readTree(t, ws)); diff != "" {
			t.Fatalf("the next run, -want +got:\n%s", diff)
		}
	}
}

// killOne starts a bento and kills it within some restores.
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

// asNobody runs f without the rights of root.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(t.TempDir()), 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if _, err := unix.SetfsuidRetUid(65534); err != nil {
			t.Skip("cannot be nobody")
		}
		defer unix.Setfsuid(0)
	}
	f()
}

func TestReadOnlyCache(t *testing.T) {
	s, warned := openDisk(t)
	fill(t, s, 3)
	age(t, append(entries(t, s, "records"), entries(t, s, "blobs")...), 48*time.Hour)
	readOnly(t, s.Dir())
	asNobody(t, func() {
		if got := hits(t, s, 3); !cmp.Equal(got, []int{0, 1, 2}) {
			t.Errorf("hits: %v", got)
		}
		if err := s.Add(cache.Sum([]byte("new")), strings.NewReader("new")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("add: %v, want permission denied", err)
		}
		cachetest.Record(t, s, 1) // is there
		if err := s.Record(cache.Key{9}, &cache.Record{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("record: %v, want permission denied", err)
		}
		if _, err := s.Prune(t.Context(), cache.Bounds{MaxAge: time.Hour}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("prune: %v, want permission denied", err)
		}
	})
	if len(*warned) > 0 {
		t.Errorf("damage: %v", *warned)
	}
}

// readOnly takes the right to write from everything below dir until the test ends.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	walk := func(mode fs.FileMode) {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(path, mode)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	walk(0o555)
	t.Cleanup(func() { walk(0o755) })
}

func TestUnreadableCache(t *testing.T) {
	s, warned := openDisk(t)
	fill(t, s, 1)
	if err := os.Chmod(s.Dir(), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(s.Dir(), 0o755)
	asNobody(t, func() {
		if _, err := s.Lookup(cache.Key{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("lookup: %v, want permission denied", err)
		}
		if _, err := s.Open(cache.Digest{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("open: %v, want permission denied", err)
		}
	})
	if len(*warned) > 0 {
		t.Errorf("damage: %v", *warned)
	}
}

func TestUnwritableWorkspace(t *testing.T) {
	s, _ := openDisk(t)
	want := captured(t, s, tree{"a/file": "644 new", "b/file": "644 new"})
	root, before := t.TempDir(), tree{"a/file": "644 old", "b/file": "644 old"}
	makeTree(t, root, before)
	readOnly(t, filepath.Join(root, "b"))
	if err := os.Chmod(filepath.Join(root, "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	stage := t.TempDir()
	if err := os.Chmod(stage, 0o777); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		_, err := cache.Restore(s, root, want, cache.RestoreOptions{StageDir: stage})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "b/file") {
			t.Errorf("%v, want permission denied for b/file", err)
		}
	})
	if diff := cmp.Diff(before, readTree(t, root)); diff != "" {
		t.Errorf("changed, -want +got:\n%s", diff)
	}
}

// smallDisk gives a directory on a disk of 256 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func noise(size int) string {
	rng := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}

func TestDiskFull(t *testing.T) {
	s := openDiskAt(t, filepath.Join(smallDisk(t), "cache"))
	for _, data := range []string{noise(400 << 10), noise(120<<10) + "1", noise(120<<10) + "2", noise(120<<10) + "3"} {
		err := s.Add(cache.Sum([]byte(data)), strings.NewReader(data))
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("add: %v, want no space", err)
		}
		if _, got := readBlob(s, cache.Sum([]byte(data))); (err == nil) != (got == nil) {
			t.Errorf("add: %v, then open: %v", err, got)
		}
	}
	if left := entries(t, s, "tmp"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if c, err := s.Fsck(t.Context()); err != nil || c.Damaged != 0 || c.Blobs == 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRestoreToFullDisk(t *testing.T) {
	s, _ := openDisk(t)
	want := captured(t, s, tree{"a": "644 new", "b": "644 " + noise(300<<10), "c": "644 new"})
	root, before := smallDisk(t), tree{"a": "644 old", "b": "644 old", "d": "644 stale"}
	makeTree(t, root, before)
	for _, stage := range []string{root, filepath.Join(root, "tmp"), t.TempDir()} {
		_, err := cache.Restore(s, root, want, cache.RestoreOptions{StageDir: stage, Stale: []string{"d"}})
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v, want no space", err)
		}
		got := readTree(t, root)
		delete(got, "tmp")
		if stage != root && stage != filepath.Join(root, "tmp") {
			before["a"] = "644 new" // staged elsewhere, it fails when files are moved
		}
		if diff := cmp.Diff(before, got); diff != "" {
			t.Errorf("changed, -want +got:\n%s", diff)
		}
	}
}
