// Package oneshot is the host's side of the one-shot tool contract rterm.plugin.v1: one process
// a call, which answers one handshake line and one request line, each of JSON, and exits.
//
// Nothing that a tool does hangs its caller, fills its memory or outlives the call, and nothing
// but a valid response with a clean exit is a success. docs/TOOL-PROTOCOL.md is the contract.
package oneshot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// Protocol is the version of the contract.
const Protocol = "rterm.plugin.v1"

// Options describe one tool.
type Options struct {
	ID   string   // the plugin_id that its manifest must have
	Argv []string // Argv[0] with a separator is a path, relative to Dir; else a name on bento's PATH
	Dir  string   // working directory; "": bento's own
	Env  []string // the whole environment
	// SHA256 is the digest of the executable, as of host.Command; "" for any.
	SHA256       string
	Protocol     string   // the requested version; "": Protocol
	Capabilities []string // that the manifest may declare; if not empty, it must declare some

	// The deadlines; zero and negative ones mean the default.
	Timeout   time.Duration // of the call, from the launch to the exit; 5 s
	Launch    time.Duration // of the start of the process; 2 s
	Handshake time.Duration // from the handshake's first byte to its answer; 2 s
	Teardown  time.Duration // from the response to the exit; 500 ms

	Sandbox  *host.Sandbox // confines it unless nil
	Launcher host.Launcher // replaces the process of Argv, Dir, Env, SHA256 and Sandbox

	// Trace receives each line that is sent or received, on several goroutines at once; it may
	// be nil.
	Trace func(sent bool, body []byte)
	// Audit receives the record of each call before it returns; it may be nil.
	Audit func(host.Audit)
}

// SpecError is the error of options or of a call that are invalid. Nothing was started.
type SpecError struct {
	ID      string // of the tool
	Problem string
}

func (e *SpecError) Error() string {
	if e.ID == "" {
		return "a one-shot tool: " + e.Problem
	}
	return fmt.Sprintf("tool %s: %s", e.ID, e.Problem)
}

// Tool is a one-shot tool. It is an adapters.Tool and safe for concurrent use.
type Tool struct{ o Options }

var _ adapters.Tool = (*Tool)(nil)

// Open checks the options. It starts nothing and reads no file. The error is a *SpecError.
func Open(o Options) (*Tool, error) {
	if problem := o.problem(); problem != "" {
		return nil, &SpecError{ID: o.ID, Problem: problem}
	}
	o.Protocol = cmp.Or(strings.TrimSpace(o.Protocol), Protocol)
	o.Timeout = orDefault(o.Timeout, 5*time.Second)
	o.Launch = orDefault(o.Launch, 2*time.Second)
	o.Handshake = orDefault(o.Handshake, 2*time.Second)
	o.Teardown = orDefault(o.Teardown, 500*time.Millisecond)
	return &Tool{o}, nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// problem returns the fault of the options, or "".
func (o *Options) problem() string {
	if strings.TrimSpace(o.ID) == "" {
		return "it has no id"
	}
	if o.Launcher == nil && (len(o.Argv) == 0 || strings.TrimSpace(o.Argv[0]) == "") {
		return "it has no command"
	}
	for i, c := range o.Capabilities {
		switch {
		case c == "" || strings.TrimSpace(c) != c:
			return fmt.Sprintf("the granted capability %q is empty, or begins or ends with white space", c)
		case slices.Contains(o.Capabilities[:i], c):
			return fmt.Sprintf("the capability %q is granted twice", c)
		}
	}
	return ""
}

// Result is a successful call.
type Result struct {
	Output   json.RawMessage // {} if the tool returned none or null
	Manifest Manifest
	Audit    host.Audit
}

// Call calls one function, as Invoke does.
func (t *Tool) Call(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
	result, err := t.Invoke(ctx, c)
	if err != nil {
		return adapters.ToolAnswer{}, err
	}
	return adapters.ToolAnswer{Output: string(result.Output)}, nil
}

// Invoke starts a process and calls one function. The error is a *SpecError if no process was started, an
// *adapters.ToolError if the tool answered with an error, an *adapters.Failure if the tool is at fault, or
// the error of ctx. All processes have ended when Invoke returns, unless the system does not end one
// within 2 s of SIGKILL.
func (t *Tool) Invoke(ctx context.Context, c adapters.ToolCall) (*Result, error) {
	if problem := problemOf(&c); problem != "" {
		return nil, &SpecError{ID: t.o.ID, Problem: problem}
	}
	r := newRun(t, c.Function, c.Log)
	output, err := r.call(ctx, &c)
	if err = r.finish(ctx, err); err != nil {
		return nil, err
	}
	return &Result{Output: output, Manifest: r.manifest, Audit: r.audit}, nil
}

func problemOf(c *adapters.ToolCall) string {
	switch {
	case strings.TrimSpace(c.Function) == "":
		return "the call names no function; a one-shot tool needs one"
	case len(c.Input) > 0 && (!json.Valid(c.Input) || !utf8.Valid(c.Input)):
		return fmt.Sprintf("the input for %s is not JSON: %.60q", c.Function, c.Input)
	}
	return ""
}

// Manifest starts a process for its handshake alone, and returns the manifest. The process gets no
// request: its standard input ends, and its exit status is ignored. The error is that of Invoke.
func (t *Tool) Manifest(ctx context.Context) (Manifest, error) {
	r := newRun(t, "", nil)
	if err := r.finish(ctx, r.introduce(ctx)); err != nil {
		return Manifest{}, err
	}
	return r.manifest, nil
}
