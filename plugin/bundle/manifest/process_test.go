package manifest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goodProcess = `{
  "plugin_id": "acme.report", "plugin_version": "0.1.0", "protocol_version": "rterm.plugin.v1",
  "capabilities": ["fs.read"],
  "process": {"command": "bin/report", "args": ["--stdio"], "dir": "work", "env": {"A": "1"}},
  "tools": [
    {"name": "report.make", "capabilities": ["fs.read"], "input_schema": {"type": "object", "n": [1, "é", null]}, "mutating": true},
    {"name": "report.check", "approval_tier": "moderate", "target_kind": "widget"}
  ]
}`

func TestReadProcess(t *testing.T) {
	t.Parallel()
	got, err := ReadProcess(ProcessFile, []byte(goodProcess))
	if err != nil {
		t.Fatal(err)
	}
	anything := json.RawMessage(anyObject)
	want := &Process{
		ID: "acme.report", DisplayName: "acme.report", Version: "0.1.0", Capabilities: []string{"fs.read"},
		Command: "bin/report", Args: []string{"--stdio"}, Dir: "work", Env: map[string]string{"A": "1"},
		Tools: []Function{
			{Name: "report.make", Capabilities: []string{"fs.read"}, InputSchema: json.RawMessage(`{"type":"object","n":[1,"é",null]}`), OutputSchema: anything, ApprovalTier: "safe", Mutating: true, TargetKind: "workspace"},
			{Name: "report.check", Capabilities: []string{}, InputSchema: anything, OutputSchema: anything, ApprovalTier: "moderate", TargetKind: "widget"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProcessMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{`"acme.report"`, `".."`, `plugin_id ".." is not valid`},
		{`"acme.report"`, `"a/b"`, "is not valid"},
		{`"0.1.0"`, `""`, `plugin_version "" is not valid`},
		{`rterm.plugin.v1`, `rterm.plugin.v2`, `protocol_version "rterm.plugin.v2" is not supported, expected "rterm.plugin.v1"`},
		{`"process":`, `"Process":`, "process is missing"},
		{`"bin/report"`, `" "`, "process.command cannot be empty"},
		{`"bin/report"`, `"../report"`, `process.command "../report" leads out of the bundle`},
		{`"bin/report"`, `"bin/../../report"`, "leads out of the bundle"},
		{`"work"`, `".."`, `process.dir ".." leads out of the bundle`},
		{`"--stdio"`, `"\u0000"`, "NUL"},
		{`"A": "1"`, `"A": 1`, `"A" is a number, expected a string`},
		{`"A": "1"`, `"A=B": "1"`, "is no name of a variable"},
		{`"report.check"`, `"report.make"`, `tool "report.make" occurs twice`},
		{`"report.check"`, `""`, "the name of a tool cannot be empty"},
		{`"moderate"`, `"wild"`, `approval_tier "wild" is not known, expected one of safe, moderate, dangerous, destructive`},
		{`"widget"`, `"x"`, `target_kind "x" is not known`},
		{`"capabilities": ["fs.read"], "input`, `"capabilities": ["fs.write"], "input`, `capability "fs.write" is not among those of the plugin`},
		{`{"type": "object", "n": [1, "é", null]}`, `"{"`, "input_schema is no JSON Schema"},
		{`"tools": [`, `"tools": [], "x": [`, "tools is empty"},
	} {
		text := strings.Replace(goodProcess, c.from, c.to, 1)
		if _, err := ReadProcess(ProcessFile, []byte(text)); err == nil || !strings.Contains(fullText(err), c.want) {
			t.Errorf("%s -> %s: got %v, want %q", c.from, c.to, err, c.want)
		}
	}
}
