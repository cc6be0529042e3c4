package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bentobuild/bento/plugin/wire"
)

// send sends a body as one message.
func (t *talk) send(body []byte) error {
	t.trace(true, body)
	return t.put(frame(plainHeader, body), nil)
}

// write writes raw bytes.
func (t *talk) write(data []byte) error {
	t.trace(true, data)
	return t.put(data, nil)
}

const plainHeader = "Content-Length: %d\r\n\r\n"

// frame puts a header in front of a body.
func frame(header string, body []byte) []byte {
	return append(fmt.Appendf(nil, header, len(body)), body...)
}

func encoded(message any) []byte {
	body, err := json.Marshal(message)
	if err != nil {
		panic(err) // it is ours
	}
	return body
}

// request returns a request with the next id, and with more members if more is set.
func (t *talk) request(method string, params any, more map[string]any) []byte {
	t.mu.Lock()
	t.last++
	t.mu.Unlock()
	t.expect(t.id(), method)
	m := map[string]any{"jsonrpc": "2.0", "id": t.last, "method": method}
	if params != nil {
		m["params"] = params
	}
	for name, value := range more {
		m[name] = value
	}
	return encoded(m)
}

// ask makes a request and returns the response.
func (t *talk) ask(ctx context.Context, method string, params any) (wire.Message, error) {
	return t.exchange(ctx, t.request(method, params, nil), t.send)
}

// exchange writes the last request and returns its response.
func (t *talk) exchange(ctx context.Context, data []byte, write func([]byte) error) (wire.Message, error) {
	r, err := t.exchanged(ctx, data, write)
	return r.m, err
}

// exchanged is exchange, with what came before the response.
func (t *talk) exchanged(ctx context.Context, data []byte, write func([]byte) error) (received, error) {
	if err := write(data); err != nil {
		return received{}, t.deaf(ctx, t.asked[t.id()], err)
	}
	return t.await(ctx, t.id(), t.Within)
}

// result makes a request and returns the result. Any other response is an error.
func (t *talk) result(ctx context.Context, method string, params any) (json.RawMessage, error) {
	m, err := t.ask(ctx, method, params)
	return resultOf(method, &m, err)
}

func resultOf(method string, m *wire.Message, err error) (json.RawMessage, error) {
	if err == nil && m.Error != nil {
		err = fmt.Errorf("%s: %w", method, m.Error)
	}
	return m.Result, err
}

// notify sends a notification.
func (t *talk) notify(ctx context.Context, method string, params any) error {
	err := t.send(encoded(map[string]any{"jsonrpc": "2.0", "method": method, "params": params}))
	if err != nil {
		return t.deaf(ctx, method, err)
	}
	return nil
}

// reply queues the answer to a request of the plugin: a result, or an error.
func (t *talk) reply(m *wire.Message, result any, refusal *wire.RPCError) {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}
	if refusal != nil {
		delete(answer, "result")
		answer["error"] = refusal
	}
	select {
	case t.answers <- encoded(answer):
	default: // it asks and asks, and reads no answer
		t.hangUp()
	}
}

// await waits for the answer to the request with this id.
func (t *talk) await(ctx context.Context, id string, within time.Duration) (received, error) {
	var r received
	var ok bool
	method := t.asked[id]
	err := t.until(ctx, within, func() bool {
		r, ok = t.came[id]
		return ok
	})
	switch {
	case errors.Is(err, errLate):
		err = fmt.Errorf("timed out after %v: no answer to %s%s", within, method, t.unfinished())
	case ctx.Err() != nil:
	case err != nil:
		err = fmt.Errorf("%s: %w", method, err)
	case r.err != nil:
		err = fmt.Errorf("%s: %w", method, r.err)
	}
	return r, err
}

// errLate is the error of until after its timeout.
var errLate = errors.New("timed out")

// until waits for messages until they suffice, or no more comes.
func (t *talk) until(ctx context.Context, within time.Duration, enough func() bool) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		t.mu.Lock()
		ok, gone := enough(), t.gone
		t.mu.Unlock()
		switch {
		case ok:
			return nil
		case gone != nil:
			return t.ended(gone)
		}
		select {
		case <-t.news:
		case <-timer.C:
			return errLate
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rest reads messages until the stream ends.
func (t *talk) rest(ctx context.Context) error {
	return t.until(ctx, t.Within, func() bool { return false })
}

// deaf returns the error of a message that could not be written, which the last message of the plugin
// explains best.
func (t *talk) deaf(ctx context.Context, method string, err error) error {
	if last := t.rest(ctx); !errors.Is(last, errLate) {
		return fmt.Errorf("%s: %w", method, last)
	}
	return fmt.Errorf("%s cannot be sent: %w", method, err)
}
