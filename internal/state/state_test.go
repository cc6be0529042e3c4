package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStoreLoad(t *testing.T) {
	d := Open(t.TempDir())
	if _, err := d.Load("a/b", 1); !errors.Is(err, ErrAbsent) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("load before store: %v, want ErrAbsent", err)
	}
	for _, payload := range []string{"", "x", strings.Repeat("y", 1<<20)} {
		if err := d.Store("a/b", 1, []byte(payload)); err != nil {
			t.Fatal(err)
		}
		got, err := d.Load("a/b", 1)
		if err != nil || string(got) != payload {
			t.Fatalf("load: %d bytes, %v, want %d bytes", len(got), err, len(payload))
		}
	}
	ignore, err := os.ReadFile(d.Shown(".gitignore"))
	if err != nil || string(ignore) != "*\n" {
		t.Errorf(".gitignore: %q, %v", ignore, err)
	}
	if names := tempFiles(t, d); len(names) != 0 {
		t.Errorf("temporary files left: %q", names)
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := map[string]func(data []byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"foreign":   func([]byte) []byte { return []byte(strings.Repeat("{}", 100)) },
		"truncated": func(d []byte) []byte { return d[:len(d)-1] },
		"longer":    func(d []byte) []byte { return append(d, 0) },
		"header":    func(d []byte) []byte { return d[:headerSize-1] },
		"bit flip":  func(d []byte) []byte { d[len(d)-3] ^= 4; return d },
		"sum flip":  func(d []byte) []byte { d[sumAt] ^= 4; return d },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			d := Open(t.TempDir())
			if err := d.Store("f", 3, []byte("payload")); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(d.Shown("f"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d.Shown("f"), damage(data), 0o666); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Load("f", 3); !errors.Is(err, ErrAbsent) {
				t.Errorf("load: %q, %v, want ErrAbsent", got, err)
			}
		})
	}
}

func TestLoadOtherVersionOrName(t *testing.T) {
	d := Open(t.TempDir())
	if err := d.Store("f", 3, []byte("payload")); err != nil {
		t.Fatal(err)
	}
	for _, v := range []uint32{0, 2, 4} {
		if _, err := d.Load("f", v); !errors.Is(err, ErrAbsent) {
			t.Errorf("version %d: %v, want ErrAbsent", v, err)
		}
	}
	if err := os.Rename(d.Shown("f"), d.Shown("g")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Load("g", 3); !errors.Is(err, ErrAbsent) {
		t.Errorf("renamed: %v, want ErrAbsent", err)
	}
}

func TestBadNames(t *testing.T) {
	d := Open(t.TempDir())
	for _, name := range []string{"", "/etc/passwd", "../x", "a/../b", "a//b", "a\x00"} {
		if err := d.Store(name, 1, nil); err == nil {
			t.Errorf("store %q: no error", name)
		}
		if _, err := d.Load(name, 1); err == nil {
			t.Errorf("load %q: no error", name)
		}
		if err := d.Remove(name); err == nil {
			t.Errorf("remove %q: no error", name)
		}
	}
}

func TestRemove(t *testing.T) {
	d := Open(t.TempDir())
	if err := d.Remove("f"); err != nil {
		t.Errorf("of nothing: %v", err)
	}
	if err := d.Store("f", 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove("f"); err != nil {
		t.Error(err)
	}
	if _, err := d.Load("f", 1); !errors.Is(err, ErrAbsent) {
		t.Errorf("load after remove: %v", err)
	}
}

// A file or a link in the place of the directory is an error, and no file is written through it.
func TestDirectoryIsTaken(t *testing.T) {
	elsewhere := t.TempDir()
	for name, take := range map[string]func(path string) error{
		"file": func(path string) error { return os.WriteFile(path, nil, 0o666) },
		"link": func(path string) error { return os.Symlink(elsewhere, path) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			d := Open(root)
			if err := take(filepath.Join(root, Name)); err != nil {
				t.Fatal(err)
			}
			var refused *RefusedError
			if err := d.Store("f", 1, nil); !errors.As(err, &refused) {
				t.Errorf("store: %v, want a *RefusedError", err)
			}
			if err := d.Check(t.Context()); !errors.As(err, &refused) {
				t.Errorf("check: %v, want a *RefusedError", err)
			}
			if _, err := d.Temp(); err == nil {
				t.Error("temp: no error")
			}
		})
	}
	if names, _ := os.ReadDir(elsewhere); len(names) != 0 {
		t.Errorf("written through the link: %v", names)
	}
}

func TestStoreIsAtomic(t *testing.T) {
	d := Open(t.TempDir())
	payloads := []string{strings.Repeat("a", 300_000), strings.Repeat("b", 10)}
	if err := d.Store("f", 1, []byte(payloads[0])); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for range 25 {
				if err := Open(d.root).Store("f", 1, []byte(payloads[i%2])); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		got, err := d.Load("f", 1)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != payloads[0] && string(got) != payloads[1] {
			t.Fatalf("a mixture of %d bytes", len(got))
		}
	}
	writers.Wait()
}

func TestWriteFileKeepsNothingOnError(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "sub")
	if err := os.Mkdir(target, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(target, []byte("x"), 0o666); err == nil {
		t.Fatal("a directory was replaced")
	}
	names, _ := os.ReadDir(dir)
	if len(names) != 1 {
		t.Errorf("left beside: %v", names)
	}
}

func TestWriteFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := WriteFile(path, []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := Open(root).Store("f", 1, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("store: %v, want permission denied", err)
	}
}

func tempFiles(t *testing.T, d *Dir) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(d.Shown(""), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), tempPrefix) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func FuzzOpen(f *testing.F) {
	f.Add(append(seal("f", 1, []byte("x")), 'x'))
	f.Add(seal("f", 1, nil))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		payload, err := open("f", 1, data)
		if err != nil {
			return
		}
		if diff := cmp.Diff(append(seal("f", 1, payload), payload...), data); diff != "" {
			t.Errorf("accepted, but not what is written (-want +got):\n%s", diff)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	d := Open(b.TempDir())
	if err := d.Store("f", 1, make([]byte, 3<<20)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(3 << 20)
	for b.Loop() {
		if _, err := d.Load("f", 1); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPrepare: a missing directory is made with its .gitignore, and an existing one does not change.
func TestPrepare(t *testing.T) {
	root := t.TempDir()
	for range 2 {
		if err := Open(root).Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !exists(filepath.Join(root, Name, ".gitignore")) {
			t.Fatal("the directory is not made")
		}
	}
	refused := t.TempDir()
	if err := os.Symlink(root, filepath.Join(refused, Name)); err != nil {
		t.Fatal(err)
	}
	var because *RefusedError
	if err := Open(refused).Prepare(t.Context()); !errors.As(err, &because) {
		t.Errorf("a link: %v, want it to be refused", err)
	}
	if err := Open(filepath.Join(root, "missing")).Prepare(t.Context()); err != nil {
		t.Errorf("a directory that cannot be made: %v", err)
	}
}
