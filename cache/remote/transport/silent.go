package transport

import (
	"context"
	"net"
	"sync"
	"time"
)

// connections are the open connections of a client. HTTP/2 notices by itself that one is dead only by pings, for which
// servers of gRPC end connections.
type connections struct {
	mu   sync.Mutex
	open map[*connection]struct{}
}

// connection notes when bytes came.
type connection struct {
	net.Conn
	of   *connections
	mu   sync.Mutex
	last time.Time // by the clock of the wall, which a sleeping machine does not stop
}

// dialing returns a function like dial whose connections are of c.
func (c *connections) dialing(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		to := &connection{Conn: conn, of: c, last: time.Now().Round(0)}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open == nil {
			c.open = make(map[*connection]struct{})
		}
		c.open[to] = struct{}{}
		return to, nil
	}
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.mu.Lock()
		c.last = time.Now().Round(0)
		c.mu.Unlock()
	}
	return n, err
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

func (c *connection) silentSince(then time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.Before(then)
}

// Heard reports whether bytes came by any connection within a time from now back: then the server, and the way to it,
// are alive.
func (c *Client) Heard(within time.Duration) bool {
	then := time.Now().Round(0).Add(-within)
	c.connections.mu.Lock()
	defer c.connections.mu.Unlock()
	for conn := range c.connections.open {
		if !conn.silentSince(then) {
			return true
		}
	}
	return false
}

// EndSilent closes the connections by which nothing came for so long: the server, or the way to it, may be gone
// without a word, as after the sleep of this machine. The next request opens another one. A caller calls it when an
// answer is overdue.
func (c *Client) EndSilent(silence time.Duration) {
	then := time.Now().Round(0).Add(-silence)
	c.connections.mu.Lock()
	var dead []*connection
	for conn := range c.connections.open {
		if conn.silentSince(then) {
			dead = append(dead, conn)
		}
	}
	c.connections.mu.Unlock()
	for _, conn := range dead {
		conn.Close()
	}
}
