package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// compile returns the schema of a part of a message: "#" or "#/$defs/result".
func compile(t *testing.T, m Message, part string) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(m.Schema())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urn:"+m.Name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urn:" + m.Name + part)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	return s
}

func validates(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.Validate(v)
}

// results are valid answers with every member, by method.
var results = map[string]string{
	wire.MethodInitialize: `{"protocol_version": 1, "adapter_id": "a", "display_name": "A", "fingerprint_files": ["a.toml"], "default_tasks": [{"name": "build", "run": "a", "inputs": ["**"], "outputs": ["out/**"],
		"rewrites": ["x"], "extra_inputs": ["//y"], "depends_on": ["^build"], "cwd": "d", "env": {"A": "1"}, "path": ["bin"], "script": false, "no_cache": true, "side_effects": false, "skips_private": true, "mutex": "m"}],
		"capabilities": {"detect": true}, "diagnostic_hooks": {"build": {"rerun": {"kind": "append_args", "args": ["-j"], "command": ""}, "parser": "gnu", "in_dish": true}}, "derived_paths": ["tmp/**"], "parallel": 2, "nested": false}`,
	wire.MethodDetect:       `{"matches": true}`,
	wire.MethodToolchain:    `{"tool": "zig", "version": "0.13", "file": "/w/.zigversion", "line": 1}`,
	wire.MethodFingerprint:  `"zig 0.13"`,
	wire.MethodResolved:     `{"fingerprint": "zig 0.13.0", "version": "0.13.0"}`,
	wire.MethodInstall:      `{"commands": [["zig", "fetch"]]}`,
	wire.MethodDiagnostics:  `{"diagnostics": [{"file": "a.zig", "line": 1, "col": 2, "end_line": 1, "end_col": 3, "severity": "error", "message": "m", "rule": "r", "source": "zig", "hint": "h"}]}`,
	wire.MethodTasks:        `{"tasks": [{"name": "build", "run": "zig build"}], "aggregate": false, "members": ["/w/m"], "reads": ["/w/build.zig"]}`,
	wire.MethodLinks:        `{"links": [{"dir": "/w/lib", "file": "/w/build.zig.zon", "line": 3, "dev": true, "private": true, "deep": false}], "provides": ["zig:lib"], "reads": ["/w/x"]}`,
	wire.MethodInstallScope: `{"dir": "/w", "files": ["/w/lock"], "made": ["deps", "/w/more"], "command": "zig fetch", "nothing": false, "reads": ["/w/lock"]}`,
}

// judged runs the check that bento and the suite make of a result.
func judged(method string, result []byte) error {
	switch method {
	case wire.MethodInitialize:
		_, _, err := ReadManifest(result, "a")
		return err
	case wire.MethodInstall:
		_, err := InstallCommands(result)
		return err
	}
	return Check(method, result)
}

// TestSchemasSayWhatIsChecked: a valid answer conforms to its schema. The schema refuses no answer that
// the check accepts. It refuses each answer that the check refuses for the type of a value.
func TestSchemasSayWhatIsChecked(t *testing.T) {
	t.Parallel()
	odd := []string{"null", "7", "-1", "1.5", `"text"`, "[]", "{}", "true", "[7]", `{"x": 7}`, "1e99"}
	n := 0
	for _, m := range Messages() {
		compile(t, m, "#")
		text, ok := results[m.Method]
		if !ok {
			continue
		}
		s := compile(t, m, "#/$defs/result")
		if err := errors.Join(judged(m.Method, []byte(text)), validates(t, s, text)); err != nil {
			t.Errorf("%s: %v", m.Method, err)
		}
		for _, mutant := range mutants(t, text, odd) {
			n++
			err, differs := judged(m.Method, []byte(mutant)), validates(t, s, mutant)
			var wrong *shape.Error
			switch {
			case m.Method == wire.MethodInstall && !strings.HasPrefix(mutant, "{"): // bento ignores it, clause 7.2
			case err == nil && differs != nil:
				t.Errorf("%s: %s: valid, and the schema says %v", m.Method, mutant, differs)
			case errors.As(err, &wrong) && isKind(wrong.Got) && differs == nil:
				t.Errorf("%s: %s: %v, and the schema accepts it", m.Method, mutant, err)
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d mutants", n)
	}
}

// isKind reports whether got describes a missing value or one of the wrong type.
func isKind(got string) bool {
	switch got {
	case "an object", "an array", "a string", "true or false", "null", "a number", "nothing":
		return true
	}
	return false
}

// mutants returns text with each of its values replaced by each odd one, and without each member.
func mutants(t *testing.T, text string, odd []string) (list []string) {
	t.Helper()
	var walk func(v any, put func(any) string)
	walk = func(v any, put func(any) string) {
		for _, o := range odd {
			list = append(list, put(json.RawMessage(o)))
		}
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				less := make(map[string]any)
				for other, value := range v {
					if other != name {
						less[other] = value
					}
				}
				list = append(list, put(less))
				walk(inner, func(x any) string {
					more := map[string]any{name: x}
					for other, value := range less {
						more[other] = value
					}
					return put(more)
				})
			}
		case []any:
			for i, inner := range v {
				walk(inner, func(x any) string {
					more := append([]any{}, v...)
					more[i] = x
					return put(more)
				})
			}
		}
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	walk(v, func(x any) string {
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	})
	return list
}

// TestMade: the paths that an install makes must be inside its directory. They become relative to it.
func TestMade(t *testing.T) {
	t.Parallel()
	for made, want := range map[string]string{"deps": "deps", "/w/deps": "deps", "/w": ".", "/wx/deps": "", "/tmp/x": "", "../x": "", "/w/../x": ""} {
		var scope adapters.Scope
		err := NewReader().Decode(wire.MethodInstallScope, []byte(fmt.Sprintf(`{"dir": "/w", "made": [%q]}`, made)), &scope)
		if want == "" && err == nil || want != "" && (err != nil || scope.Made[0] != want) {
			t.Errorf("%s: %v %v, want %q", made, scope.Made, err, want)
		}
	}
}

// TestFramesConform: whole frames conform to the schema of their message, and wrong frames do not.
func TestFramesConform(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, frame, want string }{
		{"detect", `{"jsonrpc": "2.0", "id": 2, "method": "detect", "params": {"dir": "/w"}}`, ""},
		{"detect", `{"jsonrpc": "2.0", "id": 2, "result": {"matches": true}}`, ""},
		{"detect", `{"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "m"}}`, ""},
		{"detect", `{"jsonrpc": "2.0", "id": "2", "result": {"matches": true}}`, "id"},
		{"detect", `{"jsonrpc": "2.0", "id": 2, "result": {"matches": 1}}`, "matches"},
		{"detect", `{"jsonrpc": "2.0", "id": 2, "method": "install", "params": {"dir": "/w"}}`, "method"},
		{"shutdown", `{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}`, ""},
		{"shutdown", `{"jsonrpc": "2.0", "id": 2, "result": {}}`, "result"},
		{"log", `{"jsonrpc": "2.0", "method": "notifications/log", "params": {"level": "info", "message": "m"}}`, ""},
		{"log", `{"jsonrpc": "2.0", "method": "notifications/log", "params": {"level": 1, "message": "m"}}`, "level"},
		{"addPackages", `{"jsonrpc": "2.0", "id": 2, "method": "add", "params": {"dish_dir": "/w", "dish_name": "w", "packages": ["p"]}}`, ""},
	} {
		var message Message
		for _, m := range Messages() {
			if m.Name == c.name {
				message = m
			}
		}
		err := validates(t, compile(t, message, "#"), c.frame)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(fmt.Sprintf("%#v", err.Error()), c.want) {
			t.Errorf("%s: %v, want %q", c.frame, err, c.want)
		}
	}
}
