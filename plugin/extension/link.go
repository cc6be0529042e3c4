package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bentobuild/bento/plugin/wire"
)

// Codes of errors that this side answers. The last three are of SEP.
const (
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeManifest       = -32003
	codeNotInitialized = -32010
	codeInitialized    = -32011
	codeVersion        = -32012
	codeShuttingDown   = -32017
)

// errEnded is the error of a call whose answer can no longer arrive.
var errEnded = errors.New("the connection to bento ended")

// Error is an error that bento answered. A handler of a command or a screen may return one,
// whose code then reaches bento.
type Error struct {
	Code    int
	Message string
	Reason  string          // data.reason, the stable name in SEP
	Data    json.RawMessage // nil when missing
}

func (e *Error) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("%s (%s, code %d)", e.Message, e.Reason, e.Code)
	}
	return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
}

// call asks bento and waits for the answer.
func (c *Client) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	result, err := c.peer.Call(ctx, method, params)
	var rpc *wire.RPCError
	var bad *wire.BadAnswer
	switch {
	case errors.As(err, &rpc):
		return nil, answered(rpc)
	case err == nil || ctx.Err() == nil && (errors.As(err, &bad) || errors.Is(err, wire.ErrTooLarge)):
		return result, err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
	return nil, fmt.Errorf("%s: %w", method, errEnded)
}

// tell sends a notification.
func (c *Client) tell(method string, params any) error {
	err := c.peer.Notify(method, params)
	if err != nil && !errors.Is(err, wire.ErrTooLarge) {
		return fmt.Errorf("%s: %w", method, errEnded)
	}
	return err
}

// answered returns the error that bento answered.
func answered(rpc *wire.RPCError) *Error {
	e := &Error{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data}
	var data struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal(e.Data, &data) == nil {
		e.Reason = data.Reason
	}
	return e
}

// refusal returns the answer to bento for an error.
func refusal(err error) *wire.RPCError {
	e := &wire.RPCError{Code: codeInternal, Message: err.Error()}
	var own *Error
	if errors.As(err, &own) {
		e.Code, e.Message, e.Data = own.Code, own.Message, own.Data
	}
	return e
}
