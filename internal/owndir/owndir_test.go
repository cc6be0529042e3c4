//go:build unix

package owndir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/internal/owner"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) (d *Dir, in func(string) string) {
	t.Helper()
	root := t.TempDir()
	d, err := Open(root, &owner.Trusted{})
	must(t, err)
	t.Cleanup(d.Close)
	return d, func(name string) string { return filepath.Join(root, name) }
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestEnterRefuses(t *testing.T) {
	d, in := open(t)
	must(t, os.Mkdir(in("dir"), 0o777), os.Symlink("dir", in("link")), os.Symlink("nowhere", in("dangling")),
		os.WriteFile(in("file"), nil, 0o666), syscall.Mkfifo(in("pipe"), 0o666), os.Mkdir(in("theirs"), 0o777))
	names := []string{"link", "dangling", "file", "pipe"}
	if os.Getuid() == 0 {
		must(t, os.Chown(in("theirs"), 12345, 12345))
		names = append(names, "theirs")
	}
	var refused *RefusedError
	for _, name := range names {
		if _, err := d.Enter(name, true); !errors.As(err, &refused) || refused.Path != in(name) || refused.Hint == "" {
			t.Errorf("enter %s: %v", name, err)
		}
		if _, err := d.Below(name+"/sub", true); !errors.As(err, &refused) {
			t.Errorf("below %s: %v", name, err)
		}
		if err := d.Check(name); !errors.As(err, &refused) {
			t.Errorf("check %s: %v", name, err)
		}
	}
	if isThere(in("nowhere")) || isThere(in("dir/sub")) {
		t.Error("a link was followed")
	}
	sub, err := d.Below("dir/a/b", true)
	must(t, err)
	sub.Close()
	if _, err := d.Enter("gone", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// A file that is not bento's own is neither read, nor locked, nor written.
func TestFilesOfOthers(t *testing.T) {
	d, in := open(t)
	must(t, os.WriteFile(in("other"), []byte("other"), 0o666), os.Symlink("other", in("link")), os.Symlink("gone", in("dangling")),
		os.Link(in("other"), in("second")), syscall.Mkfifo(in("pipe"), 0o666), os.Mkdir(in("dir"), 0o777))
	var refused *RefusedError
	for _, name := range []string{"link", "dangling", "pipe", "dir"} {
		if _, _, err := d.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %s: %v", name, err)
		}
		if _, _, err := d.Update(name, Private); !errors.As(err, &refused) {
			t.Errorf("update %s: %v", name, err)
		}
		if d.Touch(name, time.Now()) {
			t.Errorf("%s was touched", name)
		}
	}
	f, own, err := d.Update("second", Private)
	must(t, err, f.Close())
	if own {
		t.Error("a file with two names may be written")
	}
	past := time.Unix(1_500_000_000, 0)
	must(t, os.Chtimes(in("other"), past, past))
	if !d.Touch("second", time.Now()) {
		t.Error("a file with two names is not there")
	}
	for _, name := range []string{"link", "second", "pipe"} {
		must(t, d.Replace(name, []byte("mine")))
	}
	fi, err := os.Stat(in("other"))
	must(t, err)
	if data, err := os.ReadFile(in("other")); err != nil || string(data) != "other" || !fi.ModTime().Equal(past) {
		t.Errorf("the file of another is %q, %v, %v", data, fi.ModTime(), err)
	}
	if isThere(in("gone")) {
		t.Error("a dangling link was written through")
	}
}

// die leaves a temporary directory as the end of its process does.
func (t *Temp) die() {
	t.lock.Close()
	t.Close()
	t.parent.Close()
}

func TestSweep(t *testing.T) {
	d, in := open(t)
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.MkdirAll(filepath.Join(victim, "sub"), 0o777))
	dead, err := d.Temp()
	must(t, err)
	name := filepath.Base(dead.Path())
	must(t, os.MkdirAll(in(name+"/a/b"), 0o777), os.WriteFile(in(name+"/a/f"), nil, 0o444), os.Symlink(victim, in(name+"/a/link")))
	living, err := d.Temp()
	must(t, err)
	defer living.Remove()
	must(t, os.Mkdir(in("abc"), 0o777), os.WriteFile(in("abc/"+dead.mark), nil, 0o666), // a mark that was copied
		os.Mkdir(in("abd"), 0o777), os.WriteFile(in("abd/file"), nil, 0o666),
		os.Mkdir(in("abe"), 0o777), os.Symlink(victim, in("abf")),
		os.WriteFile(in(TempPrefix+"a"), nil, 0o666), os.WriteFile(in(TempPrefix+"b"), nil, 0o666), os.WriteFile(in(TempPrefix+"notes.txt"), nil, 0o666))
	long := time.Now().Add(-2 * tempAge)
	must(t, os.Chtimes(in(TempPrefix+"a"), long, long), os.Chtimes(in(TempPrefix+"notes.txt"), long, long))
	dead.die()
	d.Sweep()
	for path, want := range map[string]bool{
		in(name): false, living.Path(): true, in("abc/" + dead.mark): true, in("abd/file"): true, in("abe"): false, in("abf"): true,
		filepath.Join(victim, "sub"): true, in(TempPrefix + "a"): false, in(TempPrefix + "b"): true, in(TempPrefix + "notes.txt"): true,
	} {
		if isThere(path) != want {
			t.Errorf("%s is there: %v, want %v", path, !want, want)
		}
	}
}

// A temporary directory that was moved away is removed at its new place, and files that were put in
// its old place stay.
func TestRemoveOfWhatWasReplaced(t *testing.T) {
	d, in := open(t)
	temp, err := d.Temp()
	must(t, err)
	must(t, os.Rename(temp.Path(), in("moved")), os.Mkdir(temp.Path(), 0o777), os.WriteFile(filepath.Join(temp.Path(), "file"), nil, 0o666),
		os.WriteFile(in("moved/file"), nil, 0o666))
	temp.Remove()
	if !isThere(filepath.Join(temp.Path(), "file")) || isThere(in("moved/file")) {
		t.Error("the wrong directory was emptied")
	}
}
