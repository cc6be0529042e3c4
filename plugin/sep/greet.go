package sep

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// noted handles a notification. The contract has only sep.hello.
func (s *session) noted(methodName string, params json.RawMessage) {
	switch {
	case !s.authenticated:
		s.hello(methodName, params)
	case !s.initialized():
		s.count(fmt.Sprintf("a notification %.60q before sep.initialize was answered", methodName))
	default:
		s.spend()
	}
}

// hello judges the first message of a socket.
func (s *session) hello(methodName string, params json.RawMessage) {
	var p struct {
		Token string `json:"token"`
	}
	if methodName == "sep.hello" && wire.Decode(params, &p) == nil && subtle.ConstantTimeCompare([]byte(p.Token), []byte(s.token)) == 1 {
		s.authenticated = true
		close(s.greeted)
		return
	}
	s.stranger("the first message is not sep.hello with the value of SEP_TOKEN")
}

func (s *session) stranger(what string) {
	s.fail(adapters.HandshakeFailed, notAuthenticated, "%s", what)
}

// initialized reports whether the extension has answered sep.initialize well. The answer may have arrived
// just before the message that the reader handles.
func (s *session) initialized() bool {
	s.mu.Lock()
	q, ready := s.question, s.ready
	s.mu.Unlock()
	if ready || q == nil || !q.Settled() {
		return ready
	}
	<-s.tried // which waits for nothing any more
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// judge judges the answer to sep.initialize.
func (s *session) judge(a wire.Answer) {
	v, code, reason, err := s.x.accepts(a)
	s.mu.Lock()
	s.version, s.ready = v, err == nil
	s.mu.Unlock()
	if err != nil {
		s.fail(code, reason, "sep.initialize: %v", err)
	}
}

// accepts checks the answer to sep.initialize.
func (x *Extension) accepts(a wire.Answer) (v version, code adapters.Code, reason string, err error) {
	m := x.o.Manifest
	var r struct {
		ID      string `json:"extensionId"`
		Version string `json:"version"`
		API     string `json:"apiVersion"`
		Status  string `json:"status"`
	}
	var rpc *wire.RPCError
	switch {
	case errors.As(a.Err, &rpc) && reasonOf(rpc) == unsupported:
		return v, adapters.ProtocolVersionMismatch, unsupported, rpc
	case a.Err != nil:
		return v, adapters.HandshakeFailed, "initialize_failed", a.Err
	}
	if err := wire.Decode(a.Result, &r); err != nil {
		return v, adapters.MalformedResponse, "initialize_failed", err
	}
	switch {
	case r.ID != m.ID:
		return v, adapters.HandshakeFailed, "id_mismatch", fmt.Errorf("extensionId is %.140q, required %q of the manifest", r.ID, m.ID)
	case r.Version != m.Version:
		return v, adapters.HandshakeFailed, "version_mismatch", fmt.Errorf("version is %.60q, required %q of the manifest", r.Version, m.Version)
	}
	v, err = chosen(r.API, m.APIVersion, x.api)
	return v, adapters.ProtocolVersionMismatch, unsupported, err
}

// initializeParams is the params of sep.initialize.
type initializeParams struct {
	HostName    string   `json:"hostName"`
	HostVersion string   `json:"hostVersion"`
	APIVersion  string   `json:"apiVersion"`
	Supported   []string `json:"supportedApiVersions"`
	ExtensionID string   `json:"extensionId"`
	Permissions []string `json:"grantedPermissions"`
	Events      []string `json:"subscribedEvents"`
	Limits      any      `json:"limits"`
	Profile     string   `json:"platformProfile"`
}

// initialize waits for sep.hello on a socket, then calls sep.initialize. ctx ends at the startup timeout.
// The error is a *fault, or that of ctx if it was cancelled.
func (s *session) initialize(ctx context.Context, p *wire.Peer) error {
	defer close(s.tried)
	if s.token != "" {
		if err := s.await(ctx, p, s.greeted, "sep.hello"); err != nil {
			return err
		}
	}
	x := s.x
	s.mu.Lock() // the answer may come, and a request behind it, before Ask returns
	q, err := p.Ask("sep.initialize", initializeParams{
		HostName: "bento", HostVersion: x.o.Version, APIVersion: x.api, Supported: []string{x.api}, ExtensionID: x.o.Manifest.ID,
		Permissions: list(x.terms.Granted), Events: list(x.terms.Events), Limits: x.terms.Limits, Profile: "desktop",
	})
	s.question = q
	s.mu.Unlock()
	if err != nil {
		<-p.Done()
		return s.lost(p.Err())
	}
	defer q.Drop()
	return s.await(ctx, p, nil, "answer to sep.initialize")
}

// await waits for a good sep.hello or, with a nil channel, for a good answer to sep.initialize.
func (s *session) await(ctx context.Context, p *wire.Peer, greeted <-chan struct{}, name string) error {
	var answered <-chan wire.Answer
	if greeted == nil {
		answered = s.question.Answered()
	}
	select {
	case <-greeted:
		return nil
	case a := <-answered:
		s.judge(a)
	case <-s.failed:
	case <-p.Done():
		select {
		case a := <-answered: // it arrived before the end
			s.judge(a)
		default:
			return s.lost(p.Err())
		}
	case <-ctx.Done():
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return ctx.Err()
		}
		what := fmt.Sprintf("no %s within %v of its start", name, s.x.terms.Startup)
		if begun := p.Unfinished(); begun != "" {
			what += "; " + begun
		}
		s.fail(adapters.Timeout, "startup_timeout", "%s", what)
	}
	return s.reason()
}

// lost returns the fault of a connection that the extension has ended.
func (s *session) lost(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.fail(adapters.Crashed, "exited", "it ended in the middle of a message: %v", err)
	case errors.Is(err, wire.ErrSendTimeout):
		s.fail(adapters.Timeout, "unhealthy", "it does not read")
	default:
		s.fail(adapters.Crashed, "exited", "it closed the connection")
	}
	return s.reason()
}

// reason returns the fault, nil for none.
func (s *session) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		return nil
	}
	return s.fault
}
