package wasm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// replaced returns a good tool with another body for one function.
func replaced(name, typ string, body ...[]byte) *Module {
	m := Answering(Good)
	m.Rename(name, "")
	m.Func(name, typ, body...)
	return m
}

func allocating(body ...[]byte) *Module { return replaced(alloc, "i32->i32", body...) }
func executing(body ...[]byte) *Module  { return replaced(execute, "i32,i32->i64", body...) }

// withStart adds a start function.
func withStart(body ...[]byte) *Module {
	m := Answering(Good)
	m.Start(m.Func("", "->", body...))
	return m
}

func initializing(body ...[]byte) *Module {
	m := Answering(Good)
	m.Func("_initialize", "->", body...)
	return m
}

func calling(body func(f uint32) [][]byte) *Module {
	m := Answering(Good)
	m.Rename(execute, "")
	f := m.Func(execute, "i32,i32->i64", I64(0))
	m.Set(f, body(f)...)
	return m
}

// TestMisbehavingModules runs modules that misbehave.
func TestMisbehavingModules(t *testing.T) {
	const crashed, malformed = adapters.Crashed, adapters.MalformedResponse
	good := Packed(1024, uint32(len(Good)))
	for name, tt := range map[string]struct {
		m       *Module
		code    adapters.Code
		message string
	}{
		"az_alloc returns the end":                 {allocating(I32(65536)), malformed, "az_alloc returned 65536, memory is 65536 bytes, need"},
		"az_alloc returns 4 GiB - 1":               {allocating(I32(-1)), malformed, "az_alloc returned 4294967295"},
		"az_alloc returns 2 GiB":                   {allocating(I32(-1 << 31)), malformed, "az_alloc returned 2147483648"},
		"az_alloc traps":                           {allocating(Op(Unreachable), I32(0)), crashed, "az_alloc call failed: wasm error: unreachable"},
		"execute traps":                            {executing(Op(Unreachable)), crashed, "az_tool_execute call failed: wasm error: unreachable"},
		"execute divides by zero":                  {executing(I32(1), I32(0), Op(0x6d, Drop), good), crashed, "wasm error: integer divide by zero"},
		"execute reads out of memory":              {executing(I32(-1), []byte{0x2d, 0, 0, Drop}, good), crashed, "out of bounds memory access"},
		"execute recurses":                         {calling(func(f uint32) [][]byte { return [][]byte{I32(0), I32(0), Call(f)} }), crashed, "stack overflow"},
		"start traps":                              {withStart(Op(Unreachable)), crashed, "failed to instantiate v2 plugin module: wasm error: unreachable"},
		"_initialize traps":                        {initializing(Op(Unreachable)), crashed, "failed to instantiate v2 plugin module: wasm error: unreachable"},
		"the output lies outside":                  {executing(Packed(65536, 1)), malformed, "plugin output ptr/len (65536, 1) exceeds memory bounds (65536)"},
		"the output ends outside":                  {executing(Packed(65530, 100)), malformed, "plugin output ptr/len (65530, 100) exceeds"},
		"the output has 4 GiB - 1":                 {executing(Packed(0, 1<<32-1)), malformed, "(0, 4294967295) exceeds memory bounds"},
		"the end of the output wraps":              {executing(Packed(1<<32-1, 2)), malformed, "(4294967295, 2) exceeds"},
		"the output wraps around":                  {executing(Packed(1<<32-1, 1<<32-1)), malformed, "(4294967295, 4294967295) exceeds"},
		"az_alloc returns the place of the output": {allocating(I32(1020)), malformed, "plugin output is not valid JSON"},
		"the output is the input":                  {executing([]byte{0x20, 0, 0xad, 0x20, 1, 0xad}, I64(32), Op(I64Shl, I64Or)), malformed, "the member output is missing"},
		"the output has 1 GiB":                     {executing(Packed(0, 1<<30)), malformed, "(0, 1073741824) exceeds memory bounds"},
		"the output is larger than its cap":        {executing(Grow(511), Packed(0, 17<<20)), malformed, "plugin output has 17825792 bytes; at most 16777216 are allowed"},
		"the output is not UTF-8":                  {Answering("{\"output\":\"\xff\"}"), malformed, "plugin output is not valid UTF-8"},
		"the output is not JSON":                   {Answering("hello\nworld"), malformed, "plugin output is not valid JSON: found hello"},
		"the output is zeroes":                     {executing(Packed(2048, 8)), malformed, "plugin output is not valid JSON"},
		"the output has no output":                 {Answering(`{"error":null}`), malformed, "the member output is missing"},
		"the output is another OUTPUT":             {Answering(`{"OUTPUT":"x"}`), malformed, "the member output is missing"},
		"the output is a number":                   {Answering(`{"output":7}`), malformed, "output is no string: found 7"},
		"the output is null":                       {Answering(`{"output":null}`), malformed, "output is no string: found null"},
		"the output is a list":                     {Answering(`["output"]`), malformed, "plugin output is not valid JSON"},
		"the error is a number":                    {Answering(`{"output":"x","error":3}`), malformed, "error is neither a string nor null: found 3"},
		"the output has a second value":            {Answering(`{"output":"x"} {}`), malformed, "plugin output is not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := do(t, open(t, Options{Bytes: tt.m.Bytes()}), say("x"))
			wantFailure(t, err, tt.code, tt.message)
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the message has several lines: %q", err)
			}
		})
	}
}

// TestEndlessModules runs modules that never end, in each place where the host runs them.
func TestEndlessModules(t *testing.T) {
	tree := Answering(Good) // 2^63 calls, and no loop
	tree.Rename(execute, "")
	f := tree.Func("", "->")
	for range 63 {
		f = tree.Func("", "->", Call(f), Call(f))
	}
	tree.Func(execute, "i32,i32->i64", Call(f), I64(0))
	for name, m := range map[string]*Module{
		"in az_alloc":    allocating(Forever(), I32(0)),
		"in execute":     executing(Forever(), I64(0)),
		"in start":       withStart(Forever()),
		"in _initialize": initializing(Forever()),
		"in calls":       tree,
		"in growth":      executing(Forever(Grow(1)), I64(0)),
		"in az_log":      endlessLog(),

		"in az_alloc of a host function": endlessAnswer(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := open(t, Options{Bytes: m.Bytes(), Timeout: 100 * time.Millisecond, Capabilities: []string{azEnvGet}, Env: map[string]string{"NAME": "x"}})
			_, err := do(t, tool, say("x"))
			wantFailure(t, err, adapters.Timeout, "plugin execution exceeded time limit (100 ms)")
			_, err = do(t, tool, say("x"))
			wantFailure(t, err, adapters.Timeout, "plugin execution exceeded time limit (100 ms)")
		})
	}
}

func endlessLog() *Module {
	m := &Module{}
	log := m.Import("az", "az_log", "i32,i32,i32->")
	m.Func(alloc, "i32->i32", I32(8192))
	m.Func(execute, "i32,i32->i64", Forever(I32(2), I32(0), I32(10), Call(log)), I64(0))
	m.Memory(1, -1)
	return m
}

// endlessAnswer returns a module whose az_alloc never returns to the calling host function.
func endlessAnswer() *Module {
	m := &Module{}
	env := m.Import("az", azEnvGet, "i32,i32->i64")
	m.Func(alloc, "i32->i32", Count(100), I32(100), []byte{0x28, 2, 0}, I32(1), []byte{0x46, 0x04, 0x40}, I32(8192), Op(Return), Op(End), Forever(), I32(0))
	m.Func(execute, "i32,i32->i64", I32(4096), I32(4), Call(env))
	m.Memory(1, -1)
	m.Data(4096, "NAME")
	return m
}

func TestCancelledCall(t *testing.T) {
	tool := open(t, Options{Bytes: endlessLog().Bytes()})
	ctx, cancel := context.WithCancel(context.Background())
	c := say("x")
	c.Log = func(string) { cancel() }
	if _, err := tool.Call(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestOddModules runs unusual modules that work.
func TestOddModules(t *testing.T) {
	good := Packed(1024, uint32(len(Good)))
	high := Answering(Good)
	high.Memory(32769, 32769) // the output is above 2 GiB, where a signed pointer is negative
	high.Rename(execute, "")
	high.Data(1<<30, "")
	high.Rename(alloc, "")
	high.Func(alloc, "i32->i32", I32(-1<<31))
	high.Func(execute, "i32,i32->i64", []byte{0x41, 0x80, 0x80, 0x80, 0x80, 0x78}, I64(0), []byte{0x37, 3, 0}, good)
	custom := Answering(Good)
	custom.Custom("producers", "anything")
	custom.Custom(".debug_line", "not DWARF")
	exports := Answering(Good)
	exports.Export("bento:stop", 0, 0)
	exports.Export("bento:start", 0, 0)
	exports.Start(exports.Func("", "->", Store(1035, 'D')))
	started := withStart(Store(1035, '1'))
	started.Func("_initialize", "->", Store(1036, '2'), I32(1035), I32(1035), []byte{0x2d, 0, 0}, I32(4), []byte{I32Add, 0x3a, 0, 0})
	started.Func("_start", "->", Op(Unreachable))
	start := Answering(Good)
	start.Func("_start", "->", Op(Unreachable))
	for name, tt := range map[string]struct {
		m    *Module
		want string
	}{
		"an odd pointer":                     {allocating(I32(8191)), "done"},
		"az_alloc returns 0":                 {allocating(I32(0)), "done"},
		"the memory grows in az_alloc":       {allocating(Grow(1), I32(65536)), "done"},
		"the memory grows in execute":        {executing(Grow(5), good), "done"},
		"growth beyond the limit is -1":      {executing(I32(100000), []byte{0x40, 0}, I32(1), Op(I32Add), []byte{0x04, 0x40, Unreachable, End}, good), "done"},
		"a table grows no further than 2^20": {tableGrowth(func(m *Module) { m.Table(1) }), "done"},
		"nor does one with a larger maximum": {tableGrowth(func(m *Module) { m.BoundedTable(1, 1<<27) }), "done"},
		"_start is never called":             {start, "done"},
		"start, then _initialize":            {started, "52ne"},
		"custom sections":                    {custom, "done"},
		"exports of the host's names":        {exports, "Done"},
		"a pointer above 2 GiB":              {high, "done"},
		"privacy_boundary":                   {Answering(`{"output":"done","privacy_boundary":"local_only","error":null}`), "done"},
		"the error is empty":                 {Answering(`{"output":"done","error":""}`), "done"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Bytes: tt.m.Bytes()}
			if tt.m == high {
				o.Limits.Memory = 3 << 30
			}
			if got := must(t, open(t, o), say("x")); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// tableGrowth traps unless table.grow by 2^20 entries returns -1.
func tableGrowth(declare func(*Module)) *Module {
	m := executing([]byte{0xd0, 0x70}, I32(1<<20), []byte{0xfc, 15, 0}, I32(1), Op(I32Add), []byte{0x04, 0x40, Unreachable, End}, Packed(1024, uint32(len(Good))))
	declare(m)
	return m
}

func TestEmptyOutput(t *testing.T) {
	for name, m := range map[string]*Module{"zero": executing(I64(0)), "a pointer": executing(Packed(1<<32-1, 0))} {
		_, err := do(t, open(t, Options{Bytes: m.Bytes()}), say("x"))
		var e *adapters.ToolError
		if !errors.As(err, &e) || e.Message != "plugin returned empty output" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestRequest checks the exact bytes of the input with its two keys.
func TestRequest(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`{"path": "a.go"}`, `{"input":"{\"path\":\"a.go\"}","workspace_root":"/w"}`},
		{`"plain <text>"`, `{"input":"plain <text>","workspace_root":"/w"}`},
		{``, `{"input":"{}","workspace_root":"/w"}`},
		{` 7 `, `{"input":"7","workspace_root":"/w"}`},
	} {
		got, err := request(adapters.ToolCall{Input: []byte(tt.input), Root: "/w"})
		if err != nil || string(got) != tt.want {
			t.Errorf("request(%s): got %s, %v, want %s", tt.input, got, err, tt.want)
		}
	}
	if _, err := request(adapters.ToolCall{Input: []byte("{")}); err == nil {
		t.Error("an input that is not JSON is accepted")
	}
}

// Each call has its own memory, so a module finds no bytes of earlier calls.
func TestInstancesShareNothing(t *testing.T) {
	m := Answering(`{"output":"0"}`)
	m.Rename(execute, "")
	m.Func(execute, "i32,i32->i64", I32(1035), I32(1035), []byte{0x2d, 0, 0}, I32(1), []byte{I32Add, 0x3a, 0, 0}, Packed(1024, 14))
	tool := open(t, Options{Bytes: m.Bytes()})
	for range 3 {
		if got := must(t, tool, say("x")); got != "1" {
			t.Fatalf("got %q, want %q", got, "1")
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	long := strings.Repeat("é", maxLine)
	var got []string
	l := newLines(func(line string) { got = append(got, line) })
	fmt.Fprintf(l, "%s\r\nshort\x1b[31m\n", long)
	l.add(long)
	if len(got) != 3 || len(got[0]) > maxLine+8 || len(got[2]) > maxLine+8 || strings.Contains(got[1], "\x1b") {
		t.Errorf("got %d lines of %d, %q", len(got), len(got[0]), got[1])
	}
	for range maxLines / minLine {
		l.add("x")
	}
	fmt.Fprint(l, "unfinished")
	l.end()
	if last := got[len(got)-1]; len(got) > maxLines/minLine+2 || !strings.HasSuffix(last, " more lines are left out") {
		t.Errorf("got %d lines, the last %q", len(got), last)
	}
}
