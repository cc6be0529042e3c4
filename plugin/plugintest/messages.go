package plugintest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/wire"
)

func frameAxes() []axis {
	return []axis{
		{clause: "2.1", level: Must, expected: "standard output holds frames of JSON and nothing else"},
		{clause: "2.2", level: Should, expected: "header lines end with CR LF"},
		{clause: "2.3", level: Must, expected: "a frame that arrives in pieces is answered", run: inPieces},
		{clause: "2.4", level: Should, expected: "two frames that arrive at once are both answered", run: twoAtOnce},
		{clause: "2.5", level: Should, expected: "LF, a header name in another case and unknown headers are accepted", run: otherHeader},
		{clause: "2.6", level: Must, expected: "Content-Length counts bytes, also of text beyond ASCII", run: countsBytes},
		{clause: "2.7", level: Must, expected: "1 MiB of params is answered", run: large},
	}
}

func messageAxes() []axis {
	return []axis{
		{clause: "3.1", level: Must, expected: "a response is a JSON-RPC 2.0 message with the id of its request"},
		{clause: "3.2", level: Must, expected: "a request gets one response"},
		{clause: "3.3", level: Must, expected: "an unknown method is answered with error -32601", run: unknownMethod},
		{clause: "3.4", level: Must, expected: "an unknown notification is ignored", run: unknownNotification},
		{clause: "3.5", level: Must, expected: "unknown members are ignored", run: unknownMembers},
		{clause: "3.6", level: Should, expected: "params of the wrong type are answered with an error, and it keeps running", run: wrongParams},
		{clause: "3.7", level: Must, expected: "it sends no requests"},
		{clause: "3.8", level: Should, expected: "it sends no notifications but valid notifications/log"},
	}
}

// ping sends a request that every plugin can answer, with any answer.
func (p *peer) ping(ctx context.Context) error {
	_, err := p.ask(ctx, wire.MethodDetect, wire.Dir{Dir: p.s.empty})
	return err
}

// framed sends ping in a frame that the caller makes.
func (p *peer) framed(ctx context.Context, header string, write func([]byte) error) error {
	body := p.request(wire.MethodDetect, wire.Dir{Dir: p.s.empty}, nil)
	if err := write(frame(header, body)); err != nil {
		return p.deaf(ctx, wire.MethodDetect, err)
	}
	_, err := p.await(ctx, wire.MethodDetect, p.id)
	return err
}

// inPieces writes a frame a few bytes at a time. Pieces join in the pipe only if the plugin
// is slow.
func inPieces(ctx context.Context, p *peer) outcome {
	return without(p.framed(ctx, plainHeader, func(data []byte) error {
		for len(data) > 0 {
			n := min(7, len(data))
			if err := p.write(data[:n]); err != nil {
				return err
			}
			data = data[n:]
			if err := pause(ctx, 5*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}))
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func twoAtOnce(ctx context.Context, p *peer) outcome {
	detect := func() []byte {
		return frame(plainHeader, p.request(wire.MethodDetect, wire.Dir{Dir: p.s.empty}, nil))
	}
	both := append(detect(), detect()...)
	if err := p.write(both); err != nil {
		return without(p.deaf(ctx, wire.MethodDetect, err))
	}
	_, err := p.await(ctx, wire.MethodDetect, p.id-1)
	if err == nil {
		_, err = p.await(ctx, wire.MethodDetect, p.id)
	}
	return without(err)
}

func otherHeader(ctx context.Context, p *peer) outcome {
	for _, header := range []string{"Content-Length: %d\n\n", "content-length:%d\r\n\r\n", "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"} {
		if err := p.framed(ctx, header, p.write); err != nil {
			return fail("%v, after a header %q", err, fmt.Sprintf(header, 1))
		}
	}
	return pass()
}

// countsBytes writes unescaped text beyond ASCII and then a request. A plugin that counts
// characters would miss the start of the request.
func countsBytes(ctx context.Context, p *peer) outcome {
	dir := p.s.empty + strings.Repeat("/弁当", 10)
	if _, err := p.ask(ctx, wire.MethodDetect, wire.Dir{Dir: dir}); err != nil {
		return without(err)
	}
	return without(p.ping(ctx))
}

func large(ctx context.Context, p *peer) outcome {
	params := map[string]any{"dir": p.s.empty, "padding": strings.Repeat("0123456789abcdef", 1<<16)}
	_, err := p.ask(ctx, wire.MethodDetect, params)
	return without(err)
}

func unknownMethod(ctx context.Context, p *peer) outcome {
	m, err := p.ask(ctx, "bento/unknown", nil)
	switch {
	case err != nil:
		return without(err)
	case m.Error == nil:
		return fail("the result %.60s", m.Result)
	case m.Error.Code != wire.CodeMethodNotFound:
		return fail("%v", m.Error)
	}
	return without(p.ping(ctx))
}

// noRequest is the id in a cancel of a request that never was.
const noRequest = 1 << 40

func unknownNotification(ctx context.Context, p *peer) outcome {
	for _, note := range []map[string]any{
		{"jsonrpc": "2.0", "method": "bento/unknown", "params": wire.Dir{Dir: p.s.empty}},
		{"jsonrpc": "2.0", "method": wire.NotifyCancel, "params": wire.Cancel{ID: noRequest}},
	} {
		if err := p.send(encoded(note)); err != nil {
			return without(p.deaf(ctx, "bento/unknown", err))
		}
	}
	if err := p.ping(ctx); err != nil {
		return without(err)
	}
	return without(p.notified)
}

func unknownMembers(ctx context.Context, p *peer) outcome {
	params := map[string]any{"dir": p.s.empty, "bento_future": map[string]any{"a": []int{1}}}
	body := p.request(wire.MethodDetect, params, map[string]any{"trace": "x"})
	if err := p.send(body); err != nil {
		return without(p.deaf(ctx, wire.MethodDetect, err))
	}
	m, err := p.await(ctx, wire.MethodDetect, p.id)
	if err == nil && m.Error != nil {
		return fail("%v", m.Error)
	}
	return without(err)
}

func wrongParams(ctx context.Context, p *peer) outcome {
	for _, params := range []any{map[string]any{"dir": 7}, map[string]any{}, []any{1}} {
		m, err := p.ask(ctx, wire.MethodDetect, params)
		switch {
		case err != nil:
			return fail("%v, asked with the params %s", err, bytes.TrimSpace(encoded(params)))
		case m.Error == nil:
			return fail("the result %.60s, asked with the params %s", m.Result, encoded(params))
		}
	}
	return without(p.ping(ctx))
}
