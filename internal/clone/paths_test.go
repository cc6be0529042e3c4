package clone

import (
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestPaths: the fast ways return what package filepath does.
func TestPaths(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"/", "/", ".", "..", "a", ".git", "...", "b.c", ""}))
		join := func(label string) (path string) {
			for _, part := range parts.Draw(rt, label) {
				path += part
			}
			return path
		}
		dir, name := join("dir"), join("name")
		if got, want := Clean(dir), filepath.Clean(dir); got != want {
			rt.Errorf("Clean(%q) = %q, want %q", dir, got, want)
		}
		if got, want := Dir(dir), filepath.Dir(dir); got != want {
			rt.Errorf("Dir(%q) = %q, want %q", dir, got, want)
		}
		if got, want := Join(dir, name), filepath.Join(dir, name); got != want {
			rt.Errorf("Join(%q, %q) = %q, want %q", dir, name, got, want)
		}
		c := At("/a")
		got, err := c.rel(dir)
		want, wantErr := slowRel(c.root, dir)
		if got != want || (err == nil) != wantErr {
			rt.Errorf("rel(%q) = %q, %v, want %q", dir, got, err, want)
		}
	})
}

// slowRel is rel by package filepath alone.
func slowRel(root, path string) (rel string, ok bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Clean("./" + path)
	} else if rel, err := filepath.Rel(root, path); err != nil {
		return "", false
	} else {
		path = rel
	}
	if !filepath.IsLocal(path) {
		return "", false
	}
	return path, true
}
