package config

import (
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Tools is the table [tools].
type Tools struct {
	Disable   []Text // ids of tools that are never used
	Allowlist []Text // when Restrict is set, ids of the only tools of PATH that are used
	Restrict  bool
	ByID      map[string]Tool // [tools.<id>]
	Locked    map[string]Text // by id, the digests that LockFile pins
}

// PinOf returns the digest that a tool on PATH has to have; the text is empty for any.
func (t *Tools) PinOf(id string) Text {
	if own := t.ByID[id].SHA256; own.Text != "" {
		return own
	}
	return t.Locked[id]
}

// Tool is the table [tools.<id>]. At most one of Command, Wasm and Package is given; with none, the
// table has the settings of a tool on PATH.
type Tool struct {
	Pos     Pos // of the table
	Command []Text
	Wasm    Text // path relative to the root
	Package Text // "acme-fmt@1.2"

	Capabilities []string // granted
	AllowedHosts []string // that a module may fetch from
	Limits       ToolLimits
	Env          []string          // names: passed, and ingredients of keys
	SetEnv       map[string]string // values: set, and ingredients of keys
	Timeout      time.Duration     // of one call; 0: that of the contract
	SHA256       Text              // of the executable or module, lower case hex; empty when not pinned
}

// Declares reports whether the table says what the tool is.
func (t *Tool) Declares() bool {
	return len(t.Command) > 0 || t.Wasm.Text != "" || t.Package.Text != ""
}

// ToolLimits bound a module; 0 is the default of the contract.
type ToolLimits struct {
	Memory, Module, Output int64 // bytes
	Fuel                   int64
}

// toolTable is the schema of [tools.<id>].
type toolTable struct {
	Command      *tomlfile.Value       `toml:"command"`
	Wasm         tomlfile.At[string]   `toml:"wasm"`
	Package      tomlfile.At[string]   `toml:"package"`
	Capabilities []tomlfile.At[string] `toml:"capabilities"`
	AllowedHosts []tomlfile.At[string] `toml:"allowed_hosts"`
	Limits       toolLimitsTable       `toml:"limits"`
	Env          envVars               `toml:"env"`
	Timeout      duration              `toml:"timeout"`
	SHA256       tomlfile.At[string]   `toml:"sha256"`
}

// toolLimitsTable is the schema of limits.
type toolLimitsTable struct {
	Memory size             `toml:"memory"`
	Module size             `toml:"module"`
	Output size             `toml:"output"`
	Fuel   tomlfile.At[int] `toml:"fuel"`
}

// ValidToolID reports whether id is a valid id of a tool: [a-z0-9][a-z0-9._-]*, at most 100 bytes,
// without "..".
func ValidToolID(id string) bool {
	if id == "" || len(id) > 100 || strings.ContainsRune("._-", rune(id[0])) || strings.Contains(id, "..") {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// UnmarshalTOML reads the fixed keys, and the tables of single tools.
func (t *Tools) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Expected("a table")}
	}
	for _, name := range v.Keys() {
		child := v.Child(name)
		switch name {
		case "disable":
			problems = append(problems, toolIDs(child, &t.Disable)...)
		case "allowlist":
			t.Restrict = true
			problems = append(problems, toolIDs(child, &t.Allowlist)...)
		default:
			problems = append(problems, t.tool(child)...)
		}
	}
	return problems
}

func (t *Tools) tool(v *tomlfile.Value) []diagnostics.Diagnostic {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Unknown([]string{"disable", "allowlist"})}
	}
	var raw toolTable
	problems := badToolID(v.KeyPos(), v.Name())
	problems = append(problems, v.Decode(&raw)...)
	tool := Tool{
		Pos: v.KeyPos(), Wasm: Text{raw.Wasm.Value, raw.Wasm.Pos}, Package: Text{raw.Package.Value, raw.Package.Pos},
		Limits: ToolLimits{Memory: int64(raw.Limits.Memory), Module: int64(raw.Limits.Module), Output: int64(raw.Limits.Output), Fuel: int64(raw.Limits.Fuel.Value)},
		Env:    raw.Env.Names, SetEnv: raw.Env.Set, Timeout: time.Duration(raw.Timeout),
	}
	var more []diagnostics.Diagnostic
	tool.SHA256, more = digestOf(raw.SHA256)
	problems = append(problems, more...)
	if raw.Command != nil {
		problems = append(problems, tool.setCommand(raw.Command)...)
	}
	problems = append(problems, tool.setWasm(raw.Wasm)...)
	problems = append(problems, checkPackage(raw.Package)...)
	problems = append(problems, checkSources(v, &raw)...)
	tool.Capabilities, more = words("capability", raw.Capabilities, plainWord)
	problems = append(problems, more...)
	tool.AllowedHosts, more = words("host", raw.AllowedHosts, hostName)
	problems = append(problems, more...)
	if f := raw.Limits.Fuel; f.Given && f.Value <= 0 {
		problems = append(problems, f.Pos.Error(RuleInvalid, "limits.fuel is %d, expected a number above 0", f.Value))
	}
	if t.ByID == nil {
		t.ByID = make(map[string]Tool)
	}
	t.ByID[v.Name()] = tool
	return problems
}

// setCommand sets the words of a command, which takes no shell.
func (t *Tool) setCommand(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	var raw []tomlfile.At[string]
	if v.Kind() != tomlfile.Array {
		return []diagnostics.Diagnostic{v.Expected(`an array of words, ["python3", "tools/check.py"]`)}
	}
	if problems = v.Decode(&raw); len(problems) > 0 {
		return problems
	}
	for _, w := range raw {
		if strings.ContainsRune(w.Value, 0) {
			problems = append(problems, w.Pos.Error(RuleInvalid, "%s holds a NUL byte", v.Path()))
		}
		t.Command = append(t.Command, Text{w.Value, w.Pos})
	}
	if len(raw) == 0 || strings.TrimSpace(raw[0].Value) == "" {
		problems = append(problems, v.Pos().Error(RuleInvalid, "%s is empty, expected a program and its arguments", v.Path()))
	}
	return problems
}

// setWasm checks the path of a module.
func (t *Tool) setWasm(file tomlfile.At[string]) []diagnostics.Diagnostic {
	if !file.Given {
		return nil
	}
	clean, why := cleanDir(file.Value)
	if why == "" && clean == "." {
		why = "is a directory, expected a file"
	}
	if why != "" {
		return []diagnostics.Diagnostic{file.Pos.Error(rulePath, "wasm: path %q %s", file.Value, why)}
	}
	if path.Ext(clean) != ".wasm" {
		d := file.Pos.Error(rulePath, "wasm: %q does not end in .wasm, expected a WebAssembly module", file.Value)
		d.Hint = `a program is started with command = ["` + file.Value + `"]`
		return []diagnostics.Diagnostic{d}
	}
	t.Wasm.Text = clean
	return nil
}

func checkPackage(name tomlfile.At[string]) []diagnostics.Diagnostic {
	if !name.Given {
		return nil
	}
	id, version, hasVersion := strings.Cut(name.Value, "@")
	if ValidToolID(id) && (!hasVersion || version != "" && !strings.ContainsAny(version, "/\\ @") && !hasControl(version) && !strings.Contains(version, "..")) {
		return nil
	}
	return []diagnostics.Diagnostic{name.Pos.Error(RuleInvalid, `package %q is no package, expected "id" or "id@version" such as "acme-fmt@1.2"`, name.Value)}
}

// checkSources reports a tool of several kinds.
func checkSources(v *tomlfile.Value, t *toolTable) []diagnostics.Diagnostic {
	var given []string
	for _, key := range []string{"command", "wasm", "package"} {
		if v.Child(key) != nil {
			given = append(given, key)
		}
	}
	if len(given) > 1 {
		return []diagnostics.Diagnostic{v.KeyPos().Error(RuleInvalid, "%s has %s, expected exactly one of command, wasm and package", v.Path(), strings.Join(given, " and "))}
	}
	if len(t.AllowedHosts) > 0 && t.Command != nil {
		return []diagnostics.Diagnostic{v.Child("allowed_hosts").KeyPos().Error(RuleInvalid, "allowed_hosts applies to modules: nothing keeps a program from the network")}
	}
	return nil
}

// words returns a list of words, each of them once and as check wants it.
func words(kind string, list []tomlfile.At[string], check func(string) string) (out []string, problems []diagnostics.Diagnostic) {
	for _, w := range list {
		if !w.Given {
			continue
		}
		switch why := check(w.Value); {
		case why != "":
			problems = append(problems, w.Pos.Error(RuleInvalid, "%q is no %s: %s", w.Value, kind, why))
		case slices.Contains(out, w.Value):
			problems = append(problems, w.Pos.Error(RuleDuplicate, "the %s %q is named twice", kind, w.Value))
		default:
			out = append(out, w.Value)
		}
	}
	return out, problems
}

func plainWord(s string) string {
	if s == "" || strings.TrimSpace(s) != s || hasControl(s) {
		return "expected a word without blanks around it, such as fs.read"
	}
	return ""
}

func hostName(s string) string {
	host := s
	if name, port, err := net.SplitHostPort(s); err == nil && port != "" && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	if host == "" || net.ParseIP(host) == nil && strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		return `expected a name such as "example.org"`
	}
	return ""
}

// toolIDs reads a list of ids.
func toolIDs(v *tomlfile.Value, into *[]Text) []diagnostics.Diagnostic {
	var raw []tomlfile.At[string]
	problems := v.Decode(&raw)
	for _, id := range raw {
		if id.Given {
			problems = append(problems, badToolID(id.Pos, id.Value)...)
			*into = append(*into, Text{Text: id.Value, Pos: id.Pos})
		}
	}
	return problems
}

func badToolID(pos Pos, id string) []diagnostics.Diagnostic {
	rest, whole := strings.CutPrefix(id, "bento-tool-")
	if ValidToolID(id) && !whole {
		return nil
	}
	d := pos.Error(RuleInvalid, `%q is no id of a tool, expected [a-z0-9][a-z0-9._-]* of at most 100 bytes, without ".."`, id)
	if whole {
		d.Hint = `the id is what follows "bento-tool-": "` + strings.TrimSuffix(rest, ".wasm") + `"`
	} else if strings.Contains(id, ":") {
		d.Hint = "the function follows in the task: tool = \"" + id + "\""
	}
	return []diagnostics.Diagnostic{d}
}
