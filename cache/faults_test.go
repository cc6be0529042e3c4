//go:build linux

package cache_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
)

func TestReadOnlyCache(t *testing.T) {
	s, warned := openDisk(t)
	fill(t, s, 3)
	age(t, append(entries(t, s, "records"), entries(t, s, "blobs")...), 48*time.Hour)
	cachetest.ReadOnly(t, s.Dir())
	cachetest.AsNobody(t, func() {
		// First: the owner of the records dates them again when they are hit, even in a directory that is read-only.
		if _, err := s.Prune(t.Context(), cache.Bounds{MaxAge: time.Hour}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("prune: %v, want permission denied", err)
		}
		if got := hits(t, s, 3); !cmp.Equal(got, []int{0, 1, 2}) {
			t.Errorf("hits: %v", got)
		}
		if err := s.Add(cache.Sum([]byte("new")), strings.NewReader("new")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("add: %v, want permission denied", err)
		}
		cachetest.Record(t, s, 1) // the record exists
		if err := s.Record(cache.Key{9}, &cache.Record{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("record: %v, want permission denied", err)
		}
	})
	if len(*warned) > 0 {
		t.Errorf("damage: %v", *warned)
	}
}

func TestUnreadableCache(t *testing.T) {
	s, warned := openDisk(t)
	fill(t, s, 1)
	if err := os.Chmod(s.Dir(), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(s.Dir(), 0o755)
	cachetest.AsNobody(t, func() {
		s, err := cache.Open(filepath.Dir(s.Dir()), nil) // a second Disk, since the first keeps directories open
		if err != nil {
			t.Fatal(err)
		}
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

func TestDiskFull(t *testing.T) {
	s := openDiskAt(t, filepath.Join(cachetest.SmallDisk(t), "cache"))
	for _, data := range []string{cachetest.Noise(400 << 10), cachetest.Noise(120<<10) + "1", cachetest.Noise(120<<10) + "2", cachetest.Noise(120<<10) + "3"} {
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

func TestFsckPassesOverTheUnreadable(t *testing.T) {
	s, _ := openDisk(t)
	for n := range 4 {
		if err := s.Record(cache.Key{byte(n)}, cachetest.Record(t, s, n)); err != nil {
			t.Fatal(err)
		}
	}
	blobs := entries(t, s, "blobs")
	damage(t, blobs[len(blobs)-1], damages["flip last"])
	for _, path := range []string{blobs[0], blobs[2]} {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	cachetest.AsNobody(t, func() {
		got, err := s.Fsck(t.Context())
		if err == nil || !strings.Contains(err.Error(), "2 of the files cannot be read") || got.Damaged != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
