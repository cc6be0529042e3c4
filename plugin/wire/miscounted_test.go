package wire

import (
	"io"
	"strings"
	"testing"
)

// TestMiscounted reads messages whose Content-Length is wrong, and others that are not JSON.
func TestMiscounted(t *testing.T) {
	const body = `{"jsonrpc":"2.0","id":1,"result":"ä"}` // 38 bytes
	for _, c := range []struct{ name, stream, want string }{
		{"one too few", "Content-Length: 37\r\n\r\n" + body, "Content-Length is 37, and the JSON has 38 bytes"},
		{"characters", "Content-Length: 37\r\n\r\n" + body + "Content-Length: 2\r\n\r\n{}", "Content-Length is 37, and the JSON has 38 bytes"},
		{"one too many", "Content-Length: 39\r\n\r\n" + body + "Content-Length: 2\r\n\r\n{}", "Content-Length is 39, and the JSON has 38 bytes"},
		{"a truncated body", "Content-Length: 7\r\n\r\n{\"a\": [", "the JSON ends where"},
		{"no JSON", "Content-Length: 3\r\n\r\nabc{}", "no JSON at byte 0"},
		{"two values", "Content-Length: 5\r\n\r\n{} {}", "expected the end"},
		{"no UTF-8", "Content-Length: 9\r\n\r\n{\"a\":\"\xff\"}", "invalid UTF-8"},
		{"a number", "Content-Length: 1\r\n\r\n1x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := NewConn(io.NopCloser(strings.NewReader(c.stream)), discard{}, Limits{})
			read, err := conn.Recv()
			if err != nil {
				t.Fatal(err)
			}
			_, err = ParseMessage(read, 64)
			if err = conn.Miscounted(read, err); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }
