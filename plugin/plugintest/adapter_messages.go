package plugintest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/wire"
)

// ping is a request that every plugin can answer, with any answer.
func (s *suite) ping(ctx context.Context, t *talk) outcome {
	return asks(wire.MethodDetect, wire.Dir{Dir: s.empty})(ctx, t)
}

// again sends another question after a request: a second response to the request would arrive before its
// answer. It ignores errors that other axes report.
func (s *suite) again(ctx context.Context, t *talk) outcome {
	_ = s.ping(ctx, t)
	return pass()
}

// detect returns ping as a message that is still to be written.
func (s *suite) detect(t *talk) []byte {
	return t.request(wire.MethodDetect, wire.Dir{Dir: s.empty}, nil)
}

func (s *suite) inPieces(ctx context.Context, t *talk) outcome {
	_, err := t.exchange(ctx, frame(plainHeader, s.detect(t)), func(data []byte) error {
		t.trace(true, data)
		return t.put(data, t.pieces(ctx, 7))
	})
	return without(err)
}

// framed sends ping in a frame with another header.
func (s *suite) framed(header string) step {
	return func(ctx context.Context, t *talk) outcome {
		if _, err := t.exchange(ctx, frame(header, s.detect(t)), t.write); err != nil {
			return fail("%v, after a header %q", err, fmt.Sprintf(header, 1))
		}
		return pass()
	}
}

// atOnce sends ping several times in one write.
func (s *suite) atOnce(n int) step {
	return func(ctx context.Context, t *talk) outcome {
		var all []byte
		var ids []string
		for range n {
			all = append(all, frame(plainHeader, s.detect(t))...)
			ids = append(ids, t.id())
		}
		if err := t.write(all); err != nil {
			return without(t.deaf(ctx, wire.MethodDetect, err))
		}
		for _, id := range ids {
			if _, err := t.await(ctx, id, t.Within); err != nil {
				return without(err)
			}
		}
		return pass()
	}
}

// cancelsNothing cancels a request that never was.
func (s *suite) cancelsNothing(ctx context.Context, t *talk) outcome {
	const none = 1 << 40
	t.expect(strconv.Itoa(none), wire.NotifyCancel)
	if o := do(notes(wire.NotifyCancel, wire.Cancel{ID: none}), s.ping)(ctx, t); o.status != Pass {
		return o
	}
	return when(!t.answered(wire.NotifyCancel), "the notification %s was answered", wire.NotifyCancel)
}

func (s *suite) unknownMembers(ctx context.Context, t *talk) outcome {
	params := map[string]any{"dir": s.empty, "bento_future": map[string]any{"a": []int{1}}}
	m, err := t.exchange(ctx, t.request(wire.MethodDetect, params, map[string]any{"trace": "x"}), t.send)
	if err == nil && m.Error != nil {
		return fail("%v", m.Error)
	}
	return without(err)
}

func wrongParams(params any) step {
	return func(ctx context.Context, t *talk) outcome {
		m, err := t.ask(ctx, wire.MethodDetect, params)
		if err != nil {
			return fail("%v, asked with the params %s", err, encoded(params))
		}
		return when(m.Error != nil, "the result %.60s, asked with the params %s", m.Result, encoded(params))
	}
}

const responseToShutdown = "the response to shutdown"

func shutsDown(ctx context.Context, t *talk) outcome {
	_, err := t.result(ctx, wire.MethodShutdown, nil)
	return without(err)
}

func shutsDownWithNull(ctx context.Context, t *talk) outcome {
	result, err := t.result(ctx, wire.MethodShutdown, nil)
	if err != nil {
		return without(err)
	}
	t.exits(t.Exit)
	t.stream.End(true)
	_ = t.rest(ctx)
	return when(string(result) == "null", "%.60s", result)
}

// usableHooks finds hooks that bento drops, and hooks whose name looks like a misspelt name of a task. A
// hook for a task of dish.toml is valid.
func (s *suite) usableHooks(ctx context.Context, t *talk) outcome {
	if len(s.dropped) > 0 {
		return fail("%s", strings.Join(s.dropped, "; "))
	}
	var names []string
	for _, dir := range []string{s.empty, s.project} {
		tasks, _ := s.tasks(ctx, t, dir) // clause 9.1 has the error
		for _, task := range append(tasks, s.manifest.DefaultTasks...) {
			names = append(names, task.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, hook := range slices.Sorted(maps.Keys(s.manifest.DiagnosticHooks)) {
		if !slices.Contains(names, hook) && len(diagnostics.Nearest(hook, names)) > 0 {
			return fail("diagnostic_hooks.%q: the plugin has no such task; %s", hook, diagnostics.Suggest(hook, names))
		}
	}
	return pass()
}

// sameManifest compares the members that bento reads. Their order is free.
func (s *suite) sameManifest(ctx context.Context, t *talk) outcome {
	text, err := t.result(ctx, wire.MethodInitialize, hello())
	if err != nil {
		return without(err)
	}
	again, _, err := answer.ReadManifest(text, s.manifest.AdapterID)
	if err != nil {
		return without(err)
	}
	return when(bytes.Equal(encoded(again), encoded(s.manifest)), "a different one at the second start: %.200s", text)
}
