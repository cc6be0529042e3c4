package stat

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a")
	seen := make(map[string]string)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"written", func() error { return os.WriteFile(file, []byte("a"), 0o644) }},
		{"longer", func() error { return os.WriteFile(file, []byte("ab"), 0o644) }},
		{"executable", func() error { return os.Chmod(file, 0o755) }},
		{"older", func() error { return os.Chtimes(file, time.Time{}, time.Unix(1e9, 0)) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Lstat(file)
		if err != nil {
			t.Fatal(err)
		}
		text := Text(fi)
		if before, twice := seen[text]; twice {
			t.Errorf("%s: %q, as when %s", step.name, text, before)
		}
		seen[text] = step.name
		if Changed(fi).Before(fi.ModTime()) {
			t.Errorf("%s: changed at %v, modified at %v", step.name, Changed(fi), fi.ModTime())
		}
	}
}
