package wasm

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// The host functions of the import module az.
const (
	azLog      = "az_log"
	azEnvGet   = "az_env_get"
	azReadFile = "az_read_file"
	azHTTPGet  = "az_http_get"
)

var hostFunctions = map[string]string{
	azLog:      "i32,i32,i32->",
	azEnvGet:   "i32,i32->i64",
	azReadFile: "i32,i32->i64",
	azHTTPGet:  "i32,i32->i64",
}

const (
	wasiRead      = "wasi:filesystem/read"
	wasiReadWrite = "wasi:filesystem/read-write"
)

// always are granted to every module and declared by each.
var always = []string{azLog, "wasi:random", "wasi:clock"}

// grant is what a module may do: what its manifest declares, in both of its lists, and what it is
// granted.
type grant struct {
	declared map[string]bool // nil: whatever it imports
	granted  map[string]bool
	hosts    map[string]bool // host:port
}

// capability returns the one name of a capability that has several spellings.
func capability(name string) string {
	for _, prefix := range []string{"host:", "az::"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// granted computes the grant. A manifest that declares more than it is granted is refused as a
// whole: a module that lacks what it needs would fail later and elsewhere.
func (t *Tool) granted() (grant, error) {
	g := grant{granted: map[string]bool{}, hosts: map[string]bool{}}
	for _, c := range slices.Concat(always, t.o.Capabilities) {
		c = capability(c)
		g.granted[c] = true
		if c == wasiReadWrite {
			g.granted[wasiRead] = true
		}
	}
	if t.o.ReadWorkspace {
		g.granted[wasiRead] = true
	}
	if g.granted[wasiRead] {
		g.granted[azReadFile] = true
	}
	for _, h := range t.o.Hosts {
		if err := g.allow(h); err != nil {
			return g, t.failure(adapters.LaunchFailed, "", err.Error(), `write "example.com" or "example.com:8443"`)
		}
	}
	if t.o.Manifest == nil {
		return g, nil
	}
	return g, t.declare(&g)
}

func (t *Tool) declare(g *grant) error {
	m := t.o.Manifest
	low, high := m.MinAPI, m.MaxAPI
	if low == 0 {
		low = API
	}
	if high == 0 {
		high = API
	}
	if low > API || high < API {
		return t.failure(adapters.ProtocolVersionMismatch, "",
			fmt.Sprintf("plugin runtime API compatibility failed: current=%d, supported=%d..=%d", API, low, high),
			"upgrade the plugin to SDK v2, or install a version that supports runtime API 2")
	}
	g.declared = map[string]bool{}
	calls := map[string]bool{azLog: true}
	for _, c := range m.HostCalls {
		calls[capability(c)] = true
	}
	for _, c := range slices.Concat(always, m.Capabilities) {
		c = capability(c)
		if !g.granted[c] {
			return t.failure(adapters.CapabilityNotAllowed, "", fmt.Sprintf("the manifest declares %q, which is not granted", c),
				fmt.Sprintf("if you trust the module: capabilities = [%q] of the tool", c))
		}
		if _, ok := hostFunctions[c]; !ok || calls[c] {
			g.declared[c] = true
		}
		if c == wasiReadWrite {
			g.declared[wasiRead] = true
		}
		if g.declared[wasiRead] {
			g.declared[azReadFile] = true
		}
	}
	return nil
}

// allow adds a host. Without a port it means those of http and https.
func (g *grant) allow(host string) error {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), ""
	}
	if name == "" || strings.ContainsAny(name, "/@*? \t") {
		return fmt.Errorf("the allowed host %q is no name of a host", host)
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if port != "" {
		g.hosts[net.JoinHostPort(name, port)] = true
		return nil
	}
	g.hosts[net.JoinHostPort(name, "80")], g.hosts[net.JoinHostPort(name, "443")] = true, true
	return nil
}

// may reports whether the module may use a capability.
func (g *grant) may(capability string) bool {
	return g.granted[capability] && (g.declared == nil || g.declared[capability])
}

// checked reads a module and returns why it cannot be called, before a compiler sees it.
func (t *Tool) checked(source []byte) (*module, error) {
	m, err := parse(source)
	if errors.Is(err, errComponent) {
		return nil, t.failure(adapters.LaunchFailed, "", t.place()+" is a WebAssembly component; required is a core module",
			"build for the target wasm32-wasip1 (WASI preview 1), not wasm32-wasip2, and do not run wasm-tools component new")
	}
	if err != nil {
		return nil, t.failure(adapters.LaunchFailed, "", fmt.Sprintf("failed to compile module at %s: %v", t.place(), err), "build the module again")
	}
	if err := t.checkExports(m); err != nil {
		return nil, err
	}
	for _, i := range m.imports {
		if err := t.checkImport(m, i); err != nil {
			return nil, err
		}
	}
	if limit := uint32(t.o.Limits.Memory / pageSize); m.minPages > limit {
		return nil, t.failure(adapters.LaunchFailed, "",
			fmt.Sprintf("the module asks for %d bytes of memory at its start; at most %d are allowed", int64(m.minPages)*pageSize, t.o.Limits.Memory),
			"raise limits.memory of the tool")
	}
	return m, nil
}

// The exports that a module must have.
const (
	alloc   = "az_alloc"
	execute = "az_tool_execute"
	memory  = "memory"
)

func (t *Tool) checkExports(m *module) error {
	const hint = "build it with the SDK for ABI v2: it exports memory, az_alloc (i32) -> i32 and az_tool_execute (i32, i32) -> i64"
	fail := func(format string, args ...any) error {
		return t.failure(adapters.LaunchFailed, "", fmt.Sprintf(format, args...), hint)
	}
	if m.function(execute) == "" && m.function(alloc) == "" {
		for name := range m.exports {
			if m.function(name) == "->i32" {
				return t.failure(adapters.ProtocolVersionMismatch, "", fmt.Sprintf("this is a module of ABI v1: %s returns a status and has no input and no output", name),
					"upgrade to SDK v2, whose modules export az_alloc and az_tool_execute")
			}
		}
	}
	for _, f := range []struct{ name, typ string }{{alloc, "i32->i32"}, {execute, "i32,i32->i64"}} {
		switch found := m.function(f.name); found {
		case f.typ:
		case "":
			return fail("v2 plugin missing '%s' export", f.name)
		default:
			return fail("the export %s has the type %s; required is %s", f.name, signature(found), signature(f.typ))
		}
	}
	if e, ok := m.exports[memory]; !ok || e.kind != kindMemory {
		return fail("v2 plugin does not export 'memory'")
	}
	if m.start >= 0 && m.typeOf(uint32(m.start)) != "->" {
		return fail("the start function has the type %s; required is %s", signature(m.typeOf(uint32(m.start))), signature("->"))
	}
	if found := m.function("_initialize"); found != "" && found != "->" {
		return fail("the export _initialize has the type %s; required is %s", signature(found), signature("->"))
	}
	return nil
}

// signature returns the text of a type for a message.
func signature(typ string) string {
	params, results, _ := strings.Cut(typ, "->")
	return "(" + strings.ReplaceAll(params, ",", ", ") + ") -> (" + strings.ReplaceAll(results, ",", ", ") + ")"
}

func (t *Tool) checkImport(m *module, i imported) error {
	full := i.module + "::" + i.name
	fail := func(code adapters.Code, hint, format string, args ...any) error {
		return t.failure(code, "", fmt.Sprintf(format, args...), hint)
	}
	if i.kind != kindFunc {
		return fail(adapters.LaunchFailed, "link the module so that it has a memory of its own and imports functions only",
			"the module imports %s, which is no function", full)
	}
	found := m.typeText(i.typ)
	switch i.module {
	case "wasi_snapshot_preview1":
		if want, ok := wasiFunctions[i.name]; !ok || want != found {
			return fail(adapters.LaunchFailed, "build for WASI preview 1 (wasm32-wasip1)", "the module imports %s as %s, which WASI preview 1 does not have", full, signature(found))
		}
		return nil
	case "az":
		return t.checkHostCall(i.name, found)
	}
	return fail(adapters.CapabilityNotAllowed, "bento links wasi_snapshot_preview1 and az only", "host call `%s` is not allowed by isolation policy", full)
}

func (t *Tool) checkHostCall(name, found string) error {
	want, ok := hostFunctions[name]
	if !ok {
		return t.failure(adapters.CapabilityNotAllowed, "", fmt.Sprintf("host function `az::%s` is not permitted by isolation policy: it is unknown", name),
			"bento has az_log, az_env_get, az_read_file and az_http_get")
	}
	if found != want {
		return t.failure(adapters.LaunchFailed, "", fmt.Sprintf("the module imports az::%s as %s; required is %s", name, signature(found), signature(want)), "build it with the SDK for ABI v2")
	}
	if !t.grant.granted[name] {
		return t.failure(adapters.CapabilityNotAllowed, "", fmt.Sprintf("host function `az::%s` is not permitted by isolation policy", name),
			fmt.Sprintf("if you trust the module: capabilities = [\"host:%s\"] of the tool", name))
	}
	if !t.grant.may(name) {
		return t.failure(adapters.CapabilityNotDeclared, "", fmt.Sprintf("host function `az::%s` is not permitted by isolation policy: the manifest does not declare it", name),
			fmt.Sprintf("capabilities of the manifest need \"host:%s\", and allowed_host_calls need %q", name, name))
	}
	return nil
}
