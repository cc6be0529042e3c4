package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Versions that this package speaks.
const (
	abiVersion = 2
	apiVersion = "1.0.0"
)

// initialize answers the first message. Start is the first handler after it.
func (s *server) initialize(m *message) error {
	if s.ready {
		return &Error{Code: codeInitialized, Message: "already initialized"}
	}
	if m.in == nil {
		return &Error{Code: codeInvalidRequest, Message: m.method + " is a request"}
	}
	var p struct {
		ABI     *int            `json:"abi_version"`
		Granted []string        `json:"granted_capabilities"`
		Config  json.RawMessage `json:"config"`

		API         string   `json:"apiVersion"`
		Permissions []string `json:"grantedPermissions"`
	}
	if err := decode(m.params, &p); err != nil {
		return err
	}
	info := s.x.Info()
	session := &session{granted: p.Granted, config: p.Config}
	result := map[string]string{"name": info.Name, "version": info.Version}
	switch {
	case s.o.SEP && !strings.HasPrefix(p.API, "1."):
		return &Error{
			Code: codeVersion, Message: fmt.Sprintf("apiVersion: required 1.x, found %q", p.API),
			Data: json.RawMessage(`{"reason":"version_unsupported","supported":["` + apiVersion + `"]}`),
		}
	case s.o.SEP:
		session.granted = p.Permissions
		result = map[string]string{"extensionId": info.ID, "version": info.Version, "apiVersion": apiVersion}
	case p.ABI == nil || *p.ABI != abiVersion:
		return &Error{Code: codeManifest, Message: fmt.Sprintf("abi_version: required %d", abiVersion)}
	}
	s.client.session.Store(session)
	s.ready = true
	_ = m.in.Reply(result)          // before the requests of Start
	if x, ok := s.x.(Starter); ok { // in the queue before any event
		s.queue.add(item{handler: func(ctx context.Context, _ int) { s.start(ctx, x) }})
	}
	return nil
}

func (s *server) start(ctx context.Context, x Starter) {
	_, err := s.guard(ctx, 0, func(ctx context.Context, _ int) (any, error) { return nil, x.Start(ctx, s.client) })
	if err != nil {
		s.failed <- fmt.Errorf("start: %w", err)
	}
}

// health answers at once: a long handler is no reason for a restart.
func (s *server) health(m *message) error {
	var p struct {
		Seq *json.Number `json:"seq"`
	}
	if err := decode(m.params, &p); err != nil {
		return err
	}
	if p.Seq == nil {
		return &Error{Code: codeInvalidParams, Message: "params.seq: required a number, found none"}
	}
	if m.in != nil {
		_ = m.in.Reply(map[string]any{"seq": p.Seq, "status": "ok"})
	}
	return nil
}

// handler returns the handler of a method, name being without its prefix. It is nil for a
// notification that the extension has no method for.
func (s *server) handler(name string, m *message) (handlerFunc, error) {
	request := m.in != nil
	switch {
	case s.o.SEP && name == "event" && !request:
		return s.sepEvent(m.params)
	case !s.o.SEP && name == "handle_event" && !request:
		return s.ainbEvent(m.params)
	case !s.o.SEP && name == "render" && request:
		if x, ok := s.x.(Screen); ok {
			return s.render(x, m.params)
		}
	case !s.o.SEP && name == "cli_dispatch" && request:
		if x, ok := s.x.(Commander); ok {
			return s.command(x, m.params)
		}
	case !s.o.SEP && name == "handle_key" && !request:
		if x, ok := s.x.(Keyer); ok {
			return s.key(x, m.params)
		}
	case !s.o.SEP && name == "handle_mouse" && !request:
		if x, ok := s.x.(Mouser); ok {
			return s.mouse(x, m.params)
		}
	}
	if !request {
		return nil, nil
	}
	return nil, &Error{Code: codeNoMethod, Message: "method not found: " + m.method}
}

func (s *server) sepEvent(params json.RawMessage) (handlerFunc, error) {
	var p struct {
		Event   string          `json:"event"`
		Data    json.RawMessage `json:"data"`
		Dropped int             `json:"dropped"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	if x, ok := s.x.(Commander); ok && p.Event == "tool.invoked" {
		return s.invoked(x, p.Data)
	}
	return func(ctx context.Context, dropped int) (any, error) {
		return nil, s.x.Event(ctx, s.client, Event{p.Event, p.Data, p.Dropped + dropped})
	}, nil
}

// invoked calls the command of a panel. Its output is of the log.
func (s *server) invoked(x Commander, data json.RawMessage) (handlerFunc, error) {
	var p struct {
		Panel  string `json:"panelId"`
		Action string `json:"action"`
	}
	if err := decode(data, &p); err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ int) (any, error) {
		out, err := x.Command(ctx, s.client, Command{Namespace: p.Panel, Args: []string{p.Action}})
		fmt.Fprintf(s.o.Stderr, "%s%s", out.Stdout, out.Stderr)
		return nil, err
	}, nil
}

func (s *server) ainbEvent(params json.RawMessage) (handlerFunc, error) {
	var p struct {
		Topic   string `json:"topic"`
		Payload []byte `json:"payload"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	return func(ctx context.Context, dropped int) (any, error) {
		return nil, s.x.Event(ctx, s.client, Event{p.Topic, p.Payload, dropped})
	}, nil
}

func (s *server) render(x Screen, params json.RawMessage) (handlerFunc, error) {
	var p struct {
		Viewport struct{ Width, Height uint16 } `json:"viewport"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ int) (any, error) {
		b := &Buffer{Width: int(p.Viewport.Width), Height: int(p.Viewport.Height)}
		if err := x.Render(ctx, s.client, b); err != nil {
			return nil, err
		}
		return map[string]any{"buffer": b, "redraw": b.Redraw, "captures_text": b.CapturesText}, nil
	}, nil
}

func (s *server) command(x Commander, params json.RawMessage) (handlerFunc, error) {
	var p struct {
		Namespace string   `json:"namespace"`
		Args      []string `json:"argv"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ int) (any, error) {
		out, err := x.Command(ctx, s.client, Command(p))
		if err != nil {
			return nil, err
		}
		return map[string]any{"stdout": text(out.Stdout), "stderr": text(out.Stderr), "exit_code": out.ExitCode}, nil
	}, nil
}

func (s *server) key(x Keyer, params json.RawMessage) (handlerFunc, error) {
	var p struct {
		Screen string `json:"screen_id"`
		Key    Key    `json:"key"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	p.Key.Screen = p.Screen
	if p.Key.Kind == "" {
		p.Key.Kind = "press"
	}
	return func(ctx context.Context, _ int) (any, error) { return nil, x.Key(ctx, s.client, p.Key) }, nil
}

func (s *server) mouse(x Mouser, params json.RawMessage) (handlerFunc, error) {
	var p struct {
		Screen string `json:"screen_id"`
		Mouse  Mouse  `json:"mouse"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	p.Mouse.Screen = p.Screen
	return func(ctx context.Context, _ int) (any, error) { return nil, x.Mouse(ctx, s.client, p.Mouse) }, nil
}

// decode decodes params, which may be missing.
func decode(params json.RawMessage, into any) error {
	if len(params) == 0 {
		return nil
	}
	if err := json.Unmarshal(params, into); err != nil {
		return &Error{Code: codeInvalidParams, Message: "params: " + err.Error()}
	}
	return nil
}
