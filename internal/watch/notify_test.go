package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// watcher watches the directories of a new workspace.
func watcher(t *testing.T, dirs ...string) (*notifier, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := &notifier{root: root, ignore: func(p string) bool { return strings.HasPrefix(p, "ignored") }}
	if err := w.start(); err != nil {
		t.Skipf("this system does not report changes: %v", err)
	}
	t.Cleanup(w.close)
	if added, err := w.follow(append(dirs, ".")); err != nil || !added {
		t.Fatalf("follow: %v, %v", added, err)
	}
	return w, root
}

func write(t *testing.T, elem ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(elem...), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// next returns the changed paths of all batches until one has path.
func next(t *testing.T, w *notifier, path string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var all []string
	for !slices.Contains(all, path) {
		b, err := w.next(ctx)
		if err != nil {
			t.Fatalf("waiting for %q: %v; until now %q", path, err, all)
		}
		all = append(all, b.paths...)
	}
	return all
}

func TestChanges(t *testing.T) {
	w, root := watcher(t, "a", "a/b", "ignored")
	write(t, root, "ignored", "x")
	write(t, root, "ignored.too")
	write(t, root, "a", "b", "one")
	if got := next(t, w, "a/b/one"); slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, "ignored") }) {
		t.Errorf("an ignored file is reported: %q", got)
	}
	if err := os.Rename(filepath.Join(root, "a", "b", "one"), filepath.Join(root, "a", "two")); err != nil {
		t.Fatal(err)
	}
	next(t, w, "a/two")
}

// TestNewDirectory: a directory that replaces a removed one of the same name is watched, too.
func TestNewDirectory(t *testing.T) {
	w, root := watcher(t, "a")
	if err := os.RemoveAll(filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	next(t, w, "a")
	if err := os.Mkdir(filepath.Join(root, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	next(t, w, "a")
	if added, err := w.follow([]string{".", "a", "gone"}); err != nil || !added {
		t.Errorf("follow of a new directory: %v, %v", added, err)
	}
	if added, err := w.follow([]string{".", "a"}); err != nil || added {
		t.Errorf("follow again: %v, %v", added, err)
	}
	write(t, root, "a", "new")
	next(t, w, "a/new")
}

func TestEnd(t *testing.T) {
	w, _ := watcher(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.next(ctx); err != context.Canceled {
		t.Errorf("next: %v", err)
	}
	w.system.Close()
	w.system = nil
	if _, err := w.next(ctx); err != context.Canceled {
		t.Errorf("next without the system: %v", err)
	}
	if b, err := w.next(context.Background()); err != nil || !b.rescan {
		t.Errorf("next without the system: %+v, %v", b, err)
	}
}
