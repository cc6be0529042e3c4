package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wasm"
)

// ModuleOptions are the options of RunModule.
type ModuleOptions struct {
	Module wasm.Options      // the module, its manifest and what it is granted
	Call   adapters.ToolCall // an input that the module can work with; Root and Out, if it needs them
}

// RunModule tests a tool that is a WebAssembly module on all axes of docs/TOOL-PROTOCOL-WASM.md. The error
// is that of ctx, or reports that the module cannot be read.
func RunModule(ctx context.Context, e *wasm.Engine, o ModuleOptions) (*Report, error) {
	began := time.Now()
	s := &moduleSuite{o: o, lab: &lab{}}
	tool, err := e.Open(o.Module)
	if err == nil {
		s.tool = tool
		s.faults, err = tool.Faults()
	}
	if f := failureOf(err); f != nil && s.tool == nil { // the manifest asks for more than it is granted
		s.faults = []wasm.Fault{{Clause: opening(f.Code), Failure: f}}
	} else if err != nil {
		return nil, err
	}
	s.call(ctx)
	return newReport(o.Module.ID, o.Module.Path, s.try(ctx, s.axes()), began), ctx.Err()
}

// opening returns the clause of a failure before the module is read.
func opening(code adapters.Code) string {
	switch code {
	case adapters.ProtocolVersionMismatch:
		return "W1.7"
	case adapters.CapabilityNotAllowed:
		return "W2.7"
	}
	return "W1.1"
}

// moduleSuite is one run of all axes of a module.
type moduleSuite struct {
	*lab
	o      ModuleOptions
	tool   *wasm.Tool // nil: it cannot be opened
	faults []wasm.Fault

	// The result of the first call.
	text    []byte
	members map[string]json.RawMessage // of the output; nil unless it is an object
	err     error
}

// call makes the first call, which most axes judge.
func (s *moduleSuite) call(ctx context.Context) {
	if len(s.faults) > 0 {
		return
	}
	if s.text, s.err = s.tool.Raw(ctx, s.o.Call); s.err == nil {
		_ = json.Unmarshal(s.text, &s.members)
	}
}

// fault judges by the faults of the module.
func (s *moduleSuite) fault(_ context.Context, clause string) outcome {
	for _, f := range s.faults {
		if f.Clause == clause {
			return fail("%s; %s", f.Failure.Message, f.Failure.Hint)
		}
	}
	if s.tool == nil || len(s.faults) > 0 && (s.faults[0].Clause == "W1.1" || s.faults[0].Clause == "W1.8") {
		return skip("the module is not read")
	}
	return pass()
}

// axes returns the table of docs/TOOL-PROTOCOL-WASM.md. It depends on the first call.
func (s *moduleSuite) axes() []axis {
	return []axis{
		{"W1.1", Must, "a core module of WebAssembly, no component", s.fault},
		{"W1.2", Must, "a module of ABI v2, not of v1", s.fault},
		{"W1.3", Must, "the export az_alloc (i32) -> i32", s.fault},
		{"W1.4", Must, "the export az_tool_execute (i32, i32) -> i64", s.fault},
		{"W1.5", Must, "the export memory", s.fault},
		{"W1.6", Must, "a start function and an _initialize of the type () -> ()", s.fault},
		{"W1.7", Must, "runtime API 2 in the range of the manifest", s.fault},
		{"W1.8", Must, "a file that is no link, in directories that are none", s.fault},
		{"W2.1", Must, "imports of functions only", s.fault},
		{"W2.2", Must, "imports of wasi_snapshot_preview1 and az only", s.fault},
		{"W2.3", Must, "functions of WASI preview 1, with their types", s.fault},
		{"W2.4", Must, "the host functions of az, with their types", s.fault},
		{"W2.5", Must, "host functions that are granted", s.fault},
		{"W2.6", Must, "host functions that the manifest declares, in both of its lists", s.fault},
		{"W2.7", Must, "capabilities in the manifest that are granted", s.fault},
		{"W3.1", Must, "a file of at most the limit of the module", s.fault},
		{"W3.2", Must, "a memory at the start of at most its limit", s.fault},

		{"W3.3", Must, "WebAssembly 2.0 that compiles", s.loaded(s.compiles)},
		{"W4.1", Must, "the start function and _initialize return", s.loaded(of(s.ended(wasm.Instantiate)))},
		{"W4.2", Must, "az_alloc returns room for the input", s.loaded(of(s.ended("az_alloc")))},
		{"W4.3", Must, "az_tool_execute returns in time, without a trap and proc_exit", s.loaded(of(s.ended("az_tool_execute")))},
		{"W4.4", Must, "the output lies in the memory and is at most its limit", s.loaded(of(s.inBounds()))},
		{"W4.5", Should, "an output that is not empty", s.loaded(of(s.notEmpty()))},
		{"W5.1", Must, "the output is UTF-8", s.withOutput(when(utf8.Valid(s.text), "found %q", first(s.text)))},
		{"W5.2", Must, "the output is one JSON object", s.withOutput(when(s.members != nil, "found %q", first(s.text)))},
		{"W5.3", Must, "output is a string", s.withObject(of(s.member("output", false)))},
		{"W5.4", Must, "error is a string, null or missing", s.withObject(of(s.member("error", true)))},
		{"W5.5", Should, "no members but output, error and privacy_boundary", s.withObject(of(s.knownMembers()))},
		{"W6.1", Should, "the same call has the same answer", s.withObject(s.sameAnswer)},
		{"W6.2", Must, "an input that is no JSON is answered", s.loaded(s.answers(`"{"`))},
		{"W6.3", Must, "the empty input is answered", s.loaded(s.answers(`""`))},
		{"W6.4", Must, "an input beyond ASCII is answered", s.loaded(s.answers(`"{\"path\":\"plättchen \\u0000 🍱\"}"`))},
		{"W6.5", Must, "an input of 1 MiB is answered", s.loaded(s.answers(`"` + strings.Repeat("x", 1<<20) + `"`))},
		{"W6.6", Should, "it needs no workspace to answer", s.loaded(s.withoutWorkspace)},
		{"W6.7", Should, "az_tool_name, if it is exported, returns a text, and az_tool_schema a JSON object", s.loaded(s.describesItself)},
	}
}

// loaded is a test of a module without faults.
func (s *moduleSuite) loaded(t test) test {
	if len(s.faults) > 0 {
		return of(skip("bento refuses the module, see above"))
	}
	return t
}

// withOutput is a test of the output of the first call.
func (s *moduleSuite) withOutput(o outcome) test {
	if s.text == nil {
		return s.loaded(of(skip("the first call returned no output")))
	}
	return s.loaded(of(o))
}

// withObject is a test of an output that is a JSON object.
func (s *moduleSuite) withObject(t test) test {
	if s.members == nil {
		return s.withOutput(skip("the output is no JSON object"))
	}
	return s.loaded(t)
}

func first(text []byte) []byte { return text[:min(len(text), 80)] }

func (s *moduleSuite) describesItself(ctx context.Context, _ string) outcome {
	_, err := s.tool.Self(ctx)
	if f := failureOf(err); f != nil && !strings.HasPrefix(f.Call, "az_tool_") {
		return skip("see the other step")
	}
	return without(err)
}

func (s *moduleSuite) compiles(ctx context.Context, _ string) outcome {
	return without(s.tool.Check(ctx))
}

// failureOf returns the failure of a call, nil for none and for the tool's own error.
func failureOf(err error) *adapters.Failure {
	var f *adapters.Failure
	errors.As(err, &f)
	return f
}

// ended judges whether a step of the first call came to its end.
func (s *moduleSuite) ended(step string) outcome {
	f := failureOf(s.err)
	switch {
	case f == nil:
		return without(s.err)
	case f.Call != step || step == "az_tool_execute" && f.Code == adapters.MalformedResponse:
		return skip("see the other step")
	}
	return fail("%s\n%s", f.Message, f.Stderr)
}

func (s *moduleSuite) inBounds() outcome {
	f := failureOf(s.err)
	switch {
	case f == nil:
		return without(s.err)
	case f.Code != adapters.MalformedResponse || f.Call != "az_tool_execute":
		return skip("the first call returned no output")
	}
	return fail("%s", f.Message)
}

func (s *moduleSuite) notEmpty() outcome {
	if s.err != nil {
		return skip("the first call returned no output")
	}
	return when(s.text != nil, "the length is 0; found no output and no error")
}

// member judges the type of a member.
func (s *moduleSuite) member(name string, optional bool) outcome {
	raw, ok := s.members[name]
	if !ok {
		return when(optional, "it is missing")
	}
	var text *string
	err := json.Unmarshal(raw, &text)
	return when(err == nil && (text != nil || optional), "found %s", first(raw))
}

func (s *moduleSuite) knownMembers() outcome {
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		if name != "output" && name != "error" && name != "privacy_boundary" {
			return fail("found %q", name)
		}
	}
	return pass()
}

func (s *moduleSuite) sameAnswer(ctx context.Context, _ string) outcome {
	text, err := s.tool.Raw(ctx, s.o.Call)
	if err != nil {
		return fail("%v", err)
	}
	return when(bytes.Equal(text, s.text), "found %q after %q", first(text), first(s.text))
}

// answers returns the test that an input has an answer that bento understands, an error or not.
func (s *moduleSuite) answers(input string) test {
	return func(ctx context.Context, _ string) outcome {
		c := s.o.Call
		c.Input, c.Log = json.RawMessage(input), nil
		return answered(s.tool.Call(ctx, c))
	}
}

func answered(_ adapters.ToolAnswer, err error) outcome {
	if f := failureOf(err); f != nil {
		return fail("%s: %s", f.Call, strings.TrimSpace(f.Message+" "+f.Stderr))
	}
	var own *adapters.ToolError
	if err != nil && !errors.As(err, &own) {
		return without(err)
	}
	return pass()
}

func (s *moduleSuite) withoutWorkspace(ctx context.Context, _ string) outcome {
	dir, err := os.MkdirTemp("", "bento-tool-test-")
	if err != nil {
		return skip(fmt.Sprint(err))
	}
	defer os.RemoveAll(dir)
	c := s.o.Call
	c.Root, c.Out, c.Log = dir, "", nil
	return answered(s.tool.Call(ctx, c))
}
