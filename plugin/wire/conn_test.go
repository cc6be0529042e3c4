package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creachadair/jrpc2/channel"
)

func TestSendToOneWhoDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		c := NewConn(r, w, Limits{Send: time.Hour})
		start := time.Now()
		if err := c.Send([]byte("{}")); err != ErrSendTimeout {
			t.Errorf("got %v, want %v", err, ErrSendTimeout)
		}
		if d := time.Since(start); d != time.Hour {
			t.Errorf("after %v, want 1h", d)
		}
		if err := c.Send([]byte("{}")); err != channel.ErrClosed {
			t.Errorf("the second time: got %v, want %v", err, channel.ErrClosed)
		}
	})
}

func TestSendTooLarge(t *testing.T) {
	var out bytes.Buffer
	c := NewConn(io.NopCloser(strings.NewReader("")), nopCloser{&out}, Limits{Body: 4})
	if err := c.Send([]byte("12345")); !errors.Is(err, ErrTooLarge) || out.Len() > 0 {
		t.Errorf("got %v, written %q", err, &out)
	}
	if err := c.Send([]byte("1234")); err != nil || out.String() != "Content-Length: 4\r\n\r\n1234" {
		t.Errorf("got %v, written %q", err, &out)
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
