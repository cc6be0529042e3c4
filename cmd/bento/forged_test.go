package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/cache"
)

// A user with write access to a shared cache can forge a record with a valid checksum. Even then, a cache hit
// writes only to the declared outputs of its task.
func TestForgedRecords(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"bento.toml", "d/dish.toml", "d/src", "d/outs", "new/file", ".gitignore"} {
		root, store := t.TempDir(), filepath.Join(t.TempDir(), "cache")
		write(t, root, "bento.toml", "# kept\n")
		write(t, root, "d/dish.toml", "name = \"d\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"mkdir -p out; cat src > out/a\"\noutputs = [\"out/**\"]\n")
		write(t, root, "d/src", "source\n")
		buildWith(t, root, store)
		forge(t, store, path)
		for _, dir := range []string{".bento", "d/out"} {
			if err := os.RemoveAll(filepath.Join(root, dir)); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.ReadFile(filepath.Join(root, path))
		said := buildWith(t, root, store)
		if !strings.Contains(said, "which is no output of the task") {
			t.Errorf("%s: bento said %q", path, said)
		}
		if after, _ := os.ReadFile(filepath.Join(root, path)); string(after) != string(before) {
			t.Errorf("%s: has %q now, before %q", path, after, before)
		}
		if made, err := os.ReadFile(filepath.Join(root, "d/out/a")); err != nil || string(made) != "source\n" {
			t.Errorf("%s: the output is %q, %v", path, made, err)
		}
		if said = buildWith(t, root, store); !strings.Contains(said, "hit ") || strings.Contains(said, "warning") {
			t.Errorf("%s: afterwards bento said %q", path, said)
		}
	}
}

// forge replaces the path of the first output in the only record of a cache.
func forge(t *testing.T, store, path string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(store, "v*", "records", "*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	key, err := cache.ParseKey(filepath.Base(filepath.Dir(found[0])) + filepath.Base(found[0]))
	if err != nil {
		t.Fatal(err)
	}
	disk, err := cache.Open(store, &cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	record, err := disk.Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	record.Outputs[0].Path, record.Outputs[0].Mode = path, 0o755
	if err := disk.Record(key, record); err != nil {
		t.Fatal(err)
	}
}

// buildWith runs `bento build` and returns what it printed.
func buildWith(t *testing.T, root, store string) string {
	t.Helper()
	cmd := exec.Command(builtBento(t), "build")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "BENTO_CACHE_DIR="+store, "HOME="+root)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return string(said)
}
