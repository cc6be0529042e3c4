package share

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
	"github.com/bentobuild/bento/internal/sampling"
)

func TestShare(t *testing.T) {
	remotetest.Run(t, func(t *testing.T) remote.Backend { return Open(t.TempDir()) })
}

func TestShareAsStore(t *testing.T) {
	dir := t.TempDir()
	remotetest.RunStore(t, func(_ *testing.T, o remote.Options) remote.Store { return remote.OverBackend(Open(dir), o) })
}

func TestEvictions(t *testing.T) {
	dir := t.TempDir()
	open := func(_ *testing.T, o remote.Options) remote.Store { return remote.OverBackend(Open(dir), o) }
	remotetest.RunEvictions(t, remotetest.Losing{Dir: dir, Open: open}, 10, sampling.Rand(t))
}

// file returns the path of a file of the share.
func file(dir, kind string, d remote.Digest) string {
	shard, name := place(d)
	return filepath.Join(dir, kind, shard, name)
}

func put(t *testing.T, dir string, data []byte) remote.Digest {
	t.Helper()
	blobs := make(remotetest.Contents)
	d := blobs.Add(data)
	if _, err := blobs.Send(t.Context(), Open(dir)); err != nil {
		t.Fatal(err)
	}
	return d
}

// get returns the content of a blob, nil for a missing one.
func get(t *testing.T, dir string, d remote.Digest) (data []byte, err error) {
	t.Helper()
	err = Open(dir).Fetch(t.Context(), []remote.Want{{Digest: d}}, func(_ remote.Want, r io.Reader) error {
		if r == nil {
			return nil
		}
		data, err = io.ReadAll(r)
		return err
	})
	return data, err
}

// What another user of the share puts in the place of a file is neither followed, waited for, nor served.
func TestHostileFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(at string) error{
		"link":        func(at string) error { return os.Symlink(secret, at) },
		"pipe":        func(at string) error { return syscall.Mkfifo(at, 0o666) },
		"directory":   func(at string) error { return os.Mkdir(at, 0o777) },
		"empty":       func(at string) error { return os.WriteFile(at, nil, 0o666) },
		"shorter":     func(at string) error { return os.WriteFile(at, []byte("secre"), 0o666) },
		"huge, holes": func(at string) error { return os.WriteFile(at, nil, 0o666) },
		"other":       func(at string) error { return os.WriteFile(at, []byte("sacret"), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := put(t, dir, []byte("secret"))
			for _, at := range []string{file(dir, blobs, d), file(dir, results, d)} {
				_ = os.Remove(at)
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), make(at)); err != nil {
					t.Fatal(err)
				}
				if name == "huge, holes" {
					if err := os.Truncate(at, 1<<40); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got, err := get(t, dir, d); err == nil && got != nil {
				t.Errorf("served %q", got)
			}
			if got, err := Open(dir).Result(t.Context(), d); name != "other" && name != "shorter" && (!errors.Is(err, remote.ErrMiss) || got != nil) {
				t.Errorf("result: %d bytes, %v, want a miss", len(got), err)
			}
			if name == "directory" {
				return // which no file replaces
			}
			put(t, dir, []byte("secret"))
			if got, err := get(t, dir, d); err != nil || string(got) != "secret" {
				t.Errorf("not mended: %q, %v", got, err)
			}
			if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
				t.Errorf("the file behind the link: %q, %v", data, err)
			}
		})
	}
}

// A share whose directories are links leads nowhere.
func TestLinkedDirectories(t *testing.T) {
	elsewhere := t.TempDir()
	d := put(t, elsewhere, []byte("x"))
	dir := t.TempDir()
	for _, name := range []string{blobs, results, tmpDir} {
		if err := os.Symlink(filepath.Join(elsewhere, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := get(t, dir, d); err == nil && got != nil {
		t.Errorf("served %q through a link", got)
	}
	other := make(remotetest.Contents)
	o := other.Add([]byte("y"))
	if _, err := other.Send(t.Context(), Open(dir)); err == nil {
		t.Error("sent through a link")
	}
	if _, err := os.Lstat(file(elsewhere, blobs, o)); err == nil {
		t.Error("written through a link")
	}
}

func TestReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere: TestDenied has the errors")
	}
	dir := t.TempDir()
	d := put(t, dir, []byte("x"))
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if err := Open(dir).PutResult(t.Context(), d, []byte("x")); !errors.Is(err, remote.ErrDenied) {
		t.Errorf("%v, want ErrDenied", err)
	}
	if got, err := get(t, dir, d); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDenied(t *testing.T) {
	for err, want := range map[error]error{
		syscall.EACCES: remote.ErrDenied, syscall.EPERM: remote.ErrDenied, syscall.EROFS: remote.ErrDenied,
		syscall.ENOSPC: remote.ErrFull, syscall.EDQUOT: remote.ErrFull, syscall.EFBIG: remote.ErrFull,
	} {
		if got := faultOf(fmt.Errorf("write: %w", err)); !errors.Is(got, want) || !errors.Is(got, err) {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// A share that is not mounted is no empty share.
func TestNotMounted(t *testing.T) {
	b := Open(filepath.Join(t.TempDir(), "not mounted"))
	d := remote.Sum(nil)
	_, err := b.Result(t.Context(), d)
	_, err2 := b.Missing(t.Context(), []remote.Digest{d})
	for _, err := range []error{err, err2, b.PutResult(t.Context(), d, []byte("x"))} {
		if err == nil || errors.Is(err, remote.ErrMiss) || !strings.Contains(err.Error(), "not mounted") {
			t.Errorf("%v, want an error that names the directory", err)
		}
	}
}

// Users with another umask can read and add to a share, as its own permissions say.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o775); err != nil {
		t.Fatal(err)
	}
	d := put(t, dir, []byte("x"))
	for at, want := range map[string]os.FileMode{
		filepath.Join(dir, blobs): 0o775, filepath.Dir(file(dir, blobs, d)): 0o775, filepath.Join(dir, tmpDir): 0o775, file(dir, blobs, d): 0o444,
	} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", at, info.Mode(), err, want)
		}
	}
}

// A file that is used stays young, so that find -mtime finds those which are not. What killed processes leave goes.
func TestAges(t *testing.T) {
	dir := t.TempDir()
	d := put(t, dir, []byte("x"))
	old := time.Now().Add(-100 * time.Hour)
	left, other := filepath.Join(dir, tmpDir, "3w5e11264sgsf"), filepath.Join(dir, tmpDir, "README.md")
	for _, at := range []string{left, other} {
		if err := errors.Join(os.WriteFile(at, nil, 0o644), os.Chtimes(at, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	for name, do := range map[string]func(){
		"fetch":   func() { _, _ = get(t, dir, d) },
		"missing": func() { _, _ = Open(dir).Missing(t.Context(), []remote.Digest{d}) },
		"send":    func() { put(t, dir, []byte("x")) },
	} {
		if err := os.Chtimes(file(dir, blobs, d), old, old); err != nil {
			t.Fatal(err)
		}
		do()
		if info, err := os.Stat(file(dir, blobs, d)); err != nil || time.Since(info.ModTime()) > time.Hour {
			t.Errorf("%s: is not a use: %v", name, err)
		}
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("a file of a killed process stays")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("a file of another program is gone")
	}
	entries, err := os.ReadDir(filepath.Join(dir, tmpDir))
	if err != nil || len(entries) != 1 {
		t.Errorf("tmp has %v, %v", entries, err)
	}
}

// A reader of a blob that shrinks, or of a cancelled fetch, never ends as if that were all.
func TestShrinks(t *testing.T) {
	dir := t.TempDir()
	data := bytes.Repeat([]byte("x"), 1<<20)
	d := put(t, dir, data)
	err := Open(dir).Fetch(context.Background(), []remote.Want{{Digest: d}}, func(_ remote.Want, r io.Reader) error {
		if _, err := io.CopyN(io.Discard, r, 10); err != nil {
			return err
		}
		if err := os.Chmod(file(dir, blobs, d), 0o644); err != nil {
			return err
		}
		if err := os.Truncate(file(dir, blobs, d), 20); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, r)
		return err
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want io.ErrUnexpectedEOF", err)
	}
}
