//go:build unix

package state

import (
	"errors"
	"syscall"
	"testing"
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
