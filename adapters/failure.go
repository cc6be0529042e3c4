package adapters

import (
	"cmp"
	"fmt"
	"strings"
)

// Code is the reason why a plugin failed. The values are stable: messages and JSON contain
// them.
type Code string

// The codes of a failure (docs/PROTOCOL.md).
const (
	LaunchFailed            Code = "launch_failed"
	HandshakeFailed         Code = "handshake_failed"
	Timeout                 Code = "timeout"
	Crashed                 Code = "crashed"
	MalformedResponse       Code = "malformed_response"
	ProtocolVersionMismatch Code = "protocol_version_mismatch"
	AdapterIDMismatch       Code = "adapter_id_mismatch"
	CapabilityNotDeclared   Code = "capability_not_declared"
	CapabilityNotAllowed    Code = "capability_not_allowed"
	ToolNotExposed          Code = "tool_not_exposed"
	Quarantined             Code = "quarantined"
	RPCError                Code = "rpc_error"
	NotTrusted              Code = "not_trusted"
)

// IsCode reports whether the rule of a problem is the Code of a failure.
func IsCode(rule string) bool {
	switch Code(rule) {
	case LaunchFailed, HandshakeFailed, Timeout, Crashed, MalformedResponse, ProtocolVersionMismatch, AdapterIDMismatch,
		CapabilityNotDeclared, CapabilityNotAllowed, ToolNotExposed, Quarantined, RPCError, NotTrusted:
		return true
	}
	return false
}

// Failure is the error of an adapter that is itself at fault: a plugin that crashed, hung,
// or sent an invalid answer.
type Failure struct {
	Code    Code
	Adapter string // id
	Path    string // of the executable
	Call    string // method, "" before the first call
	Dir     string // of the dish of the call, "" for none
	Message string // what happened, what was expected
	Data    string // the data of an RPC error, as JSON
	Stderr  string // the last lines of its stderr
	Hint    string // what to do next
	Late    bool   // an earlier call ended the plugin; Message names it
	Tool    bool   // the plugin is a Tool, Adapter its id and Call the function
	Cause   error  // the error of the system behind it, nil for none
}

// Error returns the plugin or tool, the call, its directory and the message. The renderer of the
// failure adds Stderr and Hint.
func (f *Failure) Error() string {
	var b strings.Builder
	kind := "plugin"
	if f.Tool {
		kind = "tool"
	}
	fmt.Fprintf(&b, "%s %s", kind, f.Adapter)
	if f.Call != "" {
		fmt.Fprintf(&b, ": %s", f.Call)
	}
	if f.Dir != "" {
		fmt.Fprintf(&b, " of %q", f.Dir)
	}
	fmt.Fprintf(&b, ": %s (%s)", f.Message, f.Code)
	if f.Data != "" {
		fmt.Fprintf(&b, ": %s", f.Data)
	}
	return b.String()
}

// Unwrap returns Cause.
func (f *Failure) Unwrap() error { return f.Cause }

// RequireHint returns the hint of a warning about a failed plugin: how to make it an error.
func (f *Failure) RequireHint() string {
	return strings.TrimSpace(f.Hint + fmt.Sprintf("\nif the workspace needs it: [plugins] required = [%q]", f.Adapter))
}

// MissingTool is the error of an adapter whose tool is not installed.
type MissingTool struct {
	Tool string // name of the executable
	Hint string // how to install it
}

func (m *MissingTool) Error() string { return fmt.Sprintf("%s is not installed", m.Tool) }

// InstallError is the error of an install whose tool failed; the adapter itself works.
type InstallError struct {
	Command    string // "" when the adapter does not name it
	ExitStatus int
	Detail     string // the tool's own last lines
	Plugin     string // "plugin zig: error 2001", whose Detail was not shown yet; "" for a built-in, whose log holds it
}

func (e *InstallError) Error() string {
	msg := cmp.Or(e.Detail, "install failed")
	if e.Command != "" {
		msg = strings.TrimSuffix(fmt.Sprintf("%q exited with status %d\n%s", e.Command, e.ExitStatus, e.Detail), "\n")
	}
	if e.Plugin != "" {
		msg = e.Plugin + ": " + msg
	}
	return msg
}
