package adapters

import (
	"context"
	"encoding/json"
	"fmt"
)

// Tool is a tool that tasks and parsers call: a program that is started for each call, or a
// WebAssembly module. It is safe for concurrent use. Nothing runs before the first call.
type Tool interface {
	// Call calls one function. The error is a *ToolError if the tool answers with one, a
	// *Failure if the tool is at fault, or that of ctx.
	Call(ctx context.Context, c ToolCall) (ToolAnswer, error)
}

// ToolCall is one call of a tool.
type ToolCall struct {
	Function string          // "fmt.check"; "" of a tool with a single function
	Input    json.RawMessage // any JSON; empty means {}
	Root     string          // of the workspace, absolute
	Out      string          // an empty directory that the tool may write to, absolute; "" for none
	// Log receives the lines that the tool logs or writes to its stderr, one at a time; nil
	// drops them.
	Log func(line string)
}

// ToolAnswer is the answer of a tool.
type ToolAnswer struct {
	Output  string // of a one-shot tool JSON, of a module any text, usually JSON
	Warning string // "" for none
}

// ToolError is the answer of a working tool that could not do the work of the call.
type ToolError struct {
	Tool, Function string
	Code           string // the tool's own; may be empty
	Message        string
}

// Error returns the tool, the function and its message.
func (e *ToolError) Error() string {
	text := "tool " + e.Tool
	if e.Function != "" {
		text += ": " + e.Function
	}
	if e.Code != "" {
		return fmt.Sprintf("%s: %s (%s)", text, e.Message, e.Code)
	}
	return text + ": " + e.Message
}
