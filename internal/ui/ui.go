// Package ui serves the page of a workspace to browsers of this machine: the dishes, their tasks, and what runs do as
// they do it. It answers no request of other sites, and none about the workspace without the token of its address.
package ui

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/report/page"
	"github.com/bentobuild/bento/internal/state"
)

// Bounds of the server.
const (
	maxConnections = 64
	maxStreams     = 16               // pages that hear what happens
	maxHeader      = 16 << 10         // bytes
	patience       = 10 * time.Second // for one write to a browser
	farewell       = time.Second      // for requests that are being answered at the end
)

// Server serves one workspace.
type Server struct {
	State *state.Dir
	// Load evaluates the workspace. It is called by one goroutine.
	Load func(context.Context) (page.Data, error)
	// Log returns the end of the log of a task of the loaded data: of the last execution if executed is set, else of
	// the result in the cache if there is one. It is called concurrently.
	Log func(ctx context.Context, t Task, executed bool) (string, error)

	token string
	host  string // as in the address of the page
	hub   *hub
	slots chan struct{} // one for each stream
}

// Task is a task of the loaded data.
type Task struct {
	Dish, Name string
	Place      string // as in page.Task
	Key        string // in hexadecimal digits, "" if it is unknown
}

// Listen opens a port of the loopback interface, 0 for any free one, and returns the address of the page with a new
// token. The token comes after "#", so that no browser sends it to a server by itself.
func (s *Server) Listen(port int) (l net.Listener, address string, err error) {
	l, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, "", err
	}
	s.token, s.host = rand.Text()+rand.Text(), l.Addr().String()
	return l, "http://" + s.host + "/#" + s.token, nil
}

// Serve answers until ctx is done. It returns the cause, or the error of the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	s.hub, s.slots = newHub(s.State), make(chan struct{}, maxStreams)
	var helpers sync.WaitGroup
	helpers.Go(func() { s.hub.load(ctx, s.Load) })
	helpers.Go(func() { s.hub.follow(ctx) })
	server := &http.Server{
		Handler: s.guard(s.handler()), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: patience, IdleTimeout: 30 * time.Second, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 1)
	helpers.Go(func() { failed <- server.Serve(&limited{Listener: l, slots: make(chan struct{}, maxConnections)}) })
	var err error
	select {
	case <-ctx.Done():
		err = context.Cause(ctx)
	case err = <-failed:
	}
	stop()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if server.Shutdown(last) != nil {
		server.Close()
	}
	helpers.Wait()
	return err
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = page.WriteServed(w) // the browser is gone
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /data", s.data)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /log", s.log)
	mux.HandleFunc("POST /refresh", func(w http.ResponseWriter, _ *http.Request) {
		s.hub.refresh()
		w.WriteHeader(http.StatusAccepted)
	})
	return mux
}

// data answers with the evaluated workspace, in JSON.
func (s *Server) data(w http.ResponseWriter, _ *http.Request) {
	data := s.hub.loaded()
	if data == nil {
		http.Error(w, "the workspace is not evaluated yet", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // the browser is gone
}

// log answers with the end of the log of a task. Only tasks of the loaded data have one: no part of a path comes from
// the request.
func (s *Server) log(w http.ResponseWriter, r *http.Request) {
	t, executed, ok := s.hub.task(r.URL.Query().Get("task"))
	if !ok {
		http.Error(w, "there is no such task", http.StatusNotFound)
		return
	}
	text, err := s.Log(r.Context(), t, executed)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text)) // likewise
}

// limited is a listener with a bound on open connections.
type limited struct {
	net.Listener
	slots chan struct{}
}

// Accept waits for a free slot, then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &slotted{Conn: conn, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// slotted is a connection that frees its slot.
type slotted struct {
	net.Conn
	free func()
}

// Close closes the connection.
func (c *slotted) Close() error {
	defer c.free()
	return c.Conn.Close()
}

// encode returns a value of ours in JSON.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(errors.Join(errors.New("ui: a value has no JSON"), err))
	}
	return data
}
