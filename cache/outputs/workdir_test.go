//go:build unix

package outputs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/rawfile"
)

func open(t *testing.T) *Root {
	t.Helper()
	w, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestAt(t *testing.T) {
	w := open(t)
	in := func(p string) string { return filepath.Join(w.Path(), p) }
	must(t, os.MkdirAll(in("a/b"), 0o777), os.WriteFile(in("a/file"), nil, 0o666), os.Symlink("b", in("a/link")))
	for _, p := range []string{".", "a", "a/b", "a", "", "a/b"} {
		d, err := w.At(p, false)
		must(t, err)
		here, err := d.Stat()
		must(t, err)
		there, err := rawfile.OpenDir(in(p))
		must(t, err)
		defer there.Close()
		if info, err := there.Stat(); err != nil || !rawfile.Same(here, info) {
			t.Errorf("%q: another directory was opened", p)
		}
	}
	if _, err := w.At("a/gone/x", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if d, _ := w.At("a/new/x", true); d == nil {
		t.Error("not made")
	}
	var blocked *BlockedError
	if _, err := w.At("a/file/x", true); !errors.As(err, &blocked) || blocked.Path != "a/file" || blocked.Link {
		t.Errorf("a file on the way: %v", err)
	}
	if _, err := w.At("a/link", true); !errors.As(err, &blocked) || blocked.Path != "a/link" || !blocked.Link {
		t.Errorf("a link on the way: %v", err)
	}
	if _, err := w.At("a/b/../link/b/c", false); err == nil {
		t.Error("a path that is not clean was opened")
	}
	for _, p := range []string{"a/link/x", "a/link/x/y/z"} {
		if _, err := w.At(p, false); !errors.As(err, &blocked) || blocked.Path != "a/link" {
			t.Errorf("%q, behind a link: %v", p, err)
		}
	}
	if w.Deepest().path != "a" {
		t.Errorf("stopped at %q", w.Deepest().path)
	}
	for _, p := range []string{"..", "a/../..", "/etc"} {
		if _, err := w.At(p, false); err == nil {
			t.Errorf("%q: no error", p)
		}
	}
}

// A path of many directories keeps that many open, and no more.
func TestAtDeep(t *testing.T) {
	w := open(t)
	for range 3 {
		for _, p := range []string{strings.Repeat("d/", 50) + "d", "x", strings.Repeat("d/", 20) + "e"} {
			d, err := w.At(p, true)
			must(t, err)
			if d.path != p || len(w.open) > strings.Count(p, "/")+2 {
				t.Errorf("%q: at %q with %d open", p, d.path, len(w.open))
			}
		}
	}
}

func TestReadFileReplaced(t *testing.T) {
	w := open(t)
	d, err := w.At(".", false)
	in := func(name string) string { return filepath.Join(w.Path(), name) }
	must(t, err, os.WriteFile(in("f"), nil, 0o666), os.WriteFile(in("g"), nil, 0o666))
	fi, err := d.LstatAt("f")
	must(t, err)
	f, err := d.ReadFile("f", fi)
	must(t, err, f.Close(), d.RenameAt("g", d.File, "f"))
	if _, err := d.ReadFile("f", fi); !errors.Is(err, ErrChanged) {
		t.Errorf("replaced: %v, want ErrChanged", err)
	}
}

func TestStageClose(t *testing.T) {
	w := open(t)
	path := filepath.Join(w.Path(), "deep", "stage")
	must(t, os.MkdirAll(path, 0o777))
	stage, err := rawfile.OpenDir(path)
	must(t, err)
	s := NewStage(stage)
	f, name, err := s.File(0o644)
	must(t, err, f.Close())
	link, err := s.Link("target")
	must(t, err)
	d, err := w.At(".", false)
	must(t, err, s.Move(name, d, "moved"), os.MkdirAll(filepath.Join(w.Path(), "full", "sub"), 0o777))
	if err := s.Move(link, d, "full"); err == nil {
		t.Error("a link replaced a directory with content")
	}
	s.Close()
	if left, err := os.ReadDir(path); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v; %q was not removed", left, err, link)
	}
	if _, err := d.LstatAt("moved"); err != nil {
		t.Error(err)
	}
}
