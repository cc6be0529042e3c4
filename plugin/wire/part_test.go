package wire

import (
	"io"
	"testing"
	"testing/synctest"
)

// A caller that times out can report how much of a message arrived.
func TestUnfinished(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{nil, ""},
		{[]string{"Content-Length: 2\r\n\r\n{}"}, ""},
		{[]string{"Content-Length: 2\r\n\r\n{", "}"}, ""},
		{[]string{"Content-Length: 7\r\n\r\n{}"}, "read 2 of 7 bytes of a message; is Content-Length right?"},
		{[]string{"Content-Length: 7\r\n\r\n"}, "read 0 of 7 bytes of a message; is Content-Length right?"},
		{[]string{"Content-Length: 7\r\n\r\n", "{", "}"}, "read 2 of 7 bytes of a message; is Content-Length right?"},
		{[]string{"Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n{}"}, "read 2 of 3 bytes of a message; is Content-Length right?"},
		{[]string{`{"jsonrpc":`, `"2.0"}`}, `read "{\"jsonrpc\":\"2.0\"}" without the end of that line`},
		{[]string{"Content-Length: 2\r\n"}, "read a header without the empty line after it"},
		{[]string{"Content-Length: 2\r\n{}"}, `read "{}" without the end of that line`},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			conn := NewConn(r, w, Limits{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, err := conn.Recv(); err == nil; _, err = conn.Recv() {
				}
			}()
			for _, piece := range c.pieces {
				_, _ = w.Write([]byte(piece))
			}
			synctest.Wait()
			if got := conn.Unfinished(); got != c.want {
				t.Errorf("after %q: got %q, want %q", c.pieces, got, c.want)
			}
			conn.Close()
			<-done
		})
	}
}
