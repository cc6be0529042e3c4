package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/oneshot"
)

// toolRequest is a request to a one-shot tool.
type toolRequest struct {
	function string
	input    any
	context  map[string]any
	more     map[string]any     // further members
	write    func([]byte) error // nil: at once
}

// question is the request of the options.
func (s *oneshotSuite) question() toolRequest {
	function := s.o.Function
	if function == "" && len(s.manifest.Functions) > 0 {
		function = s.manifest.Functions[0]
	}
	return toolRequest{function: function, input: s.o.Input, context: map[string]any{"repo_root": s.o.Dir}}
}

func (s *oneshotSuite) input(value any) toolRequest {
	q := s.question()
	q.input = value
	return q
}

func (s *oneshotSuite) emptyContext() toolRequest {
	q := s.question()
	q.context = map[string]any{}
	return q
}

// noFunction is a function that no tool has.
const noFunction = "bento.unknown"

func (s *oneshotSuite) unknownFunction() toolRequest {
	q := s.question()
	q.function = noFunction
	return q
}

// reply is a valid response.
type reply struct {
	Type   string          `json:"type"`
	ID     string          `json:"request_id"`
	Status string          `json:"status"`
	Output json.RawMessage `json:"output"`
	Err    *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// requestID is the id of every request: each has a separate process.
const requestID = "plugin_req_00000000bento000"

// hello makes the handshake and returns the answer unchecked.
func (s *oneshotSuite) hello(ctx context.Context, t *talk, version string, more map[string]any) ([]byte, error) {
	message := map[string]any{"type": "handshake", "protocol_version": version}
	maps.Copy(message, more)
	sent := t.sendLine(message, nil)
	text, err := t.line(ctx, s.o.Handshake, "the answer to the handshake")
	if err != nil {
		return nil, errors.Join(err, sent)
	}
	t.members("O3.8", text, "type", "manifest")
	var top struct{ Manifest json.RawMessage }
	if json.Unmarshal(text, &top) == nil {
		t.members("O3.8", top.Manifest, "plugin_id", "plugin_version", "protocol_version", "exposed_tools", "capabilities")
	}
	return text, nil
}

// call makes a request after the handshake and returns the response. It notes the faults of the response.
func (s *oneshotSuite) call(ctx context.Context, t *talk, q toolRequest) (*reply, error) {
	message := map[string]any{"type": "request", "request_id": requestID, "tool_name": q.function, "context": q.context, "input": q.input}
	maps.Copy(message, q.more)
	sent := t.sendLine(message, q.write)
	text, err := t.line(ctx, t.Within, "the response")
	if err != nil {
		return nil, errors.Join(err, sent)
	}
	var r reply
	if err := plainly(json.Unmarshal(text, &r)); err != nil {
		t.note(clauseOf(err), "the response: %v", err)
		return nil, err
	}
	t.members("O4.9", text, "type", "request_id", "status", "output", "error", "metadata")
	return &r, t.check(&r)
}

// clauseOf returns the clause of a member of the wrong type.
func clauseOf(err error) string {
	switch {
	case strings.HasPrefix(err.Error(), `"request_id"`):
		return "O4.2"
	case strings.HasPrefix(err.Error(), `"type"`):
		return "O4.1"
	}
	return "O4.3"
}

func (t *talk) check(r *reply) error {
	switch {
	case r.Type != "response":
		return fmt.Errorf("the type %.60q, want \"response\"", r.Type)
	case r.ID != requestID:
		return t.wrong("O4.2", "the request_id %.60q, want %q", r.ID, requestID)
	case r.Status != "ok" && r.Status != "error":
		return t.wrong("O4.3", "the status %.60q, want \"ok\" or \"error\"", r.Status)
	case r.Status == "ok" && r.Err != nil:
		return t.wrong("O4.3", "the status \"ok\" and an error")
	case r.Status == "error" && (r.Err == nil || strings.TrimSpace(r.Err.Message) == ""):
		return t.wrong("O4.3", "the status \"error\" and no error with a message")
	case r.Status == "error" && strings.TrimSpace(r.Err.Code) == "":
		t.note("O4.8", "an error without a code: %.100s", r.Err.Message)
	}
	return nil
}

// members notes the members of an object that are not of the contract.
func (t *talk) members(clause string, object []byte, known ...string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(known, name) {
			t.note(clause, "%q is no member of the contract, those are %s", name, strings.Join(known, ", "))
		}
	}
}

// introduced makes a request after the handshake, and waits for the exit.
func (s *oneshotSuite) introduced(ctx context.Context, t *talk, q toolRequest) (*reply, error) {
	r, err := s.call(ctx, t, q)
	if err == nil {
		t.leaves(ctx)
	}
	return r, err
}

func (s *oneshotSuite) shakes(ctx context.Context, t *talk) outcome {
	_, err := s.hello(ctx, t, oneshot.Protocol, nil)
	return without(err)
}

// whole makes the handshake and a request, and waits for the exit.
func (s *oneshotSuite) whole(ctx context.Context, t *talk, q toolRequest) (*reply, error) {
	if _, err := s.hello(ctx, t, oneshot.Protocol, nil); err != nil {
		return nil, err
	}
	return s.introduced(ctx, t, q)
}

// responds returns the step of a request that is answered, by an error or not.
func (s *oneshotSuite) responds(q toolRequest) step {
	return func(ctx context.Context, t *talk) outcome {
		_, err := s.whole(ctx, t, q)
		return without(err)
	}
}

func (s *oneshotSuite) respondsToPieces(ctx context.Context, t *talk) outcome {
	q := s.question()
	q.write = t.pieces(ctx, 17)
	return s.responds(q)(ctx, t)
}

// otherInputs sends each input to a separate process.
func (s *oneshotSuite) otherInputs(inputs ...string) test {
	return func(ctx context.Context, clause string) outcome {
		for _, input := range inputs {
			asks := s.called(described(s.responds(s.input(json.RawMessage(input))), ", with the input %s", input))
			if o := asks(ctx, clause); o.status != Pass {
				return o
			}
		}
		return pass()
	}
}

func (s *oneshotSuite) sameManifest(ctx context.Context, t *talk) outcome {
	text, err := s.hello(ctx, t, oneshot.Protocol, nil)
	if err != nil {
		return without(err)
	}
	again := oneshotSuite{}
	if err := again.read(text); err != nil {
		return without(err)
	}
	return when(bytes.Equal(encoded(again.manifest), encoded(s.manifest)), "a different one at another start: %.200s", text)
}

func (s *oneshotSuite) refusesVersion(ctx context.Context, t *talk) outcome {
	const unknown = "rterm.plugin.v999"
	text, err := s.hello(ctx, t, unknown, nil)
	if err != nil {
		return pass() // it refuses by its end
	}
	other := oneshotSuite{}
	_ = other.read(text)
	return when(other.manifest.Protocol != unknown, "it claims %q, which does not exist", unknown)
}

func (s *oneshotSuite) ignoresMembers(ctx context.Context, t *talk) outcome {
	q := s.question()
	q.more = map[string]any{"bento_future": map[string]any{"a": []int{1}}}
	_, err := s.hello(ctx, t, oneshot.Protocol, q.more)
	if err == nil {
		_, err = s.call(ctx, t, q)
	}
	return without(err)
}

func (s *oneshotSuite) refusesFunction(ctx context.Context, t *talk) outcome {
	r, err := s.whole(ctx, t, s.unknownFunction())
	if err != nil {
		return without(err)
	}
	return when(r.Status == "error", "the status %q and the output %.60s", r.Status, r.Output)
}

// sameOutput compares the outputs of two processes.
func (s *oneshotSuite) sameOutput(ctx context.Context, t *talk) outcome {
	next, err := s.launch(ctx, t.clause)
	if err != nil {
		return without(err)
	}
	defer next.end()
	var outputs [2]any
	for i, t := range []*talk{t, next} {
		r, err := s.whole(ctx, t, s.question())
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

// succeeds makes an exchange whose response is ok.
func (s *oneshotSuite) succeeds(ctx context.Context, t *talk) outcome {
	if o := s.shakes(ctx, t); o.status != Pass {
		return o
	}
	r, err := s.call(ctx, t, s.question())
	if err == nil && r.Status != "ok" {
		return skip(noInput(r))
	}
	return without(err)
}

func (s *oneshotSuite) leaves(ctx context.Context, t *talk) outcome {
	return when(t.leaves(ctx), "it still runs %v after its response", t.Exit)
}

// hasLeft is leaves where another axis reports the fault.
func (s *oneshotSuite) hasLeft(ctx context.Context, t *talk) outcome {
	if !t.leaves(ctx) {
		return skip("it does not exit by itself, see above")
	}
	return pass()
}

// exitsAfterError tries the request of the options, then one that a good tool refuses.
func (s *oneshotSuite) exitsAfterError(ctx context.Context, t *talk) outcome {
	for _, q := range []toolRequest{s.question(), s.unknownFunction()} {
		if q.function == noFunction {
			next, err := s.launch(ctx, t.clause)
			if err != nil {
				return without(err)
			}
			defer next.end()
			t = next
		}
		if o := s.shakes(ctx, t); o.status != Pass {
			return o
		}
		switch r, err := s.call(ctx, t, q); {
		case err != nil && q.function == noFunction: // another axis reports it
			return skip("it answers with no error")
		case err != nil:
			return without(err)
		case r.Status == "ok":
			continue
		case !t.leaves(ctx):
			return fail("it still runs %v after its error", t.Exit)
		}
		return exitsWith0(ctx, t)
	}
	return skip("it answers an unknown function, too")
}

// leavesNothing looks for processes of the tool's group, and for a process that keeps its standard output
// open, after the exit of the tool. It ignores processes that end soon.
func leavesNothing(ctx context.Context, t *talk) outcome {
	for until := time.Now().Add(min(t.Exit, time.Second)); ; {
		held, members := !t.over(), group(t.stream.Pid)
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
