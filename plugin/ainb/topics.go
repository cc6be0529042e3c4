package ainb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

const (
	eventBus     = "event_bus"
	eventStreams = "event_stream_subscribe"
	// maxStreams is how many streams one extension may have.
	maxStreams = 64
)

// mayUse reports whether event_bus grants a topic.
func (x *extension) mayUse(topic string) bool {
	return x.granted[eventBus].HasTopic(topic) && !slices.Contains(x.e.Without, topic)
}

// topical are the params about a topic.
type topical struct {
	Topic   *string         `json:"topic"`
	Payload json.RawMessage `json:"payload"` // of a publish
}

// topicOf returns the topic of a request, if the capability grants it, and the payload.
func (s *session) topicOf(method, capability string, raw json.RawMessage) (topic string, payload json.RawMessage, refused *wire.RPCError) {
	g := s.x.granted[capability]
	if !g.Granted() {
		s.x.audit(method, capability, "not granted", false)
		return "", nil, denied(capability)
	}
	p, refused := params[topical](raw)
	if refused == nil {
		topic, refused = must("topic", p.Topic)
	}
	switch {
	case refused != nil:
		return "", nil, refused
	case !g.HasTopic(topic) || slices.Contains(s.x.e.Without, topic):
		s.x.audit(method, capability, fmt.Sprintf("no grant of the topic %.120q", topic), false)
		return "", nil, denied(capability)
	}
	s.x.audit(method, capability, "granted", true)
	return topic, p.Payload, nil
}

// get answers host/snapshot/get.
func (s *session) get(_ context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	topic, _, refused := s.topicOf(method, eventBus, raw)
	if refused != nil {
		return nil, refused
	}
	latest := s.x.h.bus.Latest(s.x.name, topic)
	found := struct {
		Payload *Bytes `json:"payload"`
		Version uint64 `json:"version"`
	}{Version: latest.Version}
	if latest.Version > 0 {
		payload := some(latest.Payload)
		found.Payload = &payload
	}
	return found, nil
}

// subscribe answers host/snapshot/subscribe.
func (s *session) subscribe(_ context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	topic, _, refused := s.topicOf(method, eventBus, raw)
	if refused != nil {
		return nil, refused
	}
	if err := s.x.h.bus.Subscribe(s.x.name, topic); err != nil {
		return nil, refusal(wire.CodeInvalidParams, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topics[topic] = true
	return struct{}{}, nil
}

// publish handles host/snapshot/publish. A refused one is dropped without an answer.
func (s *session) publish(raw json.RawMessage) {
	const method = "host/snapshot/publish"
	topic, text, refused := s.topicOf(method, eventBus, raw)
	if refused != nil && refused.Code == codeDenied {
		return
	}
	if refused == nil && text == nil {
		refused = refusal(wire.CodeInvalidParams, "params.payload is missing, required as base64")
	}
	payload, why := Bytes(nil), refused
	if why == nil {
		payload, why = bytesOf("payload", text)
	}
	switch {
	case why != nil:
		s.odd(method + ": " + why.Message)
		return
	case strings.HasPrefix(topic, manifest.Fleet) || s.x.h.own[topic]:
		s.x.audit(method, eventBus, fmt.Sprintf("only the host publishes the topic %.120q", topic), false)
		return
	}
	if _, err := s.x.h.bus.Publish(s.x.name, topic, payload); err != nil {
		s.x.audit(method, eventBus, err.Error(), false)
	}
}

// levels are those of host/log, the lowest first.
func levels() []string { return []string{"trace", "debug", "info", "warn", "error"} }

// logged handles host/log. Lines below the level of the host are left out.
func (s *session) logged(raw json.RawMessage) {
	p, refused := params[struct {
		Level   string          `json:"level"`
		Message *string         `json:"message"`
		Fields  json.RawMessage `json:"fields"`
	}](raw)
	least := max(0, slices.Index(levels(), s.x.h.o.Level))
	if s.x.h.o.Level == "" {
		least = slices.Index(levels(), "info")
	}
	level := slices.Index(levels(), p.Level)
	switch {
	case refused != nil:
		s.odd("host/log: " + refused.Message)
	case p.Message == nil || level < 0:
		s.odd(fmt.Sprintf("host/log with the level %.40q, required one of %s, and a message", p.Level, strings.Join(levels(), ", ")))
	case level >= least:
		s.x.h.log(Line{Extension: s.x.name, Level: p.Level, Message: wire.Plain(cut(*p.Message)), Fields: fields(p.Fields)})
	}
}

func cut(text string) string {
	if len(text) > maxLine {
		return strings.ToValidUTF8(text[:maxLine], "") + "…"
	}
	return text
}

// fields returns the fields of a line, unless they are too large for one.
func fields(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxLine || string(raw) == "null" {
		return nil
	}
	return raw
}

// openStream answers host/event_stream_subscribe.
func (s *session) openStream(_ context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	topic, _, refused := s.topicOf(method, eventStreams, raw)
	if refused != nil {
		return nil, refused
	}
	s.mu.Lock()
	many := len(s.streams) >= maxStreams
	s.mu.Unlock()
	if many {
		return nil, refusal(wire.CodeInvalidParams, "more than %d streams of events", maxStreams)
	}
	if err := s.x.h.bus.Subscribe(s.x.name, topic); err != nil {
		return nil, refusal(wire.CodeInvalidParams, "%v", err)
	}
	id := fmt.Sprintf("e%d", s.nextID())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[id] = topic
	return struct {
		ID      string `json:"stream_id"`
		Version uint64 `json:"version"`
	}{id, s.x.h.bus.Latest(s.x.name, topic).Version}, nil
}

// idOf returns the id of a stream in a notification.
func (s *session) idOf(raw json.RawMessage) string {
	p, refused := params[struct {
		ID string `json:"stream_id"`
	}](raw)
	if refused != nil {
		s.odd(refused.Message)
	}
	return p.ID
}

// closeStream handles host/event_stream_cancel.
func (s *session) closeStream(raw json.RawMessage) {
	id := s.idOf(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, id)
}

func (s *session) wants(topic string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics[topic] {
		return true
	}
	for _, t := range s.streams {
		if t == topic {
			return true
		}
	}
	return false
}
