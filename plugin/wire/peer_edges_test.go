package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// half returns one end of a connection. The test controls the other end.
func half(t *testing.T, l Limits, o PeerOptions) (p *Peer, other *Conn, raw *io.PipeWriter) {
	t.Helper()
	toPeer, fromOther := io.Pipe()
	toOther, fromPeer := io.Pipe()
	p = NewPeer(NewConn(toPeer, fromPeer, l), o)
	other = NewConn(toOther, fromOther, Limits{})
	t.Cleanup(func() { p.Close(); other.Close() })
	return p, other, fromOther
}

// TestPeerIsFlooded: answers that the other side does not read end the connection, after a bounded number.
func TestPeerIsFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other, _ := half(t, Limits{Send: time.Hour}, PeerOptions{Request: func(in *Incoming) { _ = in.Refuse(&RPCError{}) }})
		sent := 0
		for other.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"x"}`, sent)) == nil {
			sent++
		}
		<-p.Done()
		if !errors.Is(p.Err(), ErrSendTimeout) || !strings.Contains(p.Err().Error(), "answers") || sent < maxAnswers || sent > maxAnswers+10 {
			t.Errorf("after %d requests: %v", sent, p.Err())
		}
	})
}

// TestPeerAnswersAreBoundedInBytes: the total size of unread answers is bounded.
func TestPeerAnswersAreBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := strings.Repeat("x", 10<<20)
		p, other, _ := half(t, Limits{Send: time.Hour}, PeerOptions{Request: func(in *Incoming) { _ = in.Reply(large) }})
		sent := 0
		for other.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"x"}`, sent)) == nil {
			sent++
		}
		<-p.Done()
		if sent < 6 || sent > 9 {
			t.Errorf("after %d requests: %v", sent, p.Err())
		}
	})
}

// TestPeerSendsInTime: a write that the other side does not read ends the connection, and fails the writes
// that wait behind it.
func TestPeerSendsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := half(t, Limits{Send: 2 * time.Second}, PeerOptions{})
		began := time.Now()
		errs := make(chan error, 2)
		go func() { errs <- p.Notify("a", nil) }()
		go func() { _, err := p.Call(t.Context(), "b", nil); errs <- err }()
		for range 2 {
			if err := <-errs; !errors.Is(err, ErrSendTimeout) {
				t.Errorf("got %v", err)
			}
		}
		if d := time.Since(began); d != 2*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// TestPeerSentLimit: a message that is too large is not sent, and the connection stays open.
func TestPeerSentLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused error
		p, other, _ := half(t, Limits{Sent: 100}, PeerOptions{Request: func(in *Incoming) {
			refused = in.Reply(strings.Repeat("x", 100))
			_ = in.Refuse(&RPCError{Code: 1, Message: "too large"})
		}})
		if err := p.Notify("x", strings.Repeat("x", 100)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("notification: %v", err)
		}
		if _, err := p.Call(t.Context(), "x", strings.Repeat("x", 100)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("request: %v", err)
		}
		if err := other.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 200) + `"}`)); err != nil {
			t.Fatal(err)
		}
		body, err := other.Recv()
		if err != nil || string(body) != `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"too large"}}` || !errors.Is(refused, ErrTooLarge) {
			t.Errorf("%s, %v, %v", body, err, refused)
		}
	})
}

// TestPeerStrict: the frames of extensions require CRLF and allow only Content-Length. The last
// Content-Length applies.
func TestPeerStrict(t *testing.T) {
	header := func(n int) string {
		return "Content-Length:" + strings.Repeat(" ", n-len("Content-Length:2\r\n\r\n")) + "2\r\n\r\n"
	}
	for text, want := range map[string]string{
		"Content-Length: 2\r\n\r\n{}":                      "",
		"content-LENGTH :2\r\n\r\n{}":                      "",
		"Content-Length: 9\r\nContent-Length: 2\r\n\r\n{}": "",
		header(8192) + "{}":                                "",
		header(8193) + "{}":                                "more than 8192 bytes",
		"Content-Length: 2\n\n{}":                          "without CR LF",
		"Content-Length: 2\r\n\n{}":                        "without CR LF",
		"Content-Type: a\r\nContent-Length: 2\r\n\r\n{}":   "expected only Content-Length",
		"Content-Length 2\r\n\r\n{}":                       "expected \"Content-Length: N\"",
		"Content-Length: -2\r\n\r\n{}":                     "expected decimal digits",
		"Content-Length: 0x2\r\n\r\n{}":                    "expected decimal digits",
		"Content-Length: 16777217\r\n\r\n":                 "at most 16777216",
		"Content-Length: 99999999999999999999\r\n\r\n":     "at most 16777216",
		"\r\n{}":                     "without Content-Length",
		"Content-Length: 2\r\n":      "inside a header",
		"Content-Length: 2\r\n\r\n{": "after 1 of 2 bytes",
		"":                           "EOF",
	} {
		c := NewConn(io.NopCloser(strings.NewReader(text)), discard{}, Limits{Strict: true})
		body, err := c.Recv()
		if want == "" && (err != nil || string(body) != "{}") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q: %q, %v, want %q", text, body, err, want)
		}
	}
}

// TestPeerAfterAndFinish: the ids continue those of an earlier connection. After the last request the
// output is closed, and the peer still receives messages.
func TestPeerAfterAndFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		p, other, _ := half(t, Limits{}, PeerOptions{After: 41, Notify: func(m string, _ json.RawMessage) { told = append(told, m) }})
		go func() { _ = p.Finish("shutdown", struct{}{}) }()
		body, err := other.Recv()
		if err != nil || string(body) != `{"jsonrpc":"2.0","id":42,"method":"shutdown","params":{}}` || p.LastID() != 42 {
			t.Errorf("%s, %v, last id %d", body, err, p.LastID())
		}
		if _, err := other.Recv(); err != io.EOF {
			t.Errorf("behind it: %v", err)
		}
		if err := other.Send([]byte(`{"jsonrpc":"2.0","method":"still"}`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := p.Call(t.Context(), "x", nil); err == nil {
			t.Error("a call after the end got an answer")
		}
		if len(told) != 1 || told[0] != "still" {
			t.Errorf("came in: %q", told)
		}
	})
}

// TestPeerByteByByte: frames arrive correctly in single bytes and several at once.
func TestPeerByteByByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		_, _, raw := half(t, Limits{Strict: true}, PeerOptions{Notify: func(m string, _ json.RawMessage) { got = append(got, m) }})
		frame := func(m string) string {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, m)
			return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
		}
		for _, b := range []byte(frame("a") + frame("b")) {
			if _, err := raw.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := raw.Write([]byte(frame("c") + frame("d"))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if strings.Join(got, "") != "abcd" {
			t.Errorf("got %q", got)
		}
	})
}

// FuzzStrictFrames: a strict reader ends on any input. An accepted body is the same after it was written
// and read again.
func FuzzStrictFrames(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\n"))
	f.Add([]byte("Content-Length: 9\r\nContent-Length:2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 2\n\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := NewConn(io.NopCloser(strings.NewReader(string(data))), discard{}, Limits{Strict: true, Body: 1 << 10})
		for {
			body, err := c.Recv()
			if err != nil {
				if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrMalformed) {
					t.Errorf("an error of another kind: %v", err)
				}
				return
			}
			if len(body) > 1<<10 {
				t.Errorf("a body of %d bytes", len(body))
			}
			again, err := NewConn(io.NopCloser(strings.NewReader(string(appendFrame(nil, body)))), discard{}, Limits{Strict: true}).Recv()
			if err != nil || string(again) != string(body) {
				t.Errorf("written again: %q, %v", again, err)
			}
		}
	})
}
