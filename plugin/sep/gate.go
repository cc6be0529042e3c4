package sep

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/jsontext"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// asked takes a request. The order of the checks is fixed: envelope, initialized, known method,
// version, permission, rate, concurrency, params, provider. A denied flood is audited as denied, and
// the params of a denied request are not looked at.
func (s *session) asked(life context.Context, in *wire.Incoming) {
	m, id, e := s.judgeRequest(in)
	if e != nil {
		s.x.counts.change(func(c *Counters) { c.FailedCalls++ })
		_ = in.Refuse(e) // a failed write ends the connection by itself
		return
	}
	s.work.Go(func() {
		ctx, cancel := context.WithTimeout(life, requestTimeout)
		defer cancel()
		result, e := m.run(ctx, s, in.Params)
		s.answered(id) // first: an extension that has the answer may use the id again
		s.answer(in, result, e)
	})
}

// judgeRequest returns the method of an accepted request and its id, or why it is refused.
func (s *session) judgeRequest(in *wire.Incoming) (m *method, id string, e *wire.RPCError) {
	if !s.authenticated {
		s.stranger("the first message is not sep.hello with the value of SEP_TOKEN")
		return nil, "", refuse(notAuthenticated, "required sep.hello with the value of SEP_TOKEN as the first message")
	}
	id, e = s.envelope(in)
	if e != nil {
		s.count(e.Message)
		return nil, "", e
	}
	if !s.initialized() {
		s.count("a request before sep.initialize was answered")
		return nil, "", refuse(notInitialized, "%.60q before sep.initialize was answered", in.Method)
	}
	m, e = s.known(in.Method)
	if e == nil {
		e = s.permitted(m)
	}
	if e == nil {
		e = s.admit(id)
	}
	return m, id, e
}

// envelope checks the parts of a request that JSON-RPC leaves open, and returns the id. Ids with the same
// value are equal in any notation.
func (s *session) envelope(in *wire.Incoming) (id string, e *wire.RPCError) {
	id, ok := canonical(in.ID)
	if !ok {
		in.ID = json.RawMessage("null")
		return "", refuse(invalidRequest, "the id of a request is not a string or an integer of 64 bits")
	}
	if err := shape.Unique(in.Params, maxDepth); in.Params != nil && err != nil {
		return "", refuse(invalidRequest, "params: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] {
		return "", refuse(invalidRequest, "a request with the id %.60s is not answered yet", in.ID)
	}
	return id, nil
}

// maxDepth is the nesting of values in a message.
const maxDepth = 64

// canonical returns one text for all ways to write an id: 1 and 1.0, "a" and "\u0061".
func canonical(raw json.RawMessage) (id string, ok bool) {
	if raw[0] == '"' {
		return `"` + string(jsontext.Unquote(raw)), true
	}
	m := wire.Message{ID: raw}
	n, ok := m.Number()
	return strconv.FormatInt(n, 10), ok
}

// known finds a method and checks its version. An extension may not call the methods that bento calls.
func (s *session) known(name string) (*method, *wire.RPCError) {
	if name == "sep.initialize" {
		return nil, refuse(initialized, "the extension is initialized")
	}
	i := slices.IndexFunc(s.x.methods, func(m method) bool { return m.name == name })
	if i < 0 || s.x.methods[i].since > s.version[1] {
		return nil, refuse(methodNotFound, "method not found: %.60q", strings.ToValidUTF8(name, "\uFFFD"))
	}
	return &s.x.methods[i], nil
}

// permitted decides by the permission, and writes the line of the audit.
func (s *session) permitted(m *method) *wire.RPCError {
	d := Decision{Time: time.Now().UTC(), Extension: s.x.o.Manifest.ID, Method: m.name, Permission: m.permission, Decision: "allow", Reason: "granted"}
	var e *wire.RPCError
	switch {
	case m.permission == "":
		d.Reason = "no_permission_needed"
	case !s.x.terms.Has(m.permission):
		d.Decision, d.Reason = "deny", s.x.terms.cause(m.permission)
		e = detail{Reason: permissionDenied, Permission: m.permission, Method: m.name, Cause: d.Reason}.with("%s requires the permission %s", m.name, m.permission)
		s.x.counts.change(func(c *Counters) { c.Denied++ })
	}
	s.x.o.Audit(d)
	return e
}

// admit checks the rate and the number of open requests, and opens one.
func (s *session) admit(id string) *wire.RPCError {
	if s.refusing.Load() {
		return refuse(shuttingDown, "the extension is being shut down")
	}
	limits := s.x.terms.Limits
	if wait := s.spend(); wait > 0 {
		ms := int64((wait + time.Millisecond - 1) / time.Millisecond)
		return detail{Reason: rateLimited, RetryAfterMs: ms}.with("more than %d requests a second", limits.MaxRequestsPerSecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= limits.MaxConcurrentRequests {
		return refuse(tooMany, "%d requests are not answered yet, which is the largest number", len(s.open))
	}
	s.open[id] = true
	return nil
}

// answered closes an accepted request, which is about to be answered.
func (s *session) answered(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// answer writes the result of an accepted request, or its error.
func (s *session) answer(in *wire.Incoming, result any, e *wire.RPCError) {
	if e == nil {
		err := in.Reply(result)
		if !errors.Is(err, wire.ErrTooLarge) {
			return
		}
		e = refuse(tooLarge, "the result has more than %d bytes", maxSent)
	}
	s.x.counts.change(func(c *Counters) { c.FailedCalls++ })
	_ = in.Refuse(e)
}

// agreed returns the version that both sides speak.
func (s *session) agreed() string {
	v := s.version
	return strconv.FormatUint(v[0], 10) + "." + strconv.FormatUint(v[1], 10) + "." + strconv.FormatUint(v[2], 10)
}
