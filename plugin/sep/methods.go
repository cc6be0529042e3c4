package sep

import (
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/bentobuild/bento/plugin/sep/manifest"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// method is a method that an extension can call.
type method struct {
	name       string
	permission string // "" for none
	since      uint64 // the minor version that introduced it
	run        func(ctx context.Context, s *session, params json.RawMessage) (any, *wire.RPCError)
}

// methods returns the methods of the host, in the order of the contract.
func methods() []method {
	return []method{
		{name: "host.get_capabilities", run: capabilities},
		{name: "host.messages.send", permission: manifest.MessagesSend, run: sendMessage},
		{name: "host.messages.list", permission: manifest.MessagesRead, run: listMessages},
		{name: "host.contacts.list", permission: manifest.ContactsRead, run: listContacts},
		{name: "host.ui.register_tool_panel", permission: manifest.RegisterTools, run: registerPanel},
		{name: "host.notifications.toast", permission: manifest.Notify, run: toast},
	}
}

// maxText is the size limit of a text in params, in bytes. The request has a separate limit.
const maxText = 4 << 20

// decode decodes params, which may be missing.
func decode(params json.RawMessage, sh *shape.Shape, into any) *wire.RPCError {
	if params == nil {
		params = json.RawMessage("{}")
	}
	err := shape.Decode(params, sh, into)
	if err == nil {
		return nil
	}
	path := ""
	var e *shape.Error
	if errors.As(err, &e) {
		path = e.Path
	}
	return wrong(path, "params: %v", err)
}

// Capabilities is the result of host.get_capabilities.
type capabilitiesResult struct {
	APIVersion  string          `json:"apiVersion"`
	Permissions []string        `json:"permissions"`
	Denied      []string        `json:"denied"`
	Methods     []string        `json:"methods"`
	Events      []string        `json:"events"`
	Limits      manifest.Limits `json:"limits"`
}

func capabilities(_ context.Context, s *session, params json.RawMessage) (any, *wire.RPCError) {
	var none struct{}
	if e := decode(params, shape.Record(), &none); e != nil {
		return nil, e
	}
	t := &s.x.terms
	r := capabilitiesResult{
		APIVersion: s.agreed(), Permissions: list(t.Granted), Denied: list(t.Denied), Methods: []string{}, Events: list(t.Events), Limits: t.Limits,
	}
	for _, m := range s.x.methods {
		if m.since <= s.version[1] && (m.permission == "" || t.Has(m.permission)) {
			r.Methods = append(r.Methods, m.name)
		}
	}
	return r, nil
}

// list returns l, or an empty list, since JSON writes nil as null.
func list(l []string) []string { return append([]string{}, l...) }

func sendMessage(ctx context.Context, s *session, params json.RawMessage) (any, *wire.RPCError) {
	var m Outgoing
	sh := shape.Record(shape.Must("destination", shape.Text(maxText)), shape.Must("content", shape.Text(maxText)), shape.May("fields", shape.Table(1<<16, nil)))
	if e := decode(params, sh, &m); e != nil {
		return nil, e
	}
	if m.Destination == "" {
		return nil, wrong("destination", "params: destination is empty, required a conversation")
	}
	return s.ask(ctx, func(p Provider) (any, error) { return p.Send(ctx, m) })
}

func listMessages(ctx context.Context, s *session, params json.RawMessage) (any, *wire.RPCError) {
	q := MessageQuery{Limit: 50}
	sh := shape.Record(shape.May("conversation", shape.Text(maxText)), shape.May("limit", shape.Int(1)), shape.May("before", shape.Text(1024)))
	if e := decode(params, sh, &q); e != nil {
		return nil, e
	}
	if q.Limit > 200 {
		return nil, wrong("limit", "params: limit is %d, required 1 to 200", q.Limit)
	}
	return s.ask(ctx, func(p Provider) (any, error) { return p.Messages(ctx, q) })
}

func listContacts(ctx context.Context, s *session, params json.RawMessage) (any, *wire.RPCError) {
	q := ContactQuery{Limit: 100}
	sh := shape.Record(shape.May("limit", shape.Int(1)), shape.May("after", shape.Text(1024)))
	if e := decode(params, sh, &q); e != nil {
		return nil, e
	}
	if q.Limit > 500 {
		return nil, wrong("limit", "params: limit is %d, required 1 to 500", q.Limit)
	}
	return s.ask(ctx, func(p Provider) (any, error) { return p.Contacts(ctx, q) })
}

// ask calls the provider.
func (s *session) ask(ctx context.Context, call func(Provider) (any, error)) (any, *wire.RPCError) {
	result, err := call(s.x.o.Provider)
	var cursor *CursorError
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &cursor):
		return nil, wrong(cursor.Member, "params: %v", cursor)
	case errors.Is(err, ErrUnavailable):
		return nil, refuse(unavailable, "%v", err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, refuse(timedOut, "the request took longer than %v", requestTimeout)
	case ctx.Err() != nil:
		return nil, refuse(shuttingDown, "the extension is being shut down")
	}
	return nil, refuse(internal, "bento could not answer")
}

func registerPanel(_ context.Context, s *session, params json.RawMessage) (any, *wire.RPCError) {
	var p manifest.Panel
	sh := shape.Record(
		shape.Must("id", shape.Text(1024)), shape.Must("title", shape.Text(1024)),
		shape.Must("slot", shape.Text(1024)), shape.May("action", shape.Text(1024)),
	)
	if e := decode(params, sh, &p); e != nil {
		return nil, e
	}
	if member, what := manifest.PanelProblem(p); member != "" {
		return nil, wrong(member, "params: %s: %s", member, what)
	}
	if !s.x.panels.add(p) {
		return nil, wrong("id", "params: id: %d panels are registered, which is the largest number", manifest.MaxPanels)
	}
	return map[string]string{"panelId": p.ID}, nil
}

// Toast is a short message to the user.
type Toast struct {
	Extension string `json:"extension"`
	Level     string `json:"level"` // "info", "success", "warning" or "error"
	Message   string `json:"message"`
	Duration  int    `json:"durationMs,omitempty"` // 0 for none
}

func toast(_ context.Context, s *session, params json.RawMessage) (any, *wire.RPCError) {
	t := Toast{}
	sh := shape.Record(shape.Must("level", shape.Text(64)), shape.Must("message", shape.Text(4096)), shape.May("durationMs", shape.Int(1000)))
	if e := decode(params, sh, &t); e != nil {
		return nil, e
	}
	n := utf8.RuneCountInString(t.Message)
	switch {
	case t.Level != "info" && t.Level != "success" && t.Level != "warning" && t.Level != "error":
		return nil, wrong("level", "params: level is %.40q, required info, success, warning or error", t.Level)
	case n < 1 || n > 500:
		return nil, wrong("message", "params: message has %d characters, required 1 to 500", n)
	case t.Duration > 30000:
		return nil, wrong("durationMs", "params: durationMs is %d, required 1000 to 30000", t.Duration)
	}
	t.Extension, t.Message = s.x.o.Manifest.ID, wire.Plain(t.Message)
	s.x.o.Toast(t)
	return struct{}{}, nil
}
