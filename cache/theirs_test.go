package cache_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/cache"
)

// A directory that bento has not made is not accepted as a cache. A cache in the workspace may not be
// reached through a link.
func TestDirectoryOfOthers(t *testing.T) {
	root, victim := t.TempDir(), t.TempDir()
	for _, dir := range []string{"docs/v5/tmp", "docs/v5/blobs/ab", "letters/v5", "papers/v5/blobs/ab", "papers/v5/records"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.WriteFile(filepath.Join(root, "docs/v5/tmp/notes.txt"), nil, 0o666), os.WriteFile(filepath.Join(root, "letters/v5/letter"), nil, 0o666),
		os.WriteFile(filepath.Join(root, "papers/v5/records/paper.txt"), nil, 0o666),
		os.Symlink(victim, filepath.Join(root, "link")), os.Mkdir(filepath.Join(victim, "v5"), 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var refused *cache.DirError
	for dir, o := range map[string]*cache.Options{"docs": nil, "letters": nil, "papers": nil, "link": {Root: root}} {
		if _, err := cache.Open(filepath.Join(root, dir), o); !errors.As(err, &refused) || refused.Hint == "" {
			t.Errorf("open %s: %v, want a *DirError", dir, err)
		}
	}
	if _, err := cache.Open(filepath.Join(root, "link"), nil); err != nil {
		t.Errorf("a link that the user has named: %v", err)
	}
}
