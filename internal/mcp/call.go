package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/wire"
)

// callParams are the parameters of tools/call.
type callParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Meta      struct {
		ProgressToken json.RawMessage `json:"progressToken"`
	} `json:"_meta"`
}

// callResult is the result of tools/call.
type callResult struct {
	Content []content `json:"content"`
	IsError bool      `json:"isError"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (r *callResult) add(text string) {
	if text != "" {
		r.Content = append(r.Content, content{"text", text})
	}
}

// call begins a call, or refuses it. c.mu is locked.
func (c *connection) call(ctx context.Context, in *wire.Incoming) *wire.RPCError {
	var p callParams
	if err := json.Unmarshal(in.Params, &p); err != nil {
		return &wire.RPCError{Code: wire.CodeInvalidParams, Message: "want the name of a tool, and its arguments as an object: " + err.Error()}
	}
	t, names := c.tool(p.Name)
	id := string(in.ID)
	switch {
	case c.ended:
		return &wire.RPCError{Code: codeInvalid, Message: "the server ends"}
	case t == nil:
		hint := cmp.Or(diagnostics.Suggest(p.Name, names), "tools/list lists them")
		return &wire.RPCError{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("no tool is named %q: %s", p.Name, hint)}
	case c.cancels[id] != nil:
		return &wire.RPCError{Code: codeInvalid, Message: "another call has the same id"}
	case len(c.cancels) >= maxCalls:
		return &wire.RPCError{Code: codeInvalid, Message: fmt.Sprintf("%d calls wait, and no more can: calls run one at a time", maxCalls)}
	}
	ctx, cancel := context.WithCancel(ctx)
	c.cancels[id] = cancel
	c.calls.Go(func() {
		result := c.perform(ctx, t, p)
		cancelled := ctx.Err() != nil
		cancel()
		c.mu.Lock()
		delete(c.cancels, id)
		c.mu.Unlock()
		if cancelled { // the protocol wants no answer
			return
		}
		if err := in.Reply(result); err != nil {
			_ = in.Refuse(&wire.RPCError{Code: codeInvalid, Message: err.Error()}) // the client may have ended
		}
	})
	return nil
}

// tool returns a tool, nil if it is unknown, and the names of the listed ones.
func (c *connection) tool(name string) (found *Tool, names []string) {
	for i, t := range c.Tools {
		if t.Name == name {
			found = &c.Tools[i]
		}
		if t.Refusal == nil {
			names = append(names, t.Name)
		}
	}
	return found, names
}

// perform runs a call when no other runs.
func (c *connection) perform(ctx context.Context, t *Tool, p callParams) *callResult {
	if t.Refusal != nil {
		return failure(t.Refusal)
	}
	args, err := t.read(p.Arguments)
	if err != nil {
		return failure(err)
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return failure(ctx.Err())
	}
	answer := t.Call(ctx, args, c.progress(p.Meta.ProgressToken))
	r := &callResult{Content: []content{}, IsError: answer.Failed}
	for _, text := range answer.Texts {
		r.add(text.String())
		r.add(text.cut(t.Narrow))
	}
	return r
}

// failure returns the document of an error as the result of a call, so that the model reads it.
func failure(err error) *callResult {
	var text Text
	_ = report.Write(&text, report.NewError(err)) // a Text takes every write
	r := &callResult{IsError: true}
	r.add(text.String())
	return r
}
