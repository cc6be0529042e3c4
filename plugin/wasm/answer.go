package wasm

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// answer reads the output object of a call.
func (t *Tool) answer(text []byte) (adapters.ToolAnswer, error) {
	fail := func(format string, args ...any) (adapters.ToolAnswer, error) {
		return adapters.ToolAnswer{}, t.failure(adapters.MalformedResponse, execute, fmt.Sprintf(format, args...),
			`required is {"output": "…", "error": null}`)
	}
	if text == nil {
		return adapters.ToolAnswer{}, &adapters.ToolError{Tool: t.o.ID, Message: "plugin returned empty output"}
	}
	if !utf8.Valid(text) {
		return fail("plugin output is not valid UTF-8")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return fail("plugin output is not valid JSON: found %s", plain(start(text)))
	}
	output, ok := members["output"]
	if !ok {
		return fail("plugin output is not valid JSON: the member output is missing")
	}
	var a adapters.ToolAnswer
	if json.Unmarshal(output, &a.Output) != nil || output[0] != '"' {
		return fail("plugin output is not valid JSON: output is no string: found %s", plain(start(output)))
	}
	var warning *string
	if raw, ok := members["error"]; ok && json.Unmarshal(raw, &warning) != nil {
		return fail("plugin output is not valid JSON: error is neither a string nor null: found %s", plain(start(raw)))
	}
	if warning == nil {
		return a, nil
	}
	if a.Output == "" {
		return adapters.ToolAnswer{}, &adapters.ToolError{Tool: t.o.ID, Message: *warning}
	}
	a.Warning = *warning
	return a, nil
}

// plain returns a text as one line.
func plain(text string) string { return wire.Plain(strings.ReplaceAll(text, "\n", " ")) }

// start returns the beginning of a text, for a message.
func start(text []byte) string {
	const enough = 80
	if len(text) <= enough {
		return string(text)
	}
	return string(text[:enough]) + "…"
}
