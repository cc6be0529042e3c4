package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/creachadair/jrpc2/channel"
)

// read handles messages until the connection ends.
func (p *Peer) read() {
	var err error
	for err == nil {
		err = p.next()
	}
	p.out.close()
	if p.replied {
		p.conn.linger() // the other side may write before it reads
	}
	if p.judged || errors.Is(err, channel.ErrClosed) {
		p.writing.Wait() // for the last reply, or why writing failed; a write has a timeout
	}
	p.err = p.reason(err)
	close(p.done)
	p.conn.Close()
}

// reason returns why the connection has ended: reading ends with ErrClosed when writing has
// failed.
func (p *Peer) reason(err error) error {
	p.calls.mu.Lock()
	defer p.calls.mu.Unlock()
	switch {
	case !errors.Is(err, channel.ErrClosed):
		return err
	case p.out.overflowed():
		return fmt.Errorf("%w: more than %d answers or %d bytes of them wait", ErrSendTimeout, maxAnswers, maxAnswerBytes)
	case p.calls.lost != nil:
		return p.calls.lost
	}
	return err
}

// fail keeps the reason why writing failed. Only a timeout ends the connection, since a process that has
// closed its stdin may still send messages.
func (p *Peer) fail(err error) {
	p.calls.mu.Lock()
	defer p.calls.mu.Unlock()
	if p.calls.lost == nil {
		p.calls.lost = err
	}
}

// next handles one message. An error is final.
func (p *Peer) next() error {
	body, err := p.conn.Recv()
	if errors.Is(err, ErrMalformed) {
		return p.bad(nil, nil, err)
	}
	if err != nil {
		return err
	}
	p.o.Trace(false, body)
	m, err := ParseMessage(body, p.conn.limits.Depth)
	if err != nil {
		return p.bad(body, nil, p.conn.Miscounted(body, err))
	}
	idle := p.calls.received()
	switch {
	case p.o.Request == nil && idle > p.conn.limits.Idle:
		return fmt.Errorf("%w: more than %d messages without a request", ErrMalformed, p.conn.limits.Idle)
	case p.o.Request != nil && m.Kind == Request && isNull(m.ID):
		m.Kind, m.Why = Invalid, "the id of a request is null"
		return p.invalid(body, &m)
	case m.Kind == Request:
		p.asked(&Incoming{ID: m.ID, Method: m.Method, Params: m.Params, peer: p})
	case m.Kind == Notification:
		if p.o.Notify != nil {
			p.o.Notify(m.Method, m.Params)
		}
	case m.Kind == Response:
		if !p.calls.respond(&m) {
			p.o.Odd(fmt.Sprintf("a response with the id %.*s, which has no request", preview, m.ID))
		}
	default:
		return p.invalid(body, &m)
	}
	return nil
}

func (p *Peer) asked(in *Incoming) {
	if p.o.Request == nil {
		p.o.Odd(fmt.Sprintf("a request %.*q: a plugin can only answer and notify", preview, in.Method))
		_ = in.Refuse(&RPCError{Code: CodeMethodNotFound, Message: "bento answers no requests"})
		return
	}
	p.o.Request(in)
}

// invalid fails the request that m seems to answer, or reports m.
func (p *Peer) invalid(body []byte, m *Message) error {
	if id, ok := m.Number(); ok && m.Method == "" && p.calls.settle(id, badAnswer("%s", m.Why)) {
		return nil
	}
	return p.bad(body, m, errors.New(m.Why))
}

// bad asks how to handle bytes that are no message, and does so.
func (p *Peer) bad(body []byte, m *Message, err error) error {
	reply, end := (*RPCError)(nil), m == nil
	switch {
	case p.o.Bad != nil:
		reply, end = p.o.Bad(body, m, err)
	case m != nil && m.Method != "" && m.ID != nil:
		reply = &RPCError{Code: codeInvalidRequest, Message: m.Why}
	}
	if m != nil && !end {
		p.o.Odd("an ignored message: " + m.Why)
	}
	if reply != nil {
		p.refuse(m, reply)
	}
	if !end && body != nil {
		return nil
	}
	p.judged, p.replied = p.o.Bad != nil, reply != nil
	return err
}

// refuse replies to a message that could not be taken, with its id if that is one.
func (p *Peer) refuse(m *Message, reply *RPCError) {
	id := json.RawMessage("null")
	if m != nil && len(m.ID) > 0 && len(m.ID) <= maxID && (m.ID[0] == '"' || m.ID[0] == '-' || '0' <= m.ID[0] && m.ID[0] <= '9') {
		id = m.ID
	}
	if answer, err := encodeAnswer(id, "error", reply); err == nil {
		_ = p.answer(answer)
	}
}
