package plugintest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/oneshot"
)

// examples are the one-shot tools of the repository, with an input that they accept.
func examples(t *testing.T) map[string]OneshotOptions {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.x": "// SPDX-License-Identifier: MIT\nTODO\n", "bad.x": "TODO: more\n\n\n\n\n\n// SPDX-License-Identifier: MIT\n", "pic.bin": "\x00\x01", "empty.x": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]OneshotOptions{
		"license-check": {ID: "bento.license", Function: "license.check", Dir: dir, Input: json.RawMessage(`{"paths":["good.x","pic.bin"]}`)},
		"prose":         {ID: "bento.prose", Function: "prose.parse", Dir: dir, Input: json.RawMessage(`{"output":"a.txt(1): odd\n","exit_code":1,"dish":"."}`)},
		"shell-todo":    {ID: "bento.todo", Function: "todo.count", Dir: dir},
	}
}

func exampleTool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(repository, "examples", "tools", name, name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestExampleTools: the examples pass every axis.
func TestExampleTools(t *testing.T) {
	need(t, "python3")
	for name, o := range examples(t) {
		o.Stderr, o.Handshake, o.Within, o.Exit, o.Capabilities = t.Output(), ample, ample, ample, []string{}
		r, err := RunOneshot(t.Context(), []string{exampleTool(t, name)}, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range r.Axes {
			if a.Status != Pass {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
}

// TestExampleToolAnswers checks the answers of the examples when they are called as a task calls them.
func TestExampleToolAnswers(t *testing.T) {
	need(t, "python3")
	for _, c := range []struct{ name, input, output, code, message string }{
		{"license-check", `{"paths":["good.x","pic.bin"]}`, `{"checked":2}`, "", ""},
		{"license-check", `{"paths":["good.x"],"header":"TODO"}`, `{"checked":1}`, "", ""},
		{"license-check", `{"paths":["good.x","bad.x","empty.x"]}`, "", "missing_header", "2 of 3 files lack 'SPDX-License-Identifier:':\nbad.x\nempty.x"},
		{"license-check", `{"paths":["bad.x"],"lines":9}`, `{"checked":1}`, "", ""},
		{"license-check", `{"paths":["none.x"]}`, "", "not_found", "none.x: No such file or directory"},
		{"license-check", `{"paths":"good.x"}`, "", "invalid_input", `paths is "good.x", required list`},
		{"prose", `{"output":"x\na.txt(12): odd\n(3): no\n","exit_code":0,"dish":"app"}`,
			`[{"file": "app/a.txt", "line": 12, "severity": "warning", "message": "odd", "rule": "prose", "source": "prose"}]`, "", ""},
		{"prose", `{"output":7}`, "", "invalid_input", "the input of a parser has output and dish, two texts"},
		{"shell-todo", `{"request_id":"x","tool_name":"y"}`, `{"todos":2}`, "", ""},
	} {
		o := examples(t)[c.name]
		tool, err := oneshot.Open(oneshot.Options{
			ID: o.ID, Argv: []string{exampleTool(t, c.name)}, Dir: o.Dir, Env: []string{"PATH=" + os.Getenv("PATH")},
			Timeout: ample, Handshake: ample, Teardown: ample,
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := tool.Call(t.Context(), adapters.ToolCall{Function: o.Function, Input: json.RawMessage(c.input), Root: o.Dir})
		var own *adapters.ToolError
		switch {
		case errors.As(err, &own):
			if own.Code != c.code || own.Message != c.message {
				t.Errorf("%s %s: got %v", c.name, c.input, own)
			}
		case err != nil || got.Output != c.output:
			t.Errorf("%s %s: got %s, %v", c.name, c.input, got.Output, err)
		}
	}
}
