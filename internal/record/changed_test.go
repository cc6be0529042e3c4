package record

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/tree"
)

// TestTouched: making or removing another name of a file changes its ctime, and not the file.
func TestTouched(t *testing.T) {
	then := tree.Entry{Path: "f", Kind: tree.File, Size: 3, Ino: 7, Dev: 1, Links: 1, Mtime: 10, Ctime: 10}
	for _, c := range []struct {
		name   string
		change func(e *tree.Entry)
		want   bool
	}{
		{"nothing", func(*tree.Entry) {}, false},
		{"another name", func(e *tree.Entry) { e.Links, e.Ctime = 2, 20 }, false},
		{"another name, and written", func(e *tree.Entry) { e.Links, e.Ctime, e.Mtime = 2, 20, 20 }, true},
		{"ctime alone", func(e *tree.Entry) { e.Ctime = 20 }, true},
		{"names unknown", func(e *tree.Entry) { e.Links, e.Ctime = 0, 20 }, true},
		{"another file", func(e *tree.Entry) { e.Ino = 8 }, true},
	} {
		now := then
		c.change(&now)
		if got := touched(then, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A file that becomes executable, or another kind of file, has changed even if its content is the
// same.
func TestHoldsComparesKinds(t *testing.T) {
	then := tree.Entry{Path: "f", Kind: tree.File, Mode: 0o644, Ctime: 1}
	for name, now := range map[string]tree.Entry{
		"executable": {Path: "f", Kind: tree.File, Mode: 0o755, Ctime: 2},
		"a link":     {Path: "f", Kind: tree.Link, Mode: 0o644, Ctime: 2},
	} {
		if (&Recorder{}).holds(then, now) {
			t.Errorf("it holds, and is %s", name)
		}
	}
	if !(&Recorder{}).holds(then, then) {
		t.Error("the same file does not hold")
	}
}

// A restore makes directories with the umask of the user who restores; that of groups is usual too.
func TestUsualModes(t *testing.T) {
	for m, want := range map[fs.FileMode]bool{0o755: true, 0o775: true, 0o700: false, 0o777: false, 0o750: false} {
		if usual(m) != want {
			t.Errorf("%o: %v, want %v", m, !want, want)
		}
	}
}

// An output is as it was made only with its kind, mode, content or target.
func TestIsMade(t *testing.T) {
	root := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(root, "f"), []byte("made"), 0o644), os.Symlink("f", filepath.Join(root, "l")), os.Mkdir(filepath.Join(root, "d"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files, err := tree.Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{Root: root, Tree: files}
	for _, c := range []struct {
		o    cache.Output
		want bool
	}{
		{cache.Output{Path: "f", Kind: cache.File, Mode: 0o644, Digest: cache.Sum([]byte("made"))}, true},
		{cache.Output{Path: "f", Kind: cache.File, Mode: 0o755, Digest: cache.Sum([]byte("made"))}, false},
		{cache.Output{Path: "f", Kind: cache.File, Mode: 0o644, Digest: cache.Sum([]byte("other"))}, false},
		{cache.Output{Path: "f", Kind: cache.Link, Target: "f"}, false},
		{cache.Output{Path: "l", Kind: cache.Link, Target: "f"}, true},
		{cache.Output{Path: "l", Kind: cache.Link, Target: "g"}, false},
		{cache.Output{Path: "l", Kind: cache.File, Mode: 0o777}, false},
		{cache.Output{Path: "d", Kind: cache.Dir}, true},
		{cache.Output{Path: "f", Kind: cache.Dir}, false},
	} {
		now, err := tree.Stat(root, c.o.Path)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.isMade(&c.o, now); got != c.want {
			t.Errorf("%+v: %v, want %v", c.o, got, c.want)
		}
	}
}

// The times that bento sets are no write, and what is written after that is one.
func TestRetimedIsNotTouched(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	if err := os.WriteFile(path, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	tr, err := tree.Walk(t.Context(), root, &tree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{Root: root, Tree: tr}
	stat := func() tree.Entry {
		e, err := tr.Stat("f")
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	then := stat()
	for i := range 2 {
		if failed, err := r.Retime([]string{"f", "gone"}, time.Unix(int64(1000+i), 0)); failed != "gone" || err == nil {
			t.Fatal(failed, err)
		}
		if now := stat(); r.touched(then, now) || !touched(then, now) {
			t.Errorf("set %d times: %+v, %+v", i+1, then, now)
		}
	}
	if err := os.Chtimes(path, time.Unix(7, 0), time.Unix(7, 0)); err != nil {
		t.Fatal(err)
	}
	if !r.touched(then, stat()) {
		t.Error("times that another process set count as set by bento")
	}
}
