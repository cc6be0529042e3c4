package main

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// proxy is the way to a server on this machine, such as a slow one, or a server that is sick itself.
type proxy struct {
	listener net.Listener
	to       string        // the address of the server, "" for none
	trip     time.Duration // a round trip takes so long; one more passes before a new connection has its first byte
	rate     int           // bytes a second from the server, 0 for no limit
	cut      int64         // bytes from the server after which the connection is reset, 0 for never
	// serve answers in place of the server, nil for none.
	serve func(net.Conn)

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	group sync.WaitGroup
}

// listen opens the proxy at a free address of this machine.
func (p *proxy) listen() (address string, err error) {
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return "", err
	}
	p.conns = make(map[net.Conn]struct{})
	p.group.Go(func() {
		for {
			conn, err := p.listener.Accept()
			if err != nil {
				return
			}
			p.note(conn)
			p.group.Go(func() {
				defer conn.Close()
				if p.serve != nil {
					p.serve(conn)
				} else {
					p.join(conn)
				}
			})
		}
	})
	return p.listener.Addr().String(), nil
}

func (p *proxy) note(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = struct{}{}
}

// close ends all connections.
func (p *proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	for conn := range p.conns {
		conn.Close()
	}
	p.mu.Unlock()
	p.group.Wait()
}

// join connects a client with the server.
func (p *proxy) join(client net.Conn) {
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	p.note(server)
	var group sync.WaitGroup
	group.Go(func() { p.pump(server, client, p.trip, 0) })
	p.pump(client, server, 0, p.cut)
	group.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

// piece is some bytes, and when they arrive.
type piece struct {
	data []byte
	at   time.Time
}

// pump copies one direction: each byte arrives half a round trip later, the first ones after a further wait. After cut
// bytes, unless it is 0, it resets the connection.
func (p *proxy) pump(to, from net.Conn, wait time.Duration, cut int64) {
	way := make(chan piece, 4096)
	var group sync.WaitGroup
	defer group.Wait()
	defer close(way)
	group.Go(func() {
		defer drain(way)
		for next := range way {
			time.Sleep(time.Until(next.at))
			if _, err := to.Write(next.data); err != nil {
				from.Close()
				return
			}
		}
		if half, ok := to.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	})
	opened, sent := time.Now().Add(wait), int64(0)
	size := 32 << 10
	if p.rate > 0 && wait == 0 {
		size = max(1, p.rate/10)
	}
	for {
		data := make([]byte, size)
		n, err := from.Read(data)
		sent += int64(n)
		if cut > 0 && sent > cut {
			_ = to.(*net.TCPConn).SetLinger(0)
			to.Close()
			from.Close()
			return
		}
		now := time.Now()
		if now.Before(opened) {
			now = opened
		}
		if n > 0 {
			way <- piece{data[:n], now.Add(p.trip / 2)}
		}
		if err != nil {
			return
		}
		if p.rate > 0 && wait == 0 {
			time.Sleep(time.Duration(n) * time.Second / time.Duration(p.rate))
		}
	}
}

func drain(way <-chan piece) {
	for range way {
	}
}

// sickness is what a sick server does with a connection.
type sickness struct {
	name  string
	serve func(net.Conn)
}

// sicknesses are the servers that answer nothing useful.
func sicknesses() []sickness {
	say := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			if _, err := c.Read(make([]byte, 4096)); err == nil {
				_, _ = io.WriteString(c, text)
			}
		}
	}
	return []sickness{
		{"silent", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
		{"closing", func(net.Conn) {}},
		{"resetting", func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }},
		{"500", say("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")},
		{"429", say("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")},
	}
}

// freeAddress returns an address of this machine at which nothing listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), errors.Join(l.Close())
}
