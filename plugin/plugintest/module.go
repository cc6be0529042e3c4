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
	s := &moduleSuite{o: o}
	tool, err := e.Open(o.Module)
	if err == nil {
		s.tool = tool
		s.faults, err = tool.Faults()
	}
	var failed *adapters.Failure
	if errors.As(err, &failed) && s.tool == nil { // the manifest asks for more than it is granted
		s.faults = []wasm.Fault{{Clause: opening(failed.Code), Failure: failed}}
	} else if err != nil {
		return nil, err
	}
	s.call(ctx)
	r := &Report{ID: o.Module.ID, Path: o.Module.Path}
	for _, a := range moduleAxes() {
		res := Result{Clause: a.clause, Level: a.level, Expected: a.expected}
		got := s.try(ctx, a)
		res.Status, res.Got = got.status, got.got
		r.Axes = append(r.Axes, res)
	}
	r.count()
	r.Took = time.Since(began)
	return r, ctx.Err()
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
	o      ModuleOptions
	tool   *wasm.Tool // nil: it cannot be opened
	faults []wasm.Fault

	// The result of the first call.
	text    []byte
	members map[string]json.RawMessage // of the output; nil unless it is an object
	err     error
	log     []string
}

// call makes the first call, which most axes judge.
func (s *moduleSuite) call(ctx context.Context) {
	if len(s.faults) > 0 {
		return
	}
	c := s.o.Call
	c.Log = func(line string) { s.log = append(s.log, line) }
	if s.text, s.err = s.tool.Raw(ctx, c); s.err == nil {
		_ = json.Unmarshal(s.text, &s.members)
	}
}

// moduleAxis is the test of one clause. Without run, it is judged by the faults of the module.
type moduleAxis struct {
	clause   string
	level    Level
	expected string
	needs    moduleNeed
	run      func(context.Context, *moduleSuite) outcome
}

// moduleNeed is a requirement of a test.
type moduleNeed int

const (
	needsNothing moduleNeed = iota
	needsModule             // a module without faults
	needsOutput             // an output of the first call
	needsObject             // that is a JSON object
)

func (s *moduleSuite) try(ctx context.Context, a moduleAxis) outcome {
	switch {
	case a.run == nil:
		return s.fault(a.clause)
	case a.needs >= needsModule && len(s.faults) > 0:
		return skip("bento refuses the module, see above")
	case a.needs >= needsOutput && s.text == nil:
		return skip("the first call returned no output")
	case a.needs >= needsObject && s.members == nil:
		return skip("the output is no JSON object")
	}
	return a.run(ctx, s)
}

func (s *moduleSuite) fault(clause string) outcome {
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

// moduleAxes returns all axes in the order of their clauses.
func moduleAxes() []moduleAxis {
	static := func(clause, expected string) moduleAxis {
		return moduleAxis{clause: clause, level: Must, expected: expected}
	}
	return []moduleAxis{
		static("W1.1", "a core module of WebAssembly, no component"),
		static("W1.2", "a module of ABI v2, not of v1"),
		static("W1.3", "the export az_alloc (i32) -> i32"),
		static("W1.4", "the export az_tool_execute (i32, i32) -> i64"),
		static("W1.5", "the export memory"),
		static("W1.6", "a start function and an _initialize of the type () -> ()"),
		static("W1.7", "runtime API 2 in the range of the manifest"),
		static("W1.8", "a file that is no link, in directories that are none"),
		static("W2.1", "imports of functions only"),
		static("W2.2", "imports of wasi_snapshot_preview1 and az only"),
		static("W2.3", "functions of WASI preview 1, with their types"),
		static("W2.4", "the host functions of az, with their types"),
		static("W2.5", "host functions that are granted"),
		static("W2.6", "host functions that the manifest declares, in both of its lists"),
		static("W2.7", "capabilities in the manifest that are granted"),
		static("W3.1", "a file of at most the limit of the module"),
		static("W3.2", "a memory at the start of at most its limit"),
		{"W3.3", Must, "WebAssembly 2.0 that compiles", needsModule, compiles},
		{"W4.1", Must, "the start function and _initialize return", needsModule, ends(wasm.Instantiate)},
		{"W4.2", Must, "az_alloc returns room for the input", needsModule, ends("az_alloc")},
		{"W4.3", Must, "az_tool_execute returns in time, without a trap and proc_exit", needsModule, ends("az_tool_execute")},
		{"W4.4", Must, "the output lies in the memory and is at most its limit", needsModule, inBounds},
		{"W4.5", Should, "an output that is not empty", needsModule, notEmpty},
		{"W5.1", Must, "the output is UTF-8", needsOutput, func(_ context.Context, s *moduleSuite) outcome {
			return when(utf8.Valid(s.text), "found %q", first(s.text))
		}},
		{"W5.2", Must, "the output is one JSON object", needsOutput, func(_ context.Context, s *moduleSuite) outcome {
			return when(s.members != nil, "found %q", first(s.text))
		}},
		{"W5.3", Must, "output is a string", needsObject, member("output", false)},
		{"W5.4", Must, "error is a string, null or missing", needsObject, member("error", true)},
		{"W5.5", Should, "no members but output, error and privacy_boundary", needsObject, knownMembers},
		{"W6.1", Should, "the same call has the same answer", needsObject, sameAnswer},
		{"W6.2", Must, "an input that is no JSON is answered", needsModule, answers(`"{"`)},
		{"W6.3", Must, "the empty input is answered", needsModule, answers(`""`)},
		{"W6.4", Must, "an input beyond ASCII is answered", needsModule, answers(`"{\"path\":\"plättchen \\u0000 🍱\"}"`)},
		{"W6.5", Must, "an input of 1 MiB is answered", needsModule, answers(`"` + strings.Repeat("x", 1<<20) + `"`)},
		{"W6.6", Should, "it needs no workspace to answer", needsModule, withoutWorkspace},
		{"W6.7", Should, "az_tool_name, if it is exported, returns a text, and az_tool_schema a JSON object", needsModule, describesItself},
	}
}

func first(text []byte) []byte { return text[:min(len(text), 80)] }

func describesItself(ctx context.Context, s *moduleSuite) outcome {
	_, err := s.tool.Self(ctx)
	if f := failureOf(err); f != nil && !strings.HasPrefix(f.Call, "az_tool_") {
		return skip("see the other step")
	}
	return without(err)
}

func compiles(ctx context.Context, s *moduleSuite) outcome { return without(s.tool.Check(ctx)) }

// failureOf returns the failure of a call, nil for none and for the tool's own error.
func failureOf(err error) *adapters.Failure {
	var f *adapters.Failure
	errors.As(err, &f)
	return f
}

// ends returns the test that a step of the first call came to its end.
func ends(step string) func(context.Context, *moduleSuite) outcome {
	return func(_ context.Context, s *moduleSuite) outcome {
		f := failureOf(s.err)
		switch {
		case f == nil:
			return without(s.err)
		case f.Call != step || step == "az_tool_execute" && f.Code == adapters.MalformedResponse:
			return skip("see the other step")
		}
		return fail("%s\n%s", f.Message, f.Stderr)
	}
}

func inBounds(_ context.Context, s *moduleSuite) outcome {
	f := failureOf(s.err)
	switch {
	case f == nil:
		return without(s.err)
	case f.Code != adapters.MalformedResponse || f.Call != "az_tool_execute":
		return skip("the first call returned no output")
	}
	return fail("%s", f.Message)
}

func notEmpty(_ context.Context, s *moduleSuite) outcome {
	if s.err != nil {
		return skip("the first call returned no output")
	}
	return when(s.text != nil, "the length is 0; found no output and no error")
}

// member returns the test of the type of a member.
func member(name string, optional bool) func(context.Context, *moduleSuite) outcome {
	return func(_ context.Context, s *moduleSuite) outcome {
		raw, ok := s.members[name]
		if !ok {
			return when(optional, "it is missing")
		}
		var text *string
		err := json.Unmarshal(raw, &text)
		return when(err == nil && (text != nil || optional), "found %s", first(raw))
	}
}

func knownMembers(_ context.Context, s *moduleSuite) outcome {
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		if name != "output" && name != "error" && name != "privacy_boundary" {
			return fail("found %q", name)
		}
	}
	return pass()
}

func sameAnswer(ctx context.Context, s *moduleSuite) outcome {
	text, err := s.tool.Raw(ctx, s.o.Call)
	if err != nil {
		return fail("%v", err)
	}
	return when(bytes.Equal(text, s.text), "found %q after %q", first(text), first(s.text))
}

// answers returns the test that an input has an answer that bento understands, an error or not.
func answers(input string) func(context.Context, *moduleSuite) outcome {
	return func(ctx context.Context, s *moduleSuite) outcome {
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

func withoutWorkspace(ctx context.Context, s *moduleSuite) outcome {
	dir, err := os.MkdirTemp("", "bento-tool-test-")
	if err != nil {
		return skip(fmt.Sprint(err))
	}
	defer os.RemoveAll(dir)
	c := s.o.Call
	c.Root, c.Out, c.Log = dir, "", nil
	return answered(s.tool.Call(ctx, c))
}
