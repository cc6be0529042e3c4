package manifest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

const good = `{
  "id": "acme-fmt", "version": "1.2.0", "entrypoint": "az_tool_execute", "wasm_file": "fmt.wasm",
  "wasm_sha256": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "capabilities": ["host:az_read_file", "az::az_http_get", "wasi:filesystem/read", "other"],
  "allowed_host_calls": ["az_log", "az_read_file", "az_env_get", "other"],
  "dependencies": [{"id": "acme-base", "version_req": "^1"}],
  "min_runtime_api": 1, "max_runtime_api": 2, "colour": "red"
}`

func TestReadModule(t *testing.T) {
	t.Parallel()
	m, err := ReadModule(ModuleFile, []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	want := &Module{
		ID: "acme-fmt", Version: "1.2.0", Entrypoint: "az_tool_execute", WasmFile: "fmt.wasm", WasmSHA256: strings.Repeat("a", 64),
		Capabilities: []string{"host:az_read_file", "az::az_http_get", "wasi:filesystem/read", "other"}, Hooks: []string{},
		MinRuntimeAPI: 1, MaxRuntimeAPI: 2, AllowedHostCalls: []string{"az_log", "az_read_file", "az_env_get", "other"},
		Dependencies: []Dependency{{"acme-base", "^1"}}, Unknown: []string{"colour"},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}

// TestModuleMessages changes one member of a good manifest at a time.
func TestModuleMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{`"acme-fmt"`, `"  "`, "4:9: plugin id cannot be empty"},
		{`"acme-fmt"`, `"Acme"`, "plugin id \"Acme\" is not valid"},
		{`"acme-fmt"`, `"a/../b"`, "is not valid"},
		{`"acme-fmt"`, `"a..b"`, "is not valid"},
		{`"acme-fmt"`, `7`, `"id" is a number, expected a string`},
		{`"1.2.0"`, `""`, "plugin version cannot be empty"},
		{`"1.2.0"`, `"../1"`, "plugin version \"../1\" is not valid"},
		{`"az_tool_execute"`, `" "`, "plugin entrypoint cannot be empty"},
		{`"fmt.wasm"`, `""`, "plugin wasm_file cannot be empty"},
		{`"fmt.wasm"`, `"fmt.so"`, "plugin wasm_file must end with .wasm"},
		{`"fmt.wasm"`, `"../fmt.wasm"`, "is not a plain file name"},
		{`"fmt.wasm"`, `"d\\fmt.wasm"`, "is not a plain file name"},
		{`"AAAA`, `"XAAA`, "plugin wasm_sha256 must be a 64-char hex digest"},
		{`"AAAA`, `"AAA`, "plugin wasm_sha256 must be a 64-char hex digest"},
		{`"min_runtime_api": 1`, `"min_runtime_api": 0`, "plugin min_runtime_api must be >= 1"},
		{`"max_runtime_api": 2`, `"max_runtime_api": 0`, "plugin max_runtime_api must be >= 1"},
		{`"min_runtime_api": 1`, `"min_runtime_api": 3`, "plugin runtime API range is invalid (min_runtime_api > max_runtime_api)"},
		{`"min_runtime_api": 1`, `"min_runtime_api": 1.5`, `"min_runtime_api" is 1.5, expected an integer`},
		{`"allowed_host_calls"`, `"Allowed_host_calls"`, "plugin allowed_host_calls is missing"},
		{`["az_log", "az_read_file", "az_env_get", "other"]`, `"az_log"`, `"allowed_host_calls" is a string, expected a list`},
		{`"acme-base"`, `""`, "dependency id cannot be empty"},
		{`"^1"`, `"one"`, `dependency "acme-base": version requirement "one" is not valid`},
		{`"colour": "red"`, `"signature": "abc"`, "plugin signature must be a 128-char hex Ed25519 signature"},
		{`{`, `[`, "expected"},
	} {
		text := strings.Replace("\n\n"+good, c.from, c.to, 1)
		if _, err := ReadModule(ModuleFile, []byte(text)); err == nil || !strings.Contains(fullText(err), c.want) {
			t.Errorf("%s -> %s: got %v, want %q", c.from, c.to, err, c.want)
		}
	}
	if _, err := ReadModule(ModuleFile, make([]byte, MaxSize+1)); err == nil || !strings.Contains(err.Error(), "expected at most") {
		t.Errorf("an overlong manifest: %v", err)
	}
}

// fullText returns all problems of an error.
func fullText(err error) string {
	var problems diagnostics.Problems
	if !errors.As(err, &problems) {
		return err.Error()
	}
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + " " + p.Hint + "\n")
	}
	return b.String()
}

func TestCompatible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		least, most int
		want        string
	}{
		{1, 2, ""}, {2, 2, ""}, {2, 9, ""},
		{1, 1, "plugin runtime API compatibility failed: current=2, supported=1..=1 (a 1) upgrade to SDK v2"},
		{3, 4, "current=2, supported=3..=4 (a 1) install a newer bento"},
	} {
		m := &Module{ID: "a", Version: "1", MinRuntimeAPI: c.least, MaxRuntimeAPI: c.most}
		err := m.Compatible()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(strings.ReplaceAll(fullText(err), "\n", " "), c.want)) {
			t.Errorf("%d..%d: got %v, want %q", c.least, c.most, err, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	ascending := []string{"nightly", "v1", "0.2.0", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0", "1.0.0+a", "1.0.0+b"}
	for i, a := range ascending {
		for j, b := range ascending {
			got, want := Compare(a, b), cmp2(i, j)
			if got != want {
				t.Errorf("Compare(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func cmp2(i, j int) int {
	switch {
	case i < j:
		return -1
	case i > j:
		return 1
	}
	return 0
}

// TestRequirements checks the examples of Cargo's reference.
func TestRequirements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ req, yes, no string }{
		{"1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0"},
		{"1.2", "1.2.0 1.9.9", "1.1.9 2.0.0"},
		{"1", "1.0.0 1.9.9", "0.9.0 2.0.0"},
		{"0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0"},
		{"0.0.3", "0.0.3", "0.0.4 0.0.2"},
		{"0.0", "0.0.0 0.0.9", "0.1.0"},
		{"0", "0.0.0 0.9.9", "1.0.0"},
		{"~1.2.3", "1.2.3 1.2.9", "1.3.0"},
		{"~1.2", "1.2.0 1.2.9", "1.3.0 1.1.0"},
		{"~1", "1.0.0 1.9.0", "2.0.0"},
		{"*", "0.0.1 9.9.9", ""},
		{"1.*", "1.0.0 1.9.9", "2.0.0"},
		{"1.2.*", "1.2.0 1.2.9", "1.3.0"},
		{">=1.2.0", "1.2.0 2.0.0", "1.1.9"},
		{">1", "2.0.0", "1.0.0 1.9.9"},
		{"<2", "1.9.9", "2.0.0"},
		{"=1.2.3", "1.2.3", "1.2.4"},
		{">=1.2, <1.5", "1.2.0 1.4.9", "1.5.0 1.1.0"},
	} {
		r, err := ParseRequirement(c.req)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, v := range strings.Fields(c.yes) {
			if !r.Accepts(v) {
				t.Errorf("%q does not accept %s", c.req, v)
			}
		}
		for _, v := range strings.Fields(c.no) {
			if r.Accepts(v) {
				t.Errorf("%q accepts %s", c.req, v)
			}
		}
	}
	for _, bad := range []string{"", "1 || 2", "1 2", "one", ">=", "1.2.3.4", "^^1", "1,,2", strings.Repeat("1,", 200), "1 - 2", "!=1"} {
		if _, err := ParseRequirement(bad); err == nil {
			t.Errorf("%q is no requirement of Cargo", bad)
		}
	}
}

func TestParseReference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, id, accepts, refuses string }{
		{"acme-fmt", "acme-fmt", "nightly", "-"},
		{"acme-fmt@1.2", "acme-fmt", "1.3.0", "2.0.0"},
		{"acme-fmt@nightly", "acme-fmt", "nightly", "1.0.0"},
		{"Acme", "", "", ""}, {"a@", "", "", ""}, {"a@../b", "", "", ""}, {"", "", "", ""},
	} {
		id, want, err := ParseReference(c.text)
		if c.id == "" {
			if err == nil {
				t.Errorf("%q is accepted", c.text)
			}
		} else if err != nil || id != c.id || !want.Accepts(c.accepts) || c.refuses != "-" && want.Accepts(c.refuses) {
			t.Errorf("%q: got %q %q %v", c.text, id, want, err)
		}
	}
}
