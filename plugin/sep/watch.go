package sep

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// send sends events until life or the connection ends.
func (s *session) send(life context.Context, p *wire.Peer) {
	q := s.x.events
	for {
		e, ok := q.next()
		if !ok {
			select {
			case <-q.more:
				continue
			case <-life.Done():
				return
			case <-p.Done():
				return
			}
		}
		err := p.Notify("sep.event", e)
		q.wrote(e, err == nil)
		if err != nil {
			s.x.counts.change(func(c *Counters) { c.Dropped++ })
			if !errors.Is(err, wire.ErrTooLarge) {
				return
			}
		}
	}
}

// beat checks the health at every heartbeat. Too many misses in a row end the session.
func (s *session) beat(life context.Context, p *wire.Peer) {
	t := &s.x.terms
	ticks := time.NewTicker(t.Heartbeat)
	defer ticks.Stop()
	misses := 0
	for seq := uint64(1); ; seq++ {
		select {
		case <-ticks.C:
		case <-life.Done():
			return
		case <-p.Done():
			return
		case <-s.leaving:
			return
		}
		status, why := s.check(life, p, seq)
		if life.Err() != nil || closed(p.Done()) || closed(s.leaving) {
			return
		}
		s.x.healthy(status == "ok")
		if status == "ok" || status == "degraded" {
			misses = 0
			continue
		}
		misses++
		s.x.counts.change(func(c *Counters) { c.HealthMisses++ })
		if misses >= t.Misses {
			s.fail(adapters.Timeout, "unhealthy", "%d health checks in a row were missed, each after %v; the last one: %s", misses, t.Heartbeat, why)
			return
		}
	}
}

// check asks once. It returns the status, "" for no valid answer before the next check is due, and then
// why.
func (s *session) check(life context.Context, p *wire.Peer, seq uint64) (status, why string) {
	ctx, cancel := context.WithTimeout(life, s.x.terms.Heartbeat)
	defer cancel()
	raw, err := p.Call(ctx, "sep.health", map[string]uint64{"seq": seq})
	if errors.Is(err, context.DeadlineExceeded) {
		return "", "no answer"
	}
	if err != nil {
		return "", err.Error()
	}
	var r struct {
		Seq    json.Number `json:"seq"`
		Status string      `json:"status"`
		Detail string      `json:"detail"`
	}
	if err := shape.Decode(raw, shape.Record(shape.Must("seq", nil), shape.Must("status", shape.Text(64)), shape.May("detail", shape.Text(maxText))), &r); err != nil {
		return "", err.Error()
	}
	m := wire.Message{ID: json.RawMessage(r.Seq)}
	if n, ok := m.Number(); !ok || uint64(n) != seq {
		return "", "an answer with another seq"
	}
	switch r.Status {
	case "ok", "degraded":
		return r.Status, ""
	case "unhealthy":
		return r.Status, "unhealthy " + wire.Plain(r.Detail)
	}
	return "", "an unknown status"
}
