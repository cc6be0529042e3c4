package answer

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// FuzzManifest checks that an accepted manifest keeps to the limits.
func FuzzManifest(f *testing.F) {
	const plain = `{"protocol_version":1,"adapter_id":"zig","display_name":"Zig","fingerprint_files":["build.zig"],"default_tasks":[{"name":"build","run":"true"}]}`
	f.Add(plain)
	f.Add(strings.Replace(plain, "{", `{"capabilities":{"detect":true,"tasks":true},"derived_paths":["zig-out/**"],"exec":["zig","version"],"parallel":8,`+
		`"diagnostic_hooks":{"lint":{"rerun":{"kind":"append_args","args":["--json"]},"parser":"plugin"}},`, 1))
	f.Add(strings.Replace(plain, `"run":"true"`, `"run":"t","inputs":["!//a/**"],"outputs":["{a,b}"],"cwd":"x","env":{"A":"b"},"path":["bin"],"depends_on":["^build"]`, 1))
	f.Fuzz(func(t *testing.T, raw string) {
		m, _, err := ReadManifest([]byte(raw), "zig")
		if err != nil {
			return
		}
		if m.AdapterID != "zig" || m.ProtocolVersion != 1 || !isName(m.DisplayName) || len(m.DefaultTasks) > maxTasks {
			t.Fatalf("%q: accepted %+v", raw, m)
		}
		for _, task := range m.DefaultTasks {
			if !isName(task.Name) || task.Run == "" || len(task.Run) > maxText || climbs(task.Cwd) || filepath.IsAbs(task.Cwd) {
				t.Fatalf("%q: accepted %+v", raw, task)
			}
			for _, glob := range task.Outputs {
				if strings.HasPrefix(glob, "/") || climbs(glob) {
					t.Fatalf("%q: accepted the output %q", raw, glob)
				}
			}
		}
	})
}

// FuzzFindings checks that each finding has a known severity and a source, and that its file is in the
// workspace.
func FuzzFindings(f *testing.F) {
	f.Add(`{"diagnostics":[{"file":"/w/a","line":1,"severity":"error","message":"m","source":"s"},{"file":"../b","line":0,"severity":"x","message":"\u0000","source":""}]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var d wire.Diagnosed
		if NewReader().Decode(wire.MethodDiagnostics, []byte(raw), &d) != nil {
			return
		}
		for _, finding := range Findings(d.Diagnostics, "/w", "zig") {
			if finding.File != "" && (!filepath.IsLocal(finding.File) || finding.Line < 1) || finding.Source == "" {
				t.Fatalf("%q: %+v", raw, finding)
			}
			switch finding.Severity {
			case diagnostics.Error, diagnostics.Warning, diagnostics.Info, diagnostics.Hint:
			default:
				t.Fatalf("%q: %+v", raw, finding)
			}
		}
	})
}

// FuzzInstallError checks that bento prints any error of an install as plain text.
func FuzzInstallError(f *testing.F) {
	f.Add("rebar3 failed", `{"exit_status":1,"command":"rebar3"}`)
	f.Add("\x1b[2J", `{"exit_status":"x"}`)
	f.Fuzz(func(t *testing.T, message, data string) {
		e := ToolError("zig", wire.MethodInstall, &wire.RPCError{Code: wire.CodeInstallFailed, Message: message, Data: []byte(data)})
		var install *adapters.InstallError
		if !errors.As(e, &install) {
			t.Fatalf("%T", e)
		}
		for _, text := range []string{install.Detail, install.Command} {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\x07\r") {
				t.Fatalf("%q %q: %q", message, data, text)
			}
		}
		_ = e.Error()
	})
}

// FuzzInstallCommands checks that accepted commands can be started.
func FuzzInstallCommands(f *testing.F) {
	for _, seed := range []string{`null`, `{"commands":[["zig","build","--fetch"],["./zigw"]]}`, `{"commands":[[]]}`, `{"commands":[["a\u0000"]]}`, `{"commands":{}}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, result []byte) {
		commands, err := InstallCommands(result)
		if err != nil || !json.Valid(result) {
			return
		}
		if len(commands) > maxCommands {
			t.Errorf("%d commands", len(commands))
		}
		for _, argv := range commands {
			if len(argv) == 0 || argv[0] == "" || strings.Contains(strings.Join(argv, ""), "\x00") {
				t.Errorf("%q is accepted", argv)
			}
		}
	})
}
