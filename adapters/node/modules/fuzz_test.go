package modules

import (
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// FuzzRecorded reads the record of an install: the paths in it are checked, and may be
// removed.
func FuzzRecorded(f *testing.F) {
	for _, seed := range []string{"a/node_modules\nnode_modules\n", "../node_modules\n/node_modules", "a/../../node_modules\n\n", "a\x00/node_modules"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		adaptertest.Write(t, filepath.Join(dir, record), string(data))
		list := Recorded(snapshot.NewFiles(dir), dir)
		for _, name := range list {
			if !filepath.IsLocal(name) || filepath.Base(name) != Dir {
				t.Fatalf("%q is recorded", name)
			}
		}
		if len(list) > maxRecord {
			t.Fatalf("%d are recorded", len(list))
		}
	})
}
