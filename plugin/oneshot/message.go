package oneshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// Manifest is the manifest that a tool sends in its handshake.
type Manifest struct {
	ID           string   `json:"plugin_id"`
	Version      string   `json:"plugin_version"`
	Protocol     string   `json:"protocol_version"`
	Functions    []string `json:"exposed_tools"`
	Capabilities []string `json:"capabilities,omitempty"`
}

// hello is the handshake line to the tool.
type hello struct {
	Type     string `json:"type"`
	Protocol string `json:"protocol_version"`
}

// request is the request line.
type request struct {
	Type     string          `json:"type"`
	ID       string          `json:"request_id"`
	Function string          `json:"tool_name"`
	Context  callContext     `json:"context"`
	Input    json.RawMessage `json:"input"`
}

// callContext is the context of a request. The contract has further members, which a build has
// no values for.
type callContext struct {
	Root string `json:"repo_root,omitempty"`
}

// encode returns a message as one line.
func encode(message any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(message); err != nil {
		panic(err) // it is ours, and its input was checked
	}
	return b.Bytes()
}

// fault is the error of an answer that breaks the contract.
type fault struct {
	code  adapters.Code
	claim string // the id of its manifest, once that is accepted; "" for that of the options
	what  string
	cause error
}

func (f *fault) Error() string { return f.what }

func faulty(code adapters.Code, format string, args ...any) *fault {
	return &fault{code: code, what: fmt.Sprintf(format, args...)}
}

func malformed(format string, args ...any) *fault {
	return faulty(adapters.MalformedResponse, format, args...)
}

// decode decodes a line into a struct of raw members. As in other hosts of the contract, unknown members
// are ignored, the last of two equal members is used, and names match in any case.
func decode(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	var typed *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typed):
		return fmt.Errorf("a JSON %s, want an object", typed.Value)
	}
	return fmt.Errorf("it is not one JSON object: %w", err)
}

// fields collects the errors of the members of one object.
type fields struct{ err *fault }

func (f *fields) wrong(name, want string, raw json.RawMessage) {
	if f.err == nil {
		f.err = malformed("%q is %.60s, want %s", name, raw, want)
	}
}

// absent reports whether a member is missing or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func (f *fields) text(name string, raw json.RawMessage) (text string) {
	if !absent(raw) && json.Unmarshal(raw, &text) != nil {
		f.wrong(name, "a string", raw)
	}
	return text
}

func (f *fields) texts(name string, raw json.RawMessage) (list []string) {
	var items []json.RawMessage
	if !absent(raw) && json.Unmarshal(raw, &items) != nil {
		f.wrong(name, "an array of strings", raw)
	}
	for _, item := range items {
		list = append(list, f.text(name, item))
	}
	return list
}

// readHandshake reads the answer to the handshake and checks it in the order of the contract.
// function is the one to be called, "" for any.
func (o *Options) readHandshake(text []byte, function string) (m Manifest, err *fault) {
	var top struct{ Type, Manifest json.RawMessage }
	if err := decode(text, &top); err != nil {
		return m, malformed("the answer to the handshake: %v", err)
	}
	var f fields
	kind := f.text("type", top.Type)
	var raw struct {
		ID           json.RawMessage `json:"plugin_id"`
		Version      json.RawMessage `json:"plugin_version"`
		Protocol     json.RawMessage `json:"protocol_version"`
		Functions    json.RawMessage `json:"exposed_tools"`
		Capabilities json.RawMessage `json:"capabilities"`
	}
	if !absent(top.Manifest) {
		if err := decode(top.Manifest, &raw); err != nil {
			return m, malformed("the manifest: %v", err)
		}
	}
	m = Manifest{
		ID: f.text("plugin_id", raw.ID), Version: f.text("plugin_version", raw.Version), Protocol: f.text("protocol_version", raw.Protocol),
		Functions: f.texts("exposed_tools", raw.Functions), Capabilities: f.texts("capabilities", raw.Capabilities),
	}
	if f.err != nil {
		f.err.what = "the answer to the handshake: " + f.err.what
		return m, f.err
	}
	if kind != "handshake" {
		return m, faulty(adapters.HandshakeFailed, "the answer to the handshake has the type %.60q, want \"handshake\"", kind)
	}
	if err = o.checkManifest(&m, function); err != nil && strings.TrimSpace(m.ID) != "" {
		err.claim = m.ID
	}
	return m, err
}

func (o *Options) checkManifest(m *Manifest, function string) *fault {
	refused := func(format string, args ...any) *fault { return faulty(adapters.HandshakeFailed, format, args...) }
	switch {
	case strings.TrimSpace(m.Protocol) != o.Protocol:
		return faulty(adapters.ProtocolVersionMismatch, "protocol_version %.60q, want %q", m.Protocol, o.Protocol)
	case strings.TrimSpace(m.ID) == "":
		return refused("its manifest has no plugin_id, want %q", o.ID)
	case strings.TrimSpace(m.Version) == "":
		return refused("its manifest has no plugin_version")
	case len(m.Functions) == 0:
		return refused("its manifest has no exposed_tools, want at least one")
	case m.ID != o.ID:
		return refused("plugin_id %.100q, want %q", m.ID, o.ID)
	case function != "" && !slices.Contains(m.Functions, function):
		return faulty(adapters.ToolNotExposed, "it has no function %q, only %s", function, listed(m.Functions))
	}
	return o.checkCapabilities(m.Capabilities)
}

// listed returns some names for a message.
func listed(names []string) string {
	const some = 10
	var quoted []string
	for _, name := range names[:min(some, len(names))] {
		quoted = append(quoted, fmt.Sprintf("%.60q", name))
	}
	if len(names) > some {
		quoted = append(quoted, fmt.Sprintf("%d more", len(names)-some))
	}
	return strings.Join(quoted, ", ")
}

func (o *Options) checkCapabilities(declared []string) *fault {
	if len(declared) == 0 && len(o.Capabilities) > 0 {
		return faulty(adapters.CapabilityNotDeclared, "it declares no capabilities, want some of %s, which are granted", listed(o.Capabilities))
	}
	seen := make(map[string]bool, len(declared))
	for _, c := range declared {
		switch {
		case c == "" || strings.TrimSpace(c) != c:
			return faulty(adapters.CapabilityNotDeclared, "it declares the capability %.60q, want one without white space around it", c)
		case seen[c]:
			return faulty(adapters.CapabilityNotDeclared, "it declares the capability %.60q twice", c)
		case !slices.Contains(o.Capabilities, c):
			return faulty(adapters.CapabilityNotAllowed, "it declares the capability %.60q, which is not granted; granted: %s", c, orNone(listed(o.Capabilities)))
		}
		seen[c] = true
	}
	return nil
}

func orNone(list string) string {
	if list == "" {
		return "none"
	}
	return list
}

// answer is a valid response.
type answer struct {
	output json.RawMessage
	err    *toolError // the tool's own error; nil for none
}

type toolError struct{ code, message string }

// readResponse reads the response to the request with this id.
func readResponse(text []byte, id string) (a answer, err *fault) {
	var top struct {
		Type   json.RawMessage
		ID     json.RawMessage `json:"request_id"`
		Status json.RawMessage
		Output json.RawMessage
		Error  json.RawMessage
	}
	if err := decode(text, &top); err != nil {
		return a, malformed("the response: %v", err)
	}
	var f fields
	kind, echoed, status := f.text("type", top.Type), f.text("request_id", top.ID), f.text("status", top.Status)
	var raw struct{ Code, Message json.RawMessage }
	if !absent(top.Error) {
		if err := decode(top.Error, &raw); err != nil {
			return a, malformed("the error of the response: %v", err)
		}
	}
	own := toolError{f.text("code", raw.Code), f.text("message", raw.Message)}
	switch {
	case f.err != nil:
		return a, malformed("the response: %s", f.err.what)
	case kind != "response":
		return a, malformed("the response has the type %.60q, want \"response\"", kind)
	case echoed != id:
		return a, malformed("the response has the request_id %.60q, the request had %q", echoed, id)
	case status == "ok" && !absent(top.Error):
		return a, malformed("the response has the status \"ok\" and an error: %.100s", top.Error)
	case status == "ok":
		if a.output = top.Output; absent(a.output) {
			a.output = json.RawMessage("{}")
		}
		return a, nil
	case status != "error":
		return a, malformed("the response has the status %.60q, want \"ok\" or \"error\"", status)
	case strings.TrimSpace(own.message) == "":
		return a, malformed("the response has the status \"error\" and no error with a message")
	}
	a.err = &toolError{wire.Plain(own.code), wire.Plain(own.message)}
	return a, nil
}
