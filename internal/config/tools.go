package config

import (
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Tools is the table [tools].
type Tools struct {
	Disable   []dish.Text // ids of tools that are never used
	Allowlist []dish.Text // when Restrict is set, ids of the only tools of PATH that are used
	Restrict  bool
	ByID      map[string]Tool // [tools.<id>]
	// HashPolicy is one of the policies, "" if bento.toml has none. See Workspace.HashPolicy.
	HashPolicy string

	// Dir and DevDir are directories of packages, "" for the defaults. See PackageDirs.
	Dir, DevDir string
	Locked      map[string]dish.Text // by id, the digests that LockFile pins
}

// PinOf returns the digest that a tool on PATH must have; the text is empty for any digest.
func (t *Tools) PinOf(id string) dish.Text {
	if own := t.ByID[id].SHA256; own.Text != "" {
		return own
	}
	return t.Locked[id]
}

// Tool is the table [tools.<id>]. At most one of Command, Wasm and Package is given; with none, the
// table has the settings of a tool on PATH.
type Tool struct {
	Pos     diagnostics.Pos // of the table
	Command []dish.Text
	Wasm    dish.Text // path relative to the root
	Package dish.Text // "acme-fmt@1.2"

	Capabilities []string // granted
	AllowedHosts []string // that a module may fetch from
	Limits       ToolLimits
	Env          []string          // names: passed, and ingredients of keys
	SetEnv       map[string]string // values: set, and ingredients of keys
	Timeout      time.Duration     // of one call; 0: that of the contract
	Launch       time.Duration     // of a program's start; likewise
	Handshake    time.Duration     // of its handshake; likewise
	Teardown     time.Duration     // from its response to its exit; likewise
	SHA256       dish.Text         // of the executable or module, lower case hex; empty when not pinned
	Sandbox      dish.Text         // of a one-shot program, as that of Plugin; empty when not given
	Read         []dish.Text       // further paths that it may read when it is confined
}

// Declares reports whether the table declares the tool itself.
func (t *Tool) Declares() bool {
	return len(t.Command) > 0 || t.Wasm.Text != "" || t.Package.Text != ""
}

// ToolLimits bound a module; 0 is the default of the contract.
type ToolLimits struct {
	Memory, Module, Output int64 // bytes
	Fuel                   int64
}

// toolsTable is the schema of the table.
type toolsTable struct {
	Disable   []toolID                `toml:"disable" doc:"tools that are never used"`
	Allowlist *[]toolID               `toml:"allowlist" doc:"the only tools of PATH that are used"`
	Dir       tomlfile.At[string]     `toml:"dir" default:"tools/wasm" doc:"the directory with the packages of modules that the workspace contains"`
	DevDir    tomlfile.At[string]     `toml:"dev_dir" default:"plugins" doc:"the directory with packages under development, which go before all others"`
	Hash      choice[hashWords]       `toml:"module_hash_policy" default:"warn" doc:"what happens if a module in one of these directories does not have the digest of its manifest: warn, enforce (it is not called) or skip (it is not compared)"`
	ByID      tomlfile.Map[toolTable] `toml:"*" doc:"the tool with this id: what it is, or the settings of one on PATH"`
}

// toolTable is the schema of [tools.<id>].
type toolTable struct {
	Command      toolCommand           `toml:"command" doc:"the program and its arguments, started for each call in the workspace's root"`
	Wasm         tomlfile.At[string]   `toml:"wasm" doc:"a WebAssembly module, relative to the workspace"`
	Package      tomlfile.At[string]   `toml:"package" doc:"an installed package, \"acme-fmt@1.2\""`
	Capabilities []tomlfile.At[string] `toml:"capabilities" doc:"what the tool may ask for"`
	AllowedHosts []tomlfile.At[string] `toml:"allowed_hosts" doc:"hosts that a module may fetch from"`
	Limits       toolLimitsTable       `toml:"limits" doc:"the bounds of a module"`
	Env          envVars               `toml:"env" doc:"variables that the tool sees, and part of the key"`
	Timeout      duration              `toml:"timeout" doc:"of one call"`
	Launch       duration              `toml:"launch" default:"2s" doc:"how long the start of a program may take"`
	Handshake    duration              `toml:"handshake" default:"2s" doc:"how long a program may take to answer the handshake"`
	Teardown     duration              `toml:"teardown" default:"500ms" doc:"how long a program may take to exit after its response"`
	SHA256       tomlfile.At[string]   `toml:"sha256" doc:"the digest of the only executable or module that may run"`
	Sandbox      choice[sandboxWords]  `toml:"sandbox" doc:"how this program is confined, in place of the value for plugins"`
	Read         []place               `toml:"read" doc:"paths that the program may also read when it is confined: absolute, or ~/…"`
}

// toolLimitsTable is the schema of limits.
type toolLimitsTable struct {
	Memory size             `toml:"memory" doc:"memory of the module"`
	Module size             `toml:"module" doc:"the file of the module"`
	Output size             `toml:"output" doc:"its answer"`
	Fuel   tomlfile.At[int] `toml:"fuel" doc:"accepted, without effect: the timeout bounds a call"`
}

// ValidToolID reports whether id is a valid id of a tool: [a-z0-9][a-z0-9._-]*, at most 100 bytes,
// without "..".
func ValidToolID(id string) bool { return validID(id, 100) }

// validID is ValidToolID with at most most bytes.
func validID(id string, most int) bool {
	if id == "" || len(id) > most || strings.ContainsRune("._-", rune(id[0])) || strings.Contains(id, "..") {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// tools returns the settings.
func (t *toolsTable) tools() (Tools, []diagnostics.Diagnostic) {
	tools := Tools{Disable: idsOf(t.Disable), HashPolicy: t.Hash.At.Value}
	if t.Allowlist != nil {
		tools.Restrict, tools.Allowlist = true, idsOf(*t.Allowlist)
	}
	var problems, more []diagnostics.Diagnostic
	tools.Dir, problems = packagesIn("dir", t.Dir)
	tools.DevDir, more = packagesIn("dev_dir", t.DevDir)
	problems = append(problems, more...)
	for i := range t.ByID {
		id, raw := t.ByID[i].Name, &t.ByID[i].Value
		tool, more := raw.tool(id, t.ByID[i].Pos)
		problems = append(append(problems, badToolID(tool.Pos, id)...), more...)
		if tools.ByID == nil {
			tools.ByID = make(map[string]Tool)
		}
		tools.ByID[id] = tool
	}
	return tools, problems
}

func (t *toolTable) tool(id string, pos diagnostics.Pos) (Tool, []diagnostics.Diagnostic) {
	tool := Tool{
		Pos: pos, Command: t.Command, Wasm: textOf(t.Wasm), Package: textOf(t.Package),
		Limits: ToolLimits{Memory: int64(t.Limits.Memory), Module: int64(t.Limits.Module), Output: int64(t.Limits.Output), Fuel: int64(t.Limits.Fuel.Value)},
		Env:    t.Env.Names, SetEnv: t.Env.Set, Timeout: time.Duration(t.Timeout), Launch: time.Duration(t.Launch), Handshake: time.Duration(t.Handshake), Teardown: time.Duration(t.Teardown),
		Sandbox: textOf(t.Sandbox.At), Read: placesOf(t.Read),
	}
	var more []diagnostics.Diagnostic
	tool.SHA256, more = digestOf(t.SHA256)
	problems := append(more, tool.setWasm(t.Wasm)...)
	problems = append(problems, checkPackage(t.Package)...)
	problems = append(problems, t.checkSources(id, pos)...)
	tool.Capabilities, more = words("capability", t.Capabilities, plainWord)
	problems = append(problems, more...)
	tool.AllowedHosts, more = words("host", t.AllowedHosts, hostName)
	problems = append(problems, more...)
	if f := t.Limits.Fuel; f.Given && f.Value <= 0 {
		problems = append(problems, f.Pos.Error(diagnostics.RuleInvalid, "limits.fuel is %d, expected a number above 0", f.Value))
	}
	return tool, problems
}

// toolCommand is the words of a command, which takes no shell.
type toolCommand []dish.Text

// Shape returns the schema.
func (*toolCommand) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "array", "items": tomlfile.Schema{"type": "string"}, "minItems": 1}
}

// UnmarshalTOML reads and checks the words.
func (c *toolCommand) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	var raw []tomlfile.At[string]
	if v.Kind() != tomlfile.Array {
		return []diagnostics.Diagnostic{v.Expected(`an array of words, ["python3", "tools/check.py"]`)}
	}
	if problems = v.Decode(&raw); len(problems) > 0 {
		return problems
	}
	for _, w := range raw {
		if strings.ContainsRune(w.Value, 0) {
			problems = append(problems, w.Pos.Error(diagnostics.RuleInvalid, "%s holds a NUL byte", v.Path()))
		}
		*c = append(*c, dish.Text{Text: w.Value, Pos: w.Pos})
	}
	if len(raw) == 0 || strings.TrimSpace(raw[0].Value) == "" {
		problems = append(problems, v.Pos().Error(diagnostics.RuleInvalid, "%s is empty, expected a program and its arguments", v.Path()))
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
		return []diagnostics.Diagnostic{file.Pos.Error(rulePath, "wasm: %q does not end in .wasm, expected a WebAssembly module", file.Value).
			WithHint(`a program is started with command = ["` + file.Value + `"]`)}
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
	return []diagnostics.Diagnostic{name.Pos.Error(diagnostics.RuleInvalid, `package %q is no package, expected "id" or "id@version" such as "acme-fmt@1.2"`, name.Value)}
}

// checkSources reports a tool of several kinds.
func (t *toolTable) checkSources(id string, pos diagnostics.Pos) []diagnostics.Diagnostic {
	var given []string
	if len(t.Command) > 0 {
		given = append(given, "command")
	}
	if t.Wasm.Given {
		given = append(given, "wasm")
	}
	if t.Package.Given {
		given = append(given, "package")
	}
	if len(given) > 1 {
		return []diagnostics.Diagnostic{pos.Error(diagnostics.RuleInvalid, "tools.%s has %s, expected exactly one of command, wasm and package", id, strings.Join(given, " and "))}
	}
	if len(t.AllowedHosts) > 0 && len(t.Command) > 0 {
		return []diagnostics.Diagnostic{t.AllowedHosts[0].Pos.Error(diagnostics.RuleInvalid, "allowed_hosts applies to modules: nothing keeps a program from the network")}
	}
	return nil
}

// words returns the valid words of a list, each once. It reports duplicates, and words for which check returns a
// reason.
func words(kind string, list []tomlfile.At[string], check func(string) string) (out []string, problems []diagnostics.Diagnostic) {
	for _, w := range list {
		if !w.Given {
			continue
		}
		switch why := check(w.Value); {
		case why != "":
			problems = append(problems, w.Pos.Error(diagnostics.RuleInvalid, "%q is no %s: %s", w.Value, kind, why))
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

// toolID is an id, empty when it is no string.
type toolID dish.Text

// Shape returns the schema.
func (*toolID) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "string"} }

// UnmarshalTOML reads and checks an id.
func (t *toolID) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	id, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a string")}
	}
	*t = toolID{Text: id, Pos: v.Pos()}
	return badToolID(v.Pos(), id)
}

func badToolID(pos diagnostics.Pos, id string) []diagnostics.Diagnostic {
	rest, whole := strings.CutPrefix(id, "bento-tool-")
	if ValidToolID(id) && !whole {
		return nil
	}
	d := pos.Error(diagnostics.RuleInvalid, `%q is no id of a tool, expected [a-z0-9][a-z0-9._-]* of at most 100 bytes, without ".."`, id)
	if whole {
		d.Hint = `the id is what follows "bento-tool-": "` + strings.TrimSuffix(rest, ".wasm") + `"`
	} else if strings.Contains(id, ":") {
		d.Hint = "the function follows in the task: tool = \"" + id + "\""
	}
	return []diagnostics.Diagnostic{d}
}
