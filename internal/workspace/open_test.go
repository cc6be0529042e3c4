package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/internal/state"
)

// TestCloseWaits: the results of discovery are written in the background, and Close waits for the end of the write.
func TestCloseWaits(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"bento.toml": "", "go.mod": "module a\n\ngo 1.22\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := &Host{Builtin: builtin.All, Environ: adapters.NewEnviron([]string{"HOME=" + root, "PATH=/nowhere"})}
	defer h.Close()
	synctest.Test(t, func(t *testing.T) {
		w, err := h.Open(t.Context(), Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		end, closed := make(chan struct{}), false
		w.saving.Go(func() { <-end }) // a slow disk
		var closing = make(chan struct{})
		go func() {
			w.Close()
			closed = true
			close(closing)
		}()
		synctest.Wait()
		if closed {
			t.Error("Close has not waited")
		}
		close(end)
		<-closing
	})
	if _, err := os.Stat(filepath.Join(root, state.Name, "answers")); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

// TestFirst: Open calls First as long as the workspace has no saved index, and not afterwards.
func TestFirst(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"bento.toml", "a.txt"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := &Host{Builtin: builtin.All, Environ: adapters.NewEnviron([]string{"HOME=" + root, "PATH=/nowhere"})}
	defer h.Close()
	for i, want := range []int{1, 1, 0} {
		calls := 0
		w, err := h.Open(t.Context(), Options{Root: root, First: func() { calls++ }})
		if err != nil {
			t.Fatal(err)
		}
		if calls != want {
			t.Errorf("look %d: First was called %d times, want %d", i, calls, want)
		}
		if i == 1 {
			if err := w.Tree.Index().Save(); err != nil {
				t.Error(err)
			}
		}
		w.Close()
	}
}
