package ainb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/bentobuild/bento/plugin/wire"
)

const (
	dialing     = "unix_socket_dial"
	maxSockets  = 16
	maxUnsent   = 1 << 20 // bytes that wait for a socket
	dialWithin  = 5 * time.Second
	writeWithin = 10 * time.Second
)

// socket is a connection that the host dialled for an extension.
type socket struct {
	conn net.Conn
	more chan struct{} // has a value when there is something to send

	mu     sync.Mutex
	unsent []byte
}

// add queues bytes, and reports whether they fit.
func (k *socket) add(b []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.unsent)+len(b) > maxUnsent {
		return false
	}
	k.unsent = append(k.unsent, b...)
	select {
	case k.more <- struct{}{}:
	default:
	}
	return true
}

func (k *socket) take() (b []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, k.unsent = k.unsent, nil
	return b
}

// write sends the queued bytes until the connection is closed.
func (k *socket) write(ctx context.Context) {
	for {
		select {
		case <-k.more:
		case <-ctx.Done():
			return
		}
		_ = k.conn.SetWriteDeadline(time.Now().Add(writeWithin))
		if _, err := k.conn.Write(k.take()); err != nil {
			k.conn.Close() // which the reader reports
			return
		}
	}
}

// dial answers host/unix_socket_dial.
func (s *session) dial(ctx context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	path, refused := pathOf(raw)
	if refused != nil {
		return nil, refused
	}
	if path = s.x.h.expand(path); !filepath.IsAbs(path) {
		return nil, refusal(wire.CodeInvalidParams, "params.path is %.200q, required an absolute path", path)
	}
	real := resolve(path)
	refused = s.x.listed(method, dialing, "path", path, func(listed string) bool { return resolve(s.x.h.expand(listed)) == real })
	if refused != nil {
		return nil, refused
	}
	dialer := net.Dialer{Timeout: dialWithin}
	conn, err := dialer.DialContext(ctx, "unix", real)
	if err != nil {
		return nil, refusal(wire.CodeInvalidParams, "dial %.200s: %v", path, err)
	}
	k := &socket{conn: conn, more: make(chan struct{}, 1)}
	id := fmt.Sprintf("s%d", s.nextID())
	s.mu.Lock()
	many := len(s.sockets) >= maxSockets
	if !many {
		s.sockets[id] = k
	}
	s.mu.Unlock()
	if many {
		conn.Close()
		return nil, refusal(wire.CodeInvalidParams, "more than %d sockets", maxSockets)
	}
	life, stop := context.WithCancel(ctx)
	context.AfterFunc(life, func() { conn.Close() })
	s.handlers.Go(func() { k.write(life) })
	s.handlers.Go(func() {
		defer stop()
		s.receive(life, id, conn)
	})
	return map[string]string{"stream_id": id}, nil
}

// socketEvent is an event of a socket.
type socketEvent struct {
	Kind  string `json:"kind"` // data, eof or error
	Bytes *Bytes `json:"bytes,omitempty"`
	Error string `json:"error,omitempty"`
}

// receive passes on the bytes from a socket, as fast as the extension reads them.
func (s *session) receive(ctx context.Context, id string, conn net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if n > 0 {
			b := Bytes(buf[:n])
			if !s.push(ctx, id, socketEvent{Kind: "data", Bytes: &b}) {
				return
			}
			continue
		}
		if err == nil {
			continue
		}
		if s.drop(id) { // otherwise the extension closed it
			e := socketEvent{Kind: "eof"}
			if !errors.Is(err, io.EOF) {
				e = socketEvent{Kind: "error", Error: err.Error()}
			}
			s.push(ctx, id, e)
		}
		return
	}
}

// push waits until an event is written next, and reports whether it is.
func (s *session) push(ctx context.Context, id string, e socketEvent) bool {
	payload, err := json.Marshal(e)
	if err != nil {
		return false
	}
	select {
	case s.pushed <- eventParams{"socket:" + id, payload}:
		return true
	case <-ctx.Done():
		return false
	}
}

// drop forgets a socket, and reports whether it was known.
func (s *session) drop(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.sockets[id]
	delete(s.sockets, id)
	return known
}

// sendSocket handles host/unix_socket_send. More than a socket can take closes it.
func (s *session) sendSocket(raw json.RawMessage) {
	p, refused := params[struct {
		ID    string          `json:"stream_id"`
		Bytes json.RawMessage `json:"bytes"`
	}](raw)
	if refused != nil {
		s.odd(refused.Message)
		return
	}
	data, refused := bytesOf("bytes", p.Bytes)
	s.mu.Lock()
	k := s.sockets[p.ID]
	s.mu.Unlock()
	switch {
	case refused != nil:
		s.odd(refused.Message)
	case k == nil:
		s.odd(fmt.Sprintf("host/unix_socket_send to no open socket: %.60q", p.ID))
	case !k.add(data):
		s.odd(fmt.Sprintf("the socket %s was closed: more than %d bytes wait for it", p.ID, maxUnsent))
		k.conn.Close()
	}
}

// closeSocket handles host/unix_socket_close.
func (s *session) closeSocket(raw json.RawMessage) {
	id := s.idOf(raw)
	s.mu.Lock()
	k := s.sockets[id]
	delete(s.sockets, id)
	s.mu.Unlock()
	if k != nil {
		k.conn.Close()
	}
}
