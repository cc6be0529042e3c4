package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/oneshot"
)

// oneshotAxis is the test of one clause of the one-shot contract.
type oneshotAxis struct {
	axis
	// run is the test, on a process that has just started; nil for an axis that is judged by
	// the lines of all processes.
	run func(context.Context, *talk) outcome
	// of is the test of the first handshake; no process is started for it.
	of func(*oneshotSuite) outcome
}

// oneshotAxes returns all axes in the order of their clauses.
func oneshotAxes() []oneshotAxis {
	must := func(clause, expected string, run func(context.Context, *talk) outcome) oneshotAxis {
		return oneshotAxis{axis: axis{clause: clause, level: Must, expected: expected}, run: run}
	}
	should := func(clause, expected string, run func(context.Context, *talk) outcome) oneshotAxis {
		return oneshotAxis{axis: axis{clause: clause, level: Should, expected: expected}, run: run}
	}
	first := func(clause, expected string, of func(*oneshotSuite) outcome) oneshotAxis {
		return oneshotAxis{axis: axis{clause: clause, level: Must, expected: expected}, of: of, run: func(_ context.Context, t *talk) outcome { return of(t.s) }}
	}
	return []oneshotAxis{
		must("O2.1", "standard output holds two lines, each one JSON object of at most 1 MiB, and nothing before or between", nil),
		should("O2.2", "nothing follows the response", nil),
		must("O2.3", "lines are UTF-8 without a byte order mark and NUL", nil),
		should("O2.4", "a line ends with LF alone, with no white space around its object", nil),
		must("O2.5", "a request of 1 MiB is answered", longRequest),
		must("O2.6", "lines that arrive in pieces are answered", pieces),
		first("O3.1", "the handshake is answered in time", answersHandshake),
		first("O3.2", "the answer has the type \"handshake\", and a manifest whose members have their types", shapedManifest),
		first("O3.3", "protocol_version is "+oneshot.Protocol, rightProtocol),
		first("O3.4", "plugin_id is that of the tool, plugin_version is not blank", rightIdentity),
		first("O3.5", "exposed_tools names the functions, at least one", rightFunctions),
		first("O3.6", "capabilities are granted ones, each once; at least one if any is granted", rightCapabilities),
		must("O3.7", "every start returns the same manifest", sameOneshotManifest),
		should("O3.8", "the manifest has no members that the contract lacks", nil),
		should("O3.9", "it does not claim to implement a version that it does not know", refusesVersion),
		must("O3.10", "unknown members are ignored", ignoresMembers),
		first("O4.1", "a request is answered in time by a line of the type \"response\"", answersRequest),
		must("O4.2", "the response has the request_id of the request", nil),
		must("O4.3", "the status is \"ok\" without an error, or \"error\" with one that has a message", nil),
		should("O4.4", "a function that the manifest lacks is answered with an error", unknownFunction),
		must("O4.5", "the input {} is answered, by an error or not", emptyInput),
		should("O4.6", "an input that is not an object is answered, by an error or not", otherInputs),
		must("O4.7", "a context without members is answered", emptyContext),
		should("O4.8", "an error has a code", nil),
		should("O4.9", "responses have no members that the contract lacks", nil),
		should("O4.10", "the same input has the same output", sameOutput),
		must("O5.1", "it exits by itself after its response, in time", exitsAfterResponse),
		must("O5.2", "its exit status after a response \"ok\" is 0", exitsWith0),
		should("O5.3", "it exits in time with status 0 after an error, too", exitsAfterError),
		should("O5.4", "it exits if its standard input ends after the handshake", exitsAtEOFLater),
		should("O5.5", "it exits if its standard input ends before the handshake", exitsAtEOFFirst),
		must("O5.6", "it leaves no processes behind", leavesNothing),
	}
}

// refused reports whether bento would send no request.
func (s *oneshotSuite) refused() bool {
	for _, judge := range []func(*oneshotSuite) outcome{answersHandshake, shapedManifest, rightProtocol, rightIdentity, rightFunctions, rightCapabilities} {
		if judge(s).status != Pass {
			return true
		}
	}
	return false
}

// try runs one axis on a separate process.
func (s *oneshotSuite) try(ctx context.Context, a oneshotAxis) outcome {
	switch {
	case a.of != nil:
		return a.of(s)
	case s.refused():
		return skip(notAsked)
	case s.replied != nil && !slices.Contains([]string{"O3.7", "O3.9", "O5.4", "O5.5"}, a.clause): // which need no request
		return skip("its response is invalid, see above")
	}
	t, err := s.launch(ctx, a.clause)
	if err != nil {
		return without(err)
	}
	defer t.end()
	return a.run(ctx, t)
}

func answersHandshake(s *oneshotSuite) outcome { return without(s.greeted) }

// ofFirst judges the manifest, if it was readable.
func (s *oneshotSuite) ofFirst(ok bool, format string, args ...any) outcome {
	if s.text == nil || s.kind != "handshake" || s.shape != nil {
		return skip("there is no manifest that can be read")
	}
	return when(ok, format, args...)
}

func shapedManifest(s *oneshotSuite) outcome {
	switch {
	case s.text == nil:
		return skip("there is no answer")
	case s.shape != nil && s.kind == "handshake":
		return without(s.shape)
	}
	return when(s.kind == "handshake", "the type %.60q", s.kind)
}

func rightProtocol(s *oneshotSuite) outcome {
	return s.ofFirst(strings.TrimSpace(s.manifest.Protocol) == oneshot.Protocol, "%.60q", s.manifest.Protocol)
}

func rightIdentity(s *oneshotSuite) outcome {
	m, want := s.manifest, "of the tool"
	if s.o.ID != "" {
		want = strconv.Quote(s.o.ID)
	}
	if s.o.ID != "" && m.ID != s.o.ID || strings.TrimSpace(m.ID) == "" {
		return s.ofFirst(false, "plugin_id %.60q, want the id %s", m.ID, want)
	}
	return s.ofFirst(strings.TrimSpace(m.Version) != "", "plugin_version %q", m.Version)
}

func rightFunctions(s *oneshotSuite) outcome {
	list := s.manifest.Functions
	blank := func(name string) bool { return strings.TrimSpace(name) == "" }
	switch {
	case len(list) == 0:
		return s.ofFirst(false, "no exposed_tools")
	case slices.ContainsFunc(list, blank):
		return s.ofFirst(false, "a function without a name: %.200q", list)
	}
	return s.ofFirst(s.o.Function == "" || slices.Contains(list, s.o.Function), "%.200q, which lacks %q", list, s.o.Function)
}

func rightCapabilities(s *oneshotSuite) outcome {
	list := s.manifest.Capabilities
	for i, c := range list {
		switch {
		case c == "" || strings.TrimSpace(c) != c:
			return s.ofFirst(false, "the capability %.60q is empty, or begins or ends with white space", c)
		case slices.Contains(list[:i], c):
			return s.ofFirst(false, "the capability %.60q is declared twice", c)
		case s.o.Capabilities != nil && !slices.Contains(s.o.Capabilities, c):
			return s.ofFirst(false, "the capability %.60q is not granted; granted: %q", c, s.o.Capabilities)
		}
	}
	return s.ofFirst(len(list) > 0 || len(s.o.Capabilities) == 0, "no capabilities, granted: %q", s.o.Capabilities)
}

func answersRequest(s *oneshotSuite) outcome {
	if s.refused() {
		return skip(notAsked)
	}
	return without(s.replied)
}

// introduced makes the handshake and a request.
func (t *talk) introduced(ctx context.Context, q toolRequest) (*reply, error) {
	if _, err := t.hello(ctx, oneshot.Protocol, nil); err != nil {
		return nil, err
	}
	r, err := t.ask(ctx, q)
	if err == nil {
		t.leaves(ctx)
	}
	return r, err
}

// answered returns a pass if a request is answered, by an error or not.
func (t *talk) answered(ctx context.Context, change func(*toolRequest)) outcome {
	q := t.s.question()
	change(&q)
	_, err := t.introduced(ctx, q)
	return without(err)
}

func longRequest(ctx context.Context, t *talk) outcome {
	return t.answered(ctx, func(q *toolRequest) {
		q.input = map[string]any{"bento_padding": strings.Repeat("0123456789abcde\n", 1<<20/17)}
	})
}

// pieces writes a request a few bytes at a time. Pieces join in the pipe only if the tool is slow.
func pieces(ctx context.Context, t *talk) outcome {
	return t.answered(ctx, func(q *toolRequest) {
		q.write = func(text []byte) error {
			for len(text) > 0 {
				n := min(17, len(text))
				if _, err := t.stream.Stdin.Write(text[:n]); err != nil {
					return err
				}
				if text = text[n:]; len(text) > 0 {
					if err := pause(ctx, 5*time.Millisecond); err != nil {
						return err
					}
				}
			}
			return nil
		}
	})
}

func sameOneshotManifest(ctx context.Context, t *talk) outcome {
	text, err := t.hello(ctx, oneshot.Protocol, nil)
	if err != nil {
		return without(err)
	}
	again := oneshotSuite{}
	if err := again.read(text); err != nil {
		return without(err)
	}
	return when(bytes.Equal(encoded(again.manifest), encoded(t.s.manifest)), "a different one at another start: %.200s", text)
}

func refusesVersion(ctx context.Context, t *talk) outcome {
	const unknown = "rterm.plugin.v999"
	text, err := t.hello(ctx, unknown, nil)
	if err != nil {
		return pass() // it refuses by its end
	}
	other := oneshotSuite{}
	_ = other.read(text)
	return when(other.manifest.Protocol != unknown, "it claims %q, which does not exist", unknown)
}

func ignoresMembers(ctx context.Context, t *talk) outcome {
	more := map[string]any{"bento_future": map[string]any{"a": []int{1}}}
	if _, err := t.hello(ctx, oneshot.Protocol, more); err != nil {
		return without(err)
	}
	q := t.s.question()
	q.more = more
	_, err := t.ask(ctx, q)
	return without(err)
}

func unknownFunction(ctx context.Context, t *talk) outcome {
	q := t.s.question()
	q.function = "bento.unknown"
	r, err := t.introduced(ctx, q)
	if err != nil {
		return without(err)
	}
	return when(r.Status == "error", "the status %q and the output %.60s", r.Status, r.Output)
}

func emptyInput(ctx context.Context, t *talk) outcome {
	return t.answered(ctx, func(q *toolRequest) { q.input = map[string]any{} })
}

// otherInputs sends each input to a separate process.
func otherInputs(ctx context.Context, t *talk) outcome {
	for i, input := range []string{"null", "7", `"text"`, "[1]", "true"} {
		if i > 0 {
			next, err := t.s.launch(ctx, t.clause)
			if err != nil {
				return without(err)
			}
			defer next.end()
			t = next
		}
		if o := t.answered(ctx, func(q *toolRequest) { q.input = json.RawMessage(input) }); o.status != Pass {
			return fail("%s, with the input %s", o.got, input)
		}
	}
	return pass()
}

func emptyContext(ctx context.Context, t *talk) outcome {
	return t.answered(ctx, func(q *toolRequest) { q.context = map[string]any{} })
}

// sameOutput compares the outputs of two processes.
func sameOutput(ctx context.Context, t *talk) outcome {
	next, err := t.s.launch(ctx, t.clause)
	if err != nil {
		return without(err)
	}
	defer next.end()
	var outputs [2]any
	for i, t := range []*talk{t, next} {
		r, err := t.introduced(ctx, t.s.question())
		switch {
		case err != nil:
			return without(err)
		case r.Status != "ok":
			return skip(noInput(r))
		}
		_ = json.Unmarshal(r.Output, &outputs[i])
	}
	a, b := encoded(outputs[0]), encoded(outputs[1])
	return when(bytes.Equal(a, b), "%.100s, then %.100s", a, b)
}

// noInput describes an error as the answer to the input of the test.
func noInput(r *reply) string {
	return fmt.Sprintf("it answered with the error %.200q; test it with an input that it accepts", r.Err.Message)
}

// ofExit makes an exchange whose response is ok, and judges the exit.
func ofExit(ctx context.Context, t *talk, judge func(inTime bool) outcome) outcome {
	if _, err := t.hello(ctx, oneshot.Protocol, nil); err != nil {
		return without(err)
	}
	r, err := t.ask(ctx, t.s.question())
	switch {
	case err != nil:
		return without(err)
	case r.Status != "ok":
		return skip(noInput(r))
	}
	return judge(t.leaves(ctx))
}

func exitsAfterResponse(ctx context.Context, t *talk) outcome {
	return ofExit(ctx, t, func(inTime bool) outcome {
		return when(inTime, "it still runs %v after its response", t.s.o.Exit)
	})
}

func exitsWith0(ctx context.Context, t *talk) outcome {
	return ofExit(ctx, t, func(inTime bool) outcome {
		if !inTime {
			return skip("it does not exit by itself, see above")
		}
		return when(t.status() == "exit status 0", "%s", t.status())
	})
}

func exitsAfterError(ctx context.Context, t *talk) outcome {
	if _, err := t.hello(ctx, oneshot.Protocol, nil); err != nil {
		return without(err)
	}
	q := t.s.question()
	r, err := t.ask(ctx, q)
	if err == nil && r.Status == "ok" { // another process, and a call that a good tool refuses
		next, err := t.s.launch(ctx, t.clause)
		if err != nil {
			return without(err)
		}
		defer next.end()
		q.function, t = "bento.unknown", next
		if _, err := t.hello(ctx, oneshot.Protocol, nil); err != nil {
			return without(err)
		}
		if r, err = t.ask(ctx, q); err == nil && r.Status == "ok" {
			return skip("it answers an unknown function, too")
		}
	}
	if err != nil {
		return without(err)
	}
	if r == nil || r.Status != "error" {
		return skip("it answers with no error")
	}
	if !t.leaves(ctx) {
		return fail("it still runs %v after its error", t.s.o.Exit)
	}
	return when(t.status() == "exit status 0", "%s", t.status())
}

func exitsAtEOFLater(ctx context.Context, t *talk) outcome {
	if _, err := t.hello(ctx, oneshot.Protocol, nil); err != nil {
		return without(err)
	}
	t.stream.Stdin.Close()
	return when(t.exits(t.s.o.Exit), "it still runs %v after the end of its standard input", t.s.o.Exit)
}

func exitsAtEOFFirst(_ context.Context, t *talk) outcome {
	t.stream.Stdin.Close()
	return when(t.exits(t.s.o.Exit), "it still runs %v after the end of its standard input", t.s.o.Exit)
}

// leavesNothing looks for processes of the tool's group, and for a process that keeps its standard output
// open, after the exit of the tool. It ignores processes that end soon.
func leavesNothing(ctx context.Context, t *talk) outcome {
	return ofExit(ctx, t, func(inTime bool) outcome {
		if !inTime {
			return skip("it does not exit by itself, see above")
		}
		var held bool
		for until := time.Now().Add(min(t.s.o.Exit, time.Second)); ; {
			held = !t.over()
			members := group(t.stream.Pid)
			switch {
			case !held && len(members) == 0:
				return pass()
			case time.Now().Before(until):
				if err := pause(ctx, 10*time.Millisecond); err != nil {
					return without(err)
				}
			case len(members) > 0:
				return fail("processes run after its exit: %v", members)
			default:
				return fail("a process that it left behind holds its standard output")
			}
		}
	})
}

// over reports whether stdout has ended.
func (t *talk) over() bool {
	select {
	case _, ok := <-t.lines:
		return !ok
	default:
		return false
	}
}

// group returns the running processes of a group, where the system lists them in /proc.
func group(leader int) (members []int) {
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", name.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
		fields := strings.Fields(after)
		if len(fields) < 3 || fields[0] == "Z" || fields[2] != strconv.Itoa(leader) {
			continue
		}
		if pid != leader {
			members = append(members, pid)
		}
	}
	return members
}
