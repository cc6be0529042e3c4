package sep

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// TestStrangerIsNotAccepted: a connection of another user is refused. The socket is removed in any case.
func TestStrangerIsNotAccepted(t *testing.T) {
	for _, stranger := range []bool{false, true} {
		o := &Options{Manifest: quick(t, "well", "mark"), Dir: t.TempDir(), Env: adapters.NewEnviron([]string{"TMPDIR=" + t.TempDir()})}
		e, err := newEndpoint(o, 0)
		if err != nil {
			t.Fatal(err)
		}
		if stranger {
			e.user++
		}
		if err := e.listen(); err != nil {
			t.Fatal(err)
		}
		dir := e.dir
		c, err := net.Dial("unix", e.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := e.accept(t.Context(), &host.Stream{Exited: make(chan struct{})})
		if refused := err != nil && strings.Contains(err.Error(), "connected to the socket, required"); refused != stranger {
			t.Errorf("a stranger: %t, got %v", stranger, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("the socket is left")
		}
		conn.Close()
		c.Close()
	}
}
