package clone

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// workspace makes a root with a canary outside of it.
func workspace(t *testing.T) (root, outside string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, outside = filepath.Join(base, "ws"), filepath.Join(base, "outside")
	for _, dir := range []string{filepath.Join(root, "d", "sub"), outside, root + "2"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(root, "d", "f"), filepath.Join(outside, "f"), filepath.Join(root+"2", "f")} {
		if err := os.WriteFile(name, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root, outside
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestReadFollowsNoLinkOut(t *testing.T) {
	root, outside := workspace(t)
	for name, target := range map[string]string{
		"in":        "d/f",
		"back":      "d/sub/../../d/f",
		"absolute":  root + "/d/f",
		"chain":     "in",
		"relative":  "../outside/f",
		"full":      outside + "/f",
		"dir":       "../outside",
		"through":   "dir/f",
		"there":     "../ws/d/f",
		"proc":      "/proc/self/cwd",
		"magic":     "/proc/self/root" + outside + "/f",
		"circle":    "circle",
		"neighbour": root + "2/f",
		"up":        "d/../../outside/f",
		"dangling":  "../outside/none",
		"missing":   "d/none",
		"top":       "/",
	} {
		link(t, target, filepath.Join(root, name))
	}
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	link(t, "fifo", filepath.Join(root, "tofifo"))
	link(t, "/dev/zero", filepath.Join(root, "device"))
	c := At(root)
	for _, name := range []string{"d/f", "in", "back", "absolute", "chain", root + "/in", "./d//f"} {
		if data, err := c.Read(name, 1000); string(data) != root+"/d/f" || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	for _, name := range []string{"relative", "full", "dir/f", "through", "there", "proc/f", "magic", "neighbour", "up", "dangling", "top/etc/passwd", "device"} {
		var stray *StrayError
		if data, err := c.Read(name, 1000); !errors.As(err, &stray) || !errors.Is(err, fs.ErrNotExist) || data != nil {
			t.Errorf("%s: %q, %v; want a link that leads out", name, data, err)
		}
		if _, err := c.Mode(name); !errors.As(err, &stray) {
			t.Errorf("mode of %s: %v", name, err)
		}
	}
	for _, name := range []string{"../outside/f", outside + "/f", root + "2/f", "/etc/passwd"} {
		var out *OutsideError
		if data, err := c.Read(name, 1000); !errors.As(err, &out) || data != nil {
			t.Errorf("%s: %q, %v; want a path outside", name, data, err)
		}
	}
	for _, name := range []string{"none", "missing", "in/x/y", "circle"} {
		if _, err := c.Read(name, 1000); err == nil || errors.As(err, new(*StrayError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"fifo", "tofifo", "d"} {
		if _, err := c.Read(name, 1000); !errors.As(err, new(*IrregularError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Read("d/f", 3); !errors.As(err, new(*TooLargeError)) {
		t.Errorf("a large file: %v", err)
	}
	if list, err := c.List("dir"); len(list) > 0 || err == nil {
		t.Errorf("list: %v, %v", list, err)
	}
	if list, err := c.List("d"); len(list) != 2 || err != nil {
		t.Errorf("list: %v, %v", list, err)
	}
	warned := map[string]bool{}
	for _, d := range c.Warnings() {
		if warned[d.File] {
			t.Errorf("%s is reported twice", d.File)
		}
		warned[d.File] = true
	}
	if !warned["relative"] || !warned["dir"] || warned["through"] || warned["in"] || warned["../outside/f"] {
		t.Errorf("warned of %v", warned)
	}
}

// TestSlowly checks that the code without openat2 is equally strict.
func TestSlowly(t *testing.T) {
	root, _ := workspace(t)
	link(t, "../outside", filepath.Join(root, "dir"))
	link(t, "d", filepath.Join(root, "e"))
	e, err := At(root).open()
	if err != nil {
		t.Fatal(err)
	}
	for rel, want := range map[string]error{"dir/f": errLink, "e/f": errLink, "d/f": nil, "d/none": syscall.ENOENT} {
		fd, err := e.slowly(rel, os.O_RDONLY)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rel, err, want)
		}
		if err == nil {
			syscall.Close(fd)
		}
	}
}

func TestWriteFollowsNoLinkOut(t *testing.T) {
	root, outside := workspace(t)
	link(t, "../outside", filepath.Join(root, "e"))
	link(t, "../outside/f", filepath.Join(root, "file"))
	link(t, "d", filepath.Join(root, "inside"))
	c := At(root)
	for _, name := range []string{"e/new", "e/zz/new", "e", "file", "../outside/new", outside + "/new"} {
		if err := c.Create(name, []byte("x"), 0o666); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	for _, name := range []string{"e/f", "file", "../outside/f"} {
		if err := c.Replace(name, []byte("x"), 0o666); err == nil {
			t.Errorf("%s was replaced", name)
		}
	}
	if _, err := c.MkdirAll("e/dir/more"); err == nil {
		t.Error("a directory was made outside")
	}
	entries, err := os.ReadDir(outside)
	data, err2 := os.ReadFile(filepath.Join(outside, "f"))
	if len(entries) != 1 || string(data) != outside+"/f" || err != nil || err2 != nil {
		t.Fatalf("outside there are %v, %q", entries, data)
	}
	for name, write := range map[string]func(string, []byte, fs.FileMode) error{"inside/new/a": c.Create, "inside/f": c.Replace, "b": c.Replace} {
		if err := write(name, []byte(name), 0o666); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := os.ReadFile(filepath.Join(root, name)); string(data) != name || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if err := c.Create("inside/f", nil, 0o666); !errors.Is(err, fs.ErrExist) {
		t.Errorf("what is there was made: %v", err)
	}
}

// BenchmarkMode is of a file that is looked for and not there, as most are.
func BenchmarkMode(b *testing.B) {
	root := b.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a", "b", "c"), 0o777); err != nil {
		b.Fatal(err)
	}
	c := At(root)
	b.Run("clone", func(b *testing.B) {
		for b.Loop() {
			_, _ = c.Mode(root + "/a/b/c/none")
		}
	})
	b.Run("stat", func(b *testing.B) {
		for b.Loop() {
			_, _ = os.Stat(root + "/a/b/c/none")
		}
	})
	b.Run("clone, there", func(b *testing.B) {
		for b.Loop() {
			_, _ = c.Mode(root + "/a/b/c")
		}
	})
	b.Run("stat, there", func(b *testing.B) {
		for b.Loop() {
			_, _ = os.Stat(root + "/a/b/c")
		}
	})
}

// TestOpenDirect: a link is refused on the way and at the end, wherever it leads.
func TestOpenDirect(t *testing.T) {
	root, _ := workspace(t)
	link(t, "d", filepath.Join(root, "dir"))
	link(t, "f", filepath.Join(root, "d", "file"))
	link(t, "../outside", filepath.Join(root, "out"))
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := At(root)
	for name, want := range map[string]LinkError{
		"dir/f": {"dir", "d"}, "d/file": {"d/file", "f"}, "dir/file": {"dir", "d"}, "out/f": {"out", "../outside"}, root + "/dir/sub": {"dir", "d"},
	} {
		var found *LinkError
		if _, err := c.OpenDirect(name); !errors.As(err, &found) || *found != want {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	for name, want := range map[string]error{"d/f": nil, "fifo": nil, "d/sub": nil, "d/none": fs.ErrNotExist, "none/f": fs.ErrNotExist, "../outside/f": fs.ErrNotExist} {
		f, err := c.OpenDirect(name)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		f.Close()
	}
}
