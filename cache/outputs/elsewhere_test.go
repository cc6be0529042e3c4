//go:build unix

package outputs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
)

// elsewhere returns a directory on another file system than that of dir.
func elsewhere(t *testing.T, dir string) string {
	for _, other := range []string{"/dev/shm", "/var/tmp", "/tmp"} {
		stage, err := os.MkdirTemp(other, "bento-stage")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(stage) })
		if device(t, stage) != device(t, dir) {
			return stage
		}
	}
	t.Skip("no second file system")
	return ""
}

func device(t *testing.T, path string) uint64 {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(fi.Sys().(*syscall.Stat_t).Dev)
}

// A failed restore finds all damaged blobs. So one run of the task replaces all of them, not one each
// time.
func TestRestoreFindsAllDamage(t *testing.T) {
	for _, n := range []int{5, 200} {
		s, warned := openDisk(t)
		files := tree{}
		for i := range n {
			files[fmt.Sprintf("out/%03d", i)] = fmt.Sprintf("644 blob %d", i)
		}
		want := captured(t, s, files)
		for i, path := range blobFiles(t, s) {
			if i%2 == 0 {
				damage(t, path, cutByOne)
			}
		}
		if _, err := restore(s, t.TempDir(), "", want, outputs.Options{}); !errors.Is(err, cache.ErrMiss) {
			t.Errorf("restore: %v, want ErrMiss", err)
		}
		if half := (n + 1) / 2; len(*warned) != half || len(blobFiles(t, s)) != n-half {
			t.Errorf("of %d blobs %d are left, and %d were said to be damaged", n, len(blobFiles(t, s)), len(*warned))
		}
		captured(t, s, files)
		if _, err := restore(s, t.TempDir(), "", want, outputs.Options{}); err != nil {
			t.Errorf("restored again: %v", err)
		}
	}
}

// The stage may be on another file system than the workspace, or than a part of it.
func TestRestoreAcrossFileSystems(t *testing.T) {
	root := t.TempDir()
	stage := elsewhere(t, root)
	s, _ := openDisk(t)
	want := captured(t, s, sample)
	leftover := filepath.Join(root, "dist", ".bento-tmp-abc")
	makeTree(t, root, tree{"dist/.bento-tmp-abc": "644 of a killed run", "dist/app": "644 old"})
	then := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(leftover, then, then); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(s, root, stage, want, outputs.Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample, readTree(t, root)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if left, _ := os.ReadDir(stage); len(left) != 0 {
		t.Errorf("left in the stage: %v", left)
	}
}
