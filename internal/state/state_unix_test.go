//go:build unix

package state

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLoadSpecialFiles(t *testing.T) {
	d := Open(t.TempDir())
	if err := d.Store("dir/x", 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(d.Shown("fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dir", "fifo"} {
		if _, err := d.Load(name, 1); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v, want ErrAbsent", name, err)
		}
	}
}

// No other user may read a private file, and a file that other users may read is not accepted as
// private.
func TestPrivate(t *testing.T) {
	d := Open(t.TempDir())
	if err := d.StorePrivate("p", 1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(d.Shown("p"))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if got, err := d.LoadPrivate("p", 1); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Chmod(d.Shown("p"), 0o640); err != nil {
		t.Fatal(err)
	}
	if got, err := d.LoadPrivate("p", 1); !errors.Is(err, ErrAbsent) {
		t.Errorf("readable by a group: %q, %v", got, err)
	}
}

// TestLocksArePrivate: a user who can read a file can lock it, and keep bento waiting.
func TestLocksArePrivate(t *testing.T) {
	d := Open(t.TempDir())
	c, err := d.Claim("claims")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if fi, err := os.Stat(c.Name()); err != nil || fi.Mode() != 0o600 {
		t.Errorf("claimed: %v, %v, want mode 0600", fi.Mode(), err)
	}
	for i, older := range []os.FileMode{0, 0o644, 0o660} {
		if i > 0 {
			if err := os.Chmod(d.Shown("l"), older); err != nil {
				t.Fatal(err)
			}
		}
		unlock, err := d.Lock(t.Context(), "l", nil)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
		fi, err := os.Stat(d.Shown("l"))
		if err != nil || fi.Mode() != 0o600 {
			t.Errorf("after mode %v: %v, %v, want 0600", older, fi.Mode(), err)
		}
	}
}

// A process that is forked while a journal is read has the file open until it executes its program. The
// reader has closed the file by then, and claims it again.
func TestClaimBesideFork(t *testing.T) {
	d := Open(t.TempDir())
	made, err := d.Claim("claims")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // first as after Claim, then as after Abandoned
		forked, err := unix.Dup(int(made.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(forked)
		made.Close()
		list := d.Abandoned("claims")
		if len(list) != 1 {
			t.Fatalf("%d files are claimed, want 1", len(list))
		}
		made = list[0]
	}
	made.Close()
}
