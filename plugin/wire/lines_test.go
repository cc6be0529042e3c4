package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestLines: with Limits.Lines each body is a line, in both directions.
func TestLines(t *testing.T) {
	long := `"` + strings.Repeat("x", 40<<10) + `"`
	for text, want := range map[string]struct {
		bodies []string
		err    error
	}{
		"":                            {nil, io.EOF},
		"\n \r\n":                     {nil, io.EOF},
		"{}\n\n{ }\r\n":               {[]string{"{}", "{ }"}, io.EOF},
		long + "\n1\n":                {[]string{long, "1"}, io.EOF},
		"{}\n{":                       {[]string{"{}"}, io.ErrUnexpectedEOF},
		strings.Repeat("y", 64<<10+1): {nil, ErrTooLarge},
		strings.Repeat(" ", 64<<10+1): {nil, ErrTooLarge},
	} {
		var out bytes.Buffer
		c := NewConn(io.NopCloser(strings.NewReader(text)), ending{&out}, Limits{Lines: true, Body: 64 << 10})
		for _, body := range want.bodies {
			got, err := c.Recv()
			if err != nil || string(bytes.TrimSpace(got)) != body {
				t.Errorf("%.20q: got %.20q, %v, want %.20q", text, got, err, body)
			}
		}
		if body, err := c.Recv(); !errors.Is(err, want.err) {
			t.Errorf("%.20q: got %.20q, %v, want %v", text, body, err, want.err)
		}
		if err := c.Send([]byte("{}")); err != nil || out.String() != "{}\n" {
			t.Errorf("sent %q, %v", &out, err)
		}
	}
}

// ending is a writer that has nothing to close.
type ending struct{ io.Writer }

func (ending) Close() error { return nil }

// TestPeerOfLines: a peer refuses a line that is not JSON, and answers the next one.
func TestPeerOfLines(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader("{\n" + `{"jsonrpc":"2.0","id":"a","method":"m","params":{"text":"one\ntwo"}}` + "\n")
	p := NewPeer(NewConn(io.NopCloser(in), ending{&out}, Limits{Lines: true}), PeerOptions{
		Request: func(in *Incoming) { _ = in.Reply(in.Params) },
		Bad:     func([]byte, *Message, error) (*RPCError, bool) { return &RPCError{Code: -32700, Message: "no"}, false },
	})
	<-p.Done()
	p.Drain()
	want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}` + "\n" + `{"jsonrpc":"2.0","id":"a","result":{"text":"one\ntwo"}}` + "\n"
	if p.Err() != io.EOF || out.String() != want {
		t.Errorf("%v, got\n%swant\n%s", p.Err(), &out, want)
	}
}
