package ainb

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

const (
	renderWithin  = 2 * time.Second
	commandWithin = 30 * time.Second

	// maxRedraws is how many screens in a row may ask for the next one without an input.
	maxRedraws = 600
	// probe is how often such a screen is still drawn after that.
	probe = 5 * time.Second
)

// Command is one call of a command.
type Command struct {
	Namespace string
	Argv      []string      // without the namespace
	Within    time.Duration // its timeout; 0: 30 s
}

// Output is the result of a command. It is not safe to print before control characters are removed.
type Output struct {
	Stdout, Stderr []byte
	ExitCode       int32
}

// Frame is one drawn screen.
type Frame struct {
	Buffer       Buffer
	Redraw       bool // draw again soon, without an input
	CapturesText bool // keys are text for this screen
}

// Namespaces returns the namespaces of commands and the extension that has each: of two the first.
func (h *Host) Namespaces() map[string]string {
	all := make(map[string]string)
	for _, x := range h.list {
		for _, n := range x.e.Manifest.Provides.CLINamespaces {
			if all[n] == "" {
				all[n] = x.name
			}
		}
	}
	return all
}

// Wake starts an extension that is not running, and waits for its handshake. Its errors are those of
// Command.
func (h *Host) Wake(ctx context.Context, id string) error {
	x, err := h.find(id)
	if err == nil {
		_, err = x.resident.Wait(ctx)
	}
	return err
}

// Command runs a command of an extension, and starts the extension if necessary. The error is a
// *wire.RPCError that the extension answered, the error of ctx, or a *adapters.Failure.
func (h *Host) Command(ctx context.Context, id string, c Command) (*Output, error) {
	x, err := h.find(id)
	if err != nil {
		return nil, err
	}
	if c.Within == 0 {
		c.Within = commandWithin
	}
	if c.Argv == nil {
		c.Argv = []string{}
	}
	raw, err := x.resident.Call(ctx, host.Call{Method: "plugin/cli_dispatch", Within: c.Within, Params: map[string]any{"namespace": c.Namespace, "argv": c.Argv}})
	if err != nil {
		return nil, err
	}
	var p struct {
		Stdout   json.RawMessage `json:"stdout"`
		Stderr   json.RawMessage `json:"stderr"`
		ExitCode *int32          `json:"exit_code"`
	}
	if err := wire.Decode(raw, &p); err != nil {
		return nil, x.malformed("plugin/cli_dispatch", err.Error())
	}
	if p.ExitCode == nil || p.Stdout == nil || p.Stderr == nil {
		return nil, x.malformed("plugin/cli_dispatch", "required stdout, stderr and exit_code")
	}
	stdout, bad := bytesOf("stdout", p.Stdout)
	stderr, worse := bytesOf("stderr", p.Stderr)
	if bad != nil || worse != nil {
		return nil, x.malformed("plugin/cli_dispatch", "stdout and stderr: required base64 with padding")
	}
	return &Output{stdout, stderr, *p.ExitCode}, nil
}

// malformed returns the failure of a result that cannot be used.
func (x *extension) malformed(method, why string) error {
	return &adapters.Failure{
		Code: adapters.MalformedResponse, Adapter: x.name, Path: x.e.Executable, Call: method,
		Message: wire.Plain("the result: " + why), Hint: hint(adapters.RPCError),
	}
}

// Render draws the screen of an extension, and starts the extension if necessary. Its errors are those of
// Command.
func (h *Host) Render(ctx context.Context, id string, v Viewport) (*Frame, error) {
	x, err := h.find(id)
	if err != nil {
		return nil, err
	}
	x.drawn.Store(time.Now().UnixNano())
	raw, err := x.resident.Call(ctx, host.Call{Method: "plugin/render", Within: renderWithin, Params: renderParams{v, h.generation.Add(1)}})
	if err != nil {
		x.screen.failed(err)
		return nil, err
	}
	var p struct {
		Buffer       *Buffer `json:"buffer"`
		Redraw       bool    `json:"redraw"`
		CapturesText bool    `json:"captures_text"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, x.malformed("plugin/render", err.Error())
	}
	if p.Buffer == nil {
		return nil, x.malformed("plugin/render", "buffer is missing, required as an object")
	}
	return &Frame{*p.Buffer, x.screen.redraw(p.Redraw), p.CapturesText}, nil
}

// screen is the host's state of an extension's screen.
type screen struct {
	mu     sync.Mutex
	wedged bool
	row    int // screens in a row that asked for the next
	probed time.Time
}

func (s *screen) failed(err error) {
	var f *adapters.Failure
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wedged = errors.As(err, &f) && f.Code == adapters.Timeout
}

func (s *screen) isWedged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wedged
}

// redraw reports whether a screen that asks for the next one gets it.
func (s *screen) redraw(asks bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wedged = false
	if !asks {
		s.row = 0
		return false
	}
	if s.row++; s.row <= maxRedraws {
		return true
	}
	if time.Since(s.probed) >= probe {
		s.probed = time.Now()
		return true
	}
	return false
}

// reset forgets the drawn screens. An input calls it, too.
func (s *screen) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = 0
}

// Key passes on a key to the screen of an extension. It is dropped if the extension does not run.
func (h *Host) Key(id, screenID string, k Key) {
	if x, err := h.find(id); err == nil {
		x.screen.reset()
		if s := x.session(); s != nil {
			s.input.key(keyParams{screenID, k, h.generation.Add(1)})
		}
	}
}

// Mouse passes on the mouse as Key does keys.
func (h *Host) Mouse(id, screenID string, m Mouse) {
	if x, err := h.find(id); err == nil {
		x.screen.reset()
		if s := x.session(); s != nil {
			s.input.move(mouseParams{screenID, m, h.generation.Add(1)})
		}
	}
}

// Action passes on an action that the user chose to an extension, which starts for it. The payload
// is one JSON value, nil for null.
func (h *Host) Action(ctx context.Context, id, action string, payload json.RawMessage) error {
	x, err := h.find(id)
	if err != nil {
		return err
	}
	p, err := x.resident.Wait(ctx)
	if err != nil {
		return err
	}
	return p.Notify("plugin/handle_action", map[string]any{"action_id": action, "payload": payload})
}

// invoke answers host/action/invoke: the action is the namespace of an extension.
func (s *session) invoke(ctx context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	p, refused := params[struct {
		Action  *string         `json:"action"`
		Payload json.RawMessage `json:"payload"`
		Timeout json.RawMessage `json:"timeout_ms"`
	}](raw)
	if refused != nil {
		return nil, refused
	}
	action, refused := must("action", p.Action)
	if refused != nil {
		return nil, refused
	}
	payload, refused := bytesOf("payload", p.Payload)
	if refused != nil {
		return nil, refused
	}
	within, refused := milliseconds(p.Timeout)
	if refused != nil {
		return nil, refused
	}
	s.x.audit(method, "", "action "+action, true)
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	result, refused := s.act(ctx, action, payload)
	if ctx.Err() != nil && refused != nil && within > 0 {
		return nil, refusal(codeTimeout, "action timed out: %s", action)
	}
	if refused != nil {
		return nil, refused
	}
	return map[string]Bytes{"payload": some(result)}, nil
}

// forever is the timeout of an action without one. The action ends with the process of its caller.
const forever = 24 * time.Hour

// milliseconds reads a timeout; 0 means none.
func milliseconds(raw json.RawMessage) (time.Duration, *wire.RPCError) {
	if len(raw) == 0 {
		return 0, nil
	}
	ms, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		return 0, refusal(wire.CodeInvalidParams, "params.timeout_ms is %.40s, expected a whole number from 0", raw)
	}
	return time.Duration(min(ms, uint64(forever.Milliseconds()))) * time.Millisecond, nil
}

// act runs an action.
func (s *session) act(ctx context.Context, action string, payload []byte) ([]byte, *wire.RPCError) {
	for _, x := range s.x.h.list {
		if slices.Contains(x.e.Manifest.Provides.CLINamespaces, action) {
			return x.invoked(ctx, action, payload)
		}
	}
	return nil, refusal(wire.CodeMethodNotFound, "method not found: no action is named %.120s", action)
}

// invoked passes an action on to the extension that has it.
func (x *extension) invoked(ctx context.Context, action string, payload []byte) ([]byte, *wire.RPCError) {
	raw, err := x.resident.Call(ctx, host.Call{Method: "host/action/invoke", Within: forever, Params: invokeParams{Action: action, Payload: some(payload)}})
	var rpc *wire.RPCError
	switch {
	case errors.As(err, &rpc):
		return nil, rpc
	case err != nil:
		return nil, refusal(codeInternal, "the extension %s: %s", x.name, strings.TrimPrefix(err.Error(), "plugin "))
	}
	p, refused := params[struct {
		Payload json.RawMessage `json:"payload"`
	}](raw)
	if refused != nil {
		return nil, refusal(codeInternal, "the answer of the extension %s: %s", x.name, refused.Message)
	}
	result, refused := bytesOf("payload", p.Payload)
	if refused != nil {
		return nil, refusal(codeInternal, "the answer of the extension %s: %s", x.name, refused.Message)
	}
	return result, nil
}
