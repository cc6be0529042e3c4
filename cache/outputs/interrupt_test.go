package outputs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
)

// many makes n outputs in a directory, and returns their paths.
func many(t *testing.T, root string, n int) (paths []string) {
	t.Helper()
	for i := range n {
		path := fmt.Sprintf("out/f%03d", i)
		full := filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(path), 0o644)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// A restore that is interrupted while it compares files ends at once and changes nothing.
func TestRestoreHears(t *testing.T) {
	const n = 100
	s, _ := openDisk(t)
	root := t.TempDir()
	want, err := outputs.Capture(nil, s, root, many(t, root, n))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{1, n / 2, n} {
		for _, o := range want {
			if err := os.WriteFile(filepath.Join(root, o.Path), []byte("other!!")[:o.Size%8], 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(root, o.Path), o.Size); err != nil {
				t.Fatal(err)
			}
		}
		stop, compared, restored := make(chan struct{}), 0, 0
		_, err := restore(s, root, "", want, outputs.Options{
			Stop: stop,
			Current: func(string) (cache.Digest, bool) {
				if compared++; compared == at {
					close(stop)
				}
				return cache.Digest{}, true
			},
			Restored: func(string, cache.Digest) { restored++ },
		})
		if !errors.Is(err, context.Canceled) || compared != at || restored > 0 {
			t.Errorf("interrupted at file %d: %v; %d compared, %d restored", at, err, compared, restored)
		}
		for _, o := range want {
			if data, err := os.ReadFile(filepath.Join(root, o.Path)); err != nil || string(data) == o.Path {
				t.Fatalf("interrupted at file %d: %s was restored", at, o.Path)
			}
		}
	}
}

// An interrupted capture does not continue with the next file.
func TestCaptureHears(t *testing.T) {
	s, _ := openDisk(t)
	root := t.TempDir()
	paths := many(t, root, 10)
	stop := make(chan struct{})
	close(stop)
	if list, err := outputs.Capture(stop, s, root, paths); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", list, err)
	}
	if blobs := blobFiles(t, s); len(blobs) > 0 {
		t.Errorf("%d files were stored", len(blobs))
	}
}
