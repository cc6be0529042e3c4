package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
)

// peers returns both ends of a connection.
func peers(t *testing.T, a, b PeerOptions) (*Peer, *Peer) {
	t.Helper()
	toB, fromA := io.Pipe()
	toA, fromB := io.Pipe()
	left, right := NewPeer(NewConn(toA, fromA, Limits{}), a), NewPeer(NewConn(toB, fromB, Limits{}), b)
	t.Cleanup(func() { left.Close(); right.Close() })
	return left, right
}

// Each side sends requests while it handles one, many at the same time. Neither waits for the reader of
// the other.
func TestPeersAskEachOtherInsideACall(t *testing.T) {
	var left, right *Peer
	var handlers sync.WaitGroup
	ready := make(chan struct{})
	answer := func(self **Peer) func(*Incoming) {
		return func(in *Incoming) {
			handlers.Go(func() {
				<-ready
				var depth int
				if err := json.Unmarshal(in.Params, &depth); err != nil {
					t.Error(err)
				}
				if depth > 0 {
					got, err := (*self).Call(t.Context(), "down", depth-1)
					if want := fmt.Sprint(depth - 1); string(got) != want || err != nil {
						t.Errorf("got %s, %v, want %s", got, err, want)
					}
				}
				if err := in.Reply(depth); err != nil {
					t.Error(err)
				}
				if err := in.Reply(depth); !errors.Is(err, errAnswered) {
					t.Errorf("a second reply: got %v", err)
				}
			})
		}
	}
	left, right = peers(t, PeerOptions{Request: answer(&left)}, PeerOptions{Request: answer(&right)})
	close(ready)
	var calls sync.WaitGroup
	for range 50 {
		for _, p := range []*Peer{left, right} {
			calls.Go(func() {
				if got, err := p.Call(t.Context(), "down", 5); string(got) != "5" || err != nil {
					t.Errorf("got %s, %v", got, err)
				}
			})
		}
	}
	calls.Wait()
	handlers.Wait()
}

func TestPeerRefusesWithoutAHandler(t *testing.T) {
	left, _ := peers(t, PeerOptions{}, PeerOptions{})
	_, err := left.Call(t.Context(), "what", nil)
	var rpc *RPCError
	if !errors.As(err, &rpc) || rpc.Code != CodeMethodNotFound {
		t.Errorf("got %v", err)
	}
}

func TestPeerCallEnds(t *testing.T) {
	left, right := peers(t, PeerOptions{}, PeerOptions{Request: func(*Incoming) {}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := left.Call(ctx, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with its context: got %v", err)
	}
	var calls sync.WaitGroup
	calls.Go(func() {
		if _, err := left.Call(t.Context(), "x", nil); err == nil {
			t.Error("the connection ended, and the call got no error")
		}
	})
	right.Close()
	calls.Wait()
	<-left.Done()
	if left.Err() == nil {
		t.Error("no reason")
	}
}

// The handler of a message finds an answer that arrived before the message, and none that arrives after
// it.
func TestAnswerComesBeforeTheNextMessage(t *testing.T) {
	asked := make(chan *Question, 1)
	found := make(chan bool, 2)
	look := func(*Incoming) {
		q := <-asked
		asked <- q
		found <- q.Settled()
	}
	left, right := peers(t, PeerOptions{Request: look}, PeerOptions{Request: func(*Incoming) {}})
	q, err := left.Ask("first", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Drop()
	asked <- q
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"early"}`, `{"jsonrpc":"2.0","id":1,"result":7}`, `{"jsonrpc":"2.0","id":2,"method":"late"}`} {
		if err := right.conn.Send([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if early, late := <-found, <-found; early || !late {
		t.Errorf("before the answer: found %t, want false; after it: found %t, want true", early, late)
	}
}
