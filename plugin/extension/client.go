package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/bentobuild/bento/plugin/wire"
)

// ErrUnsupported is wrapped by the error of a method that the contract in use lacks.
var ErrUnsupported = errors.ErrUnsupported

// Client sends requests to bento, within the grants of the extension. Its methods are safe for concurrent
// use. A refusal is an *Error.
type Client struct {
	peer    *wire.Peer // set before a handler runs
	stderr  io.Writer
	sep     bool
	session atomic.Pointer[session]
}

// session is the content of bento's first message.
type session struct {
	granted []string
	config  json.RawMessage
}

// SEP reports whether the contract in use is SEP v1, not ainb v2.
func (c *Client) SEP() bool { return c.sep }

// Granted reports whether bento granted the capability or permission of the manifest.
func (c *Client) Granted(name string) bool { return slices.Contains(c.session.Load().granted, name) }

// Config decodes the configuration of the extension (ainb). Without one, into is unchanged.
func (c *Client) Config(into any) error {
	raw := c.session.Load().config
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("configuration of the extension: %w", err)
	}
	return nil
}

// Call sends any request of the contract.
func (c *Client) Call(ctx context.Context, method string, params, into any) error {
	raw, err := c.call(ctx, method, params)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: result: %w", method, err)
	}
	return nil
}

// Log writes one line to the extension's log. The level is trace, debug, info, warn or error.
func (c *Client) Log(_ context.Context, level, message string) error {
	if c.sep {
		_, err := fmt.Fprintf(c.stderr, "%s: %s\n", level, message)
		return err
	}
	return c.tell("host/log", map[string]any{"level": level, "message": message})
}

// Toast shows a message to the user: info, success, warning or error (SEP, permission
// notifications.create).
func (c *Client) Toast(ctx context.Context, level, message string) error {
	if err := c.only(true, "a toast"); err != nil {
		return err
	}
	return c.Call(ctx, "host.notifications.toast", map[string]any{"level": level, "message": message}, nil)
}

// Panel is a place in bento's pages and lists that the user can invoke (SEP).
type Panel struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Slot   string `json:"slot"` // tools.page.primary, .secondary or .advanced
	Action string `json:"action,omitempty"`
}

// Register adds a panel, or replaces the one with its id (SEP, permission tools.register).
func (c *Client) Register(ctx context.Context, p Panel) error {
	if err := c.only(true, "a panel"); err != nil {
		return err
	}
	return c.Call(ctx, "host.ui.register_tool_panel", p, nil)
}

// Snapshot is the latest payload of a topic. If the topic has none, Version is 0 and Payload nil.
type Snapshot struct {
	Payload []byte `json:"payload"`
	Version uint64 `json:"version"`
}

// Snapshot returns the latest state of a topic (ainb, capability event_bus).
func (c *Client) Snapshot(ctx context.Context, topic string) (Snapshot, error) {
	var s Snapshot
	if err := c.only(false, "a snapshot"); err != nil {
		return s, err
	}
	err := c.Call(ctx, "host/snapshot/get", map[string]string{"topic": topic}, &s)
	return s, err
}

// Publish sets the latest state of a topic (ainb, capability event_bus). A denied one is
// dropped without an error.
func (c *Client) Publish(_ context.Context, topic string, payload []byte) error {
	if err := c.only(false, "a snapshot"); err != nil {
		return err
	}
	return c.tell("host/snapshot/publish", map[string]any{"topic": topic, "payload": text(payload)})
}

// Subscribe requests the events of a topic that is not in the manifest (ainb, capability event_bus).
func (c *Client) Subscribe(ctx context.Context, topic string) error {
	if err := c.only(false, "a subscription"); err != nil {
		return err
	}
	return c.Call(ctx, "host/snapshot/subscribe", map[string]string{"topic": topic}, nil)
}

// ReadFile reads a file by its absolute path (ainb, a capability of files).
func (c *Client) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if err := c.only(false, "reading a file"); err != nil {
		return nil, err
	}
	var file struct {
		Bytes []byte `json:"bytes"`
	}
	err := c.Call(ctx, "host/fs/read_file", map[string]string{"path": path}, &file)
	return file.Bytes, err
}

// only returns an error unless the contract in use has what.
func (c *Client) only(sep bool, what string) error {
	if c.sep == sep {
		return nil
	}
	name := "SEP v1"
	if c.sep {
		name = "ainb v2"
	}
	return fmt.Errorf("%s exists in %s only: %w", what, name, ErrUnsupported)
}

// text returns b, and no nil, which JSON writes as null.
func text(b []byte) []byte { return append([]byte{}, b...) }
