package ainb

import (
	"encoding/json"
	"fmt"

	"github.com/bentobuild/bento/plugin/wire"
)

// The codes of errors. The last three are additions to the contract.
const (
	codeInvalidRequest = -32600
	codeInternal       = -32603
	codeDenied         = -32001
	codeTimeout        = -32002
	codeManifest       = -32003
	codeNoSecret       = -32004
)

// Key is a key that the user pressed. Kind is press, repeat or release.
type Key struct {
	Code KeyCode `json:"code"`
	Mods uint8   `json:"mods"` // bits: 1 shift, 2 control, 4 alt, 8 super
	Kind string  `json:"kind"`
}

// KeyCode names a key: by its type alone, as char with Ch, or as f with N.
type KeyCode struct {
	Type string `json:"type"`
	Ch   string `json:"ch,omitempty"` // one character
	N    uint8  `json:"n,omitempty"`  // from 1
}

// Mouse is a movement, a click or a turn of the wheel.
type Mouse struct {
	Kind MouseKind `json:"kind"`
	Col  uint16    `json:"col"`
	Row  uint16    `json:"row"`
	Mods uint8     `json:"mods"`
}

// MouseKind is the action of the mouse: down, up and drag with a button, which is left, right or middle,
// else moved, scroll_up, scroll_down, scroll_left or scroll_right.
type MouseKind struct {
	Type   string  `json:"type"`
	Button *Button `json:"button,omitempty"`
}

// Button is a button of the mouse.
type Button struct {
	Type string `json:"type"`
}

// initParams are the params of plugin/init.
type initParams struct {
	ManifestPath string          `json:"manifest_path"`
	Granted      []string        `json:"granted_capabilities"`
	ABI          int             `json:"abi_version"`
	Config       json.RawMessage `json:"config"`
	Host         hostInfo        `json:"host"`
}

type hostInfo struct {
	Kind string `json:"kind"`
	PID  int    `json:"pid"`
}

type eventParams struct {
	Topic   string `json:"topic"`
	Payload []byte `json:"payload"` // not nil; with the type Bytes it would be checked again
}

type keyParams struct {
	Screen     string `json:"screen_id"`
	Key        Key    `json:"key"`
	Generation uint64 `json:"generation"`
}

type mouseParams struct {
	Screen     string `json:"screen_id"`
	Mouse      Mouse  `json:"mouse"`
	Generation uint64 `json:"generation"`
}

type renderParams struct {
	Viewport   Viewport `json:"viewport"`
	Generation uint64   `json:"generation"`
}

type invokeParams struct {
	Action  string `json:"action"`
	Payload Bytes  `json:"payload"`
	Timeout uint64 `json:"timeout_ms"`
}

// some returns b, and no nil, which is null on the wire.
func some(b []byte) Bytes {
	if b == nil {
		return Bytes{}
	}
	return b
}

// refusal is an error that the host answers with.
func refusal(code int, format string, args ...any) *wire.RPCError {
	return &wire.RPCError{Code: code, Message: wire.Plain(fmt.Sprintf(format, args...))}
}

func denied(capability string) *wire.RPCError {
	return refusal(codeDenied, "capability denied: %s", capability)
}

// deniedWith is denied with the one requested value.
func deniedWith(capability, member, value string) *wire.RPCError {
	e := denied(capability)
	e.Data, _ = json.Marshal(map[string]string{member: value}) // two texts
	return e
}

// params decodes the params of a request.
func params[T any](raw json.RawMessage) (T, *wire.RPCError) {
	var p T
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := wire.Decode(raw, &p); err != nil {
		return p, refusal(wire.CodeInvalidParams, "params: %v", err)
	}
	return p, nil
}

// must returns a required text of the params.
func must(name string, text *string) (string, *wire.RPCError) {
	if text == nil {
		return "", refusal(wire.CodeInvalidParams, "params.%s is missing, required as a string", name)
	}
	return *text, nil
}

// bytesOf decodes bytes of the params; a missing value is null.
func bytesOf(name string, raw json.RawMessage) (Bytes, *wire.RPCError) {
	var b Bytes
	if len(raw) == 0 {
		return nil, nil
	}
	if err := b.UnmarshalJSON(raw); err != nil { // which is valid JSON
		return nil, refusal(wire.CodeInvalidParams, "params.%s: %v", name, err)
	}
	return b, nil
}
