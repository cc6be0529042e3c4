package archive

import (
	"archive/tar"
	"path/filepath"
	"testing"
)

// FuzzRead: files that are read have unique local names and keep to the limits.
func FuzzRead(f *testing.F) {
	f.Add(tarOf(f, regular("a"), tar.Header{Typeflag: tar.TypeDir, Name: "d/"}, regular("d/b")))
	f.Add(tarOf(f, regular("../a")))
	f.Add(zipOf(f, zipped{"a", "x", 0o644}, zipped{"d/b", "y", 0o755}))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := Read(data, Limits{Packed: 1 << 20, Expanded: 1 << 16, Entries: 10})
		if err != nil {
			return
		}
		size, seen := 0, make(map[string]bool)
		for _, file := range files {
			if !filepath.IsLocal(file.Name) || seen[file.Name] {
				t.Errorf("name %q", file.Name)
			}
			seen[file.Name] = true
			size += len(file.Data)
		}
		if len(files) > 10 || size > 1<<16 {
			t.Errorf("%d files with %d bytes", len(files), size)
		}
		Rooted(files, "a")
	})
}
