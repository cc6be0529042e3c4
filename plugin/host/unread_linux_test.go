package host

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestUnread: the number of bytes that the other side has not read is known until the stream is closed.
func TestUnread(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	from, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r      io.Reader
		w      io.WriteCloser
		unread func() int
	}{"pipe": {r, w, UnreadOfPipe(w)}, "socket": {from, to, UnreadOfSocket(to.(*net.UnixConn))}} {
		check := func(when string, want bool) {
			t.Helper()
			if n := c.unread(); n > 0 != want {
				t.Errorf("%s, %s: %d", name, when, n)
			}
		}
		check("at first", false)
		if _, err := c.w.Write([]byte("words")); err != nil {
			t.Fatal(err)
		}
		check("written", true)
		if _, err := io.ReadFull(c.r, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		check("read", false)
		_, _ = c.w.Write([]byte("words"))
		c.w.Close()
		check("closed", false)
	}
}
