package wasm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Fault is a clause of docs/TOOL-PROTOCOL-WASM.md that a module breaks, found before any of its code
// runs.
type Fault struct {
	Clause  string
	Failure *adapters.Failure
}

// faults are the faults of one module, in the order of their clauses.
type faults struct {
	t    *Tool
	list []Fault
}

func (f *faults) breaks(clause string, as adapters.Code, hint, message string) {
	f.list = append(f.list, Fault{clause, f.t.failure(as, "", message, hint)})
}

// inspect reads a module and returns why it cannot be called, before a compiler sees it.
func (t *Tool) inspect(source []byte) (*module, []Fault) {
	f := &faults{t: t}
	if n := int64(len(source)); n > t.o.Limits.Module {
		return nil, []Fault{{"W3.1", t.tooLarge(n)}}
	}
	m, err := parse(source)
	if errors.Is(err, errComponent) {
		f.breaks("W1.1", adapters.LaunchFailed, "build for the target wasm32-wasip1 (WASI preview 1), not wasm32-wasip2, and do not run wasm-tools component new",
			t.place()+" is a WebAssembly component; required is a core module")
		return nil, f.list
	}
	if err != nil {
		f.breaks("W1.1", adapters.LaunchFailed, "build the module again", fmt.Sprintf("failed to compile module at %s: %v", t.place(), err))
		return nil, f.list
	}
	f.exports(m)
	for _, i := range m.imports {
		f.imported(m, i)
	}
	if limit := uint32(t.o.Limits.Memory / pageSize); m.minPages > limit {
		f.breaks("W3.2", adapters.LaunchFailed, "raise limits.memory of the tool",
			fmt.Sprintf("the module asks for %d bytes of memory at its start; at most %d are allowed", int64(m.minPages)*pageSize, t.o.Limits.Memory))
	}
	return m, f.list
}

// The exports that a module must have.
const (
	alloc   = "az_alloc"
	execute = "az_tool_execute"
	memory  = "memory"
)

func (f *faults) exports(m *module) {
	const hint = "build it with the SDK for ABI v2: it exports memory, az_alloc (i32) -> i32 and az_tool_execute (i32, i32) -> i64"
	if name := m.version1(); name != "" {
		f.breaks("W1.2", adapters.ProtocolVersionMismatch, "upgrade to SDK v2, whose modules export az_alloc and az_tool_execute",
			fmt.Sprintf("this is a module of ABI v1: %s returns a status and has no input and no output", name))
	}
	for _, e := range []struct{ clause, name, typ string }{{"W1.3", alloc, "i32->i32"}, {"W1.4", execute, "i32,i32->i64"}} {
		switch found := m.function(e.name); found {
		case e.typ:
		case "":
			f.breaks(e.clause, adapters.LaunchFailed, hint, fmt.Sprintf("v2 plugin missing '%s' export", e.name))
		default:
			f.breaks(e.clause, adapters.LaunchFailed, hint, fmt.Sprintf("the export %s has the type %s; required is %s", e.name, signature(found), signature(e.typ)))
		}
	}
	if e, ok := m.exports[memory]; !ok || e.kind != kindMemory {
		f.breaks("W1.5", adapters.LaunchFailed, hint, "v2 plugin does not export 'memory'")
	}
	starts := map[string]string{"export _initialize": m.function("_initialize")}
	if m.start >= 0 {
		starts["start function"] = m.typeOf(uint32(m.start))
	}
	for _, what := range slices.Sorted(maps.Keys(starts)) {
		if found := starts[what]; found != "" && found != "->" {
			f.breaks("W1.6", adapters.LaunchFailed, hint, fmt.Sprintf("the %s has the type %s; required is %s", what, signature(found), signature("->")))
		}
	}
}

// version1 returns the entrypoint of a module of ABI v1, "" for another module.
func (m *module) version1() string {
	if m.function(execute) != "" || m.function(alloc) != "" {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(m.exports)) {
		if m.function(name) == "->i32" {
			return name
		}
	}
	return ""
}

// signature returns the text of a type for a message.
func signature(typ string) string {
	params, results, _ := strings.Cut(typ, "->")
	return "(" + strings.ReplaceAll(params, ",", ", ") + ") -> (" + strings.ReplaceAll(results, ",", ", ") + ")"
}

func (f *faults) imported(m *module, i imported) {
	full := i.module + "::" + i.name
	if i.kind != kindFunc {
		f.breaks("W2.1", adapters.LaunchFailed, "link the module so that it has a memory of its own and imports functions only",
			fmt.Sprintf("the module imports %s, which is no function", full))
		return
	}
	found := m.typeText(i.typ)
	switch i.module {
	case "wasi_snapshot_preview1":
		if want, ok := wasiFunctions[i.name]; !ok || want != found {
			f.breaks("W2.3", adapters.LaunchFailed, "build for WASI preview 1 (wasm32-wasip1)",
				fmt.Sprintf("the module imports %s as %s, which WASI preview 1 does not have", full, signature(found)))
		}
	case "az":
		f.hostCall(i.name, found)
	default:
		f.breaks("W2.2", adapters.CapabilityNotAllowed, "bento links wasi_snapshot_preview1 and az only", fmt.Sprintf("host call `%s` is not allowed by isolation policy", full))
	}
}

func (f *faults) hostCall(name, found string) {
	denied := fmt.Sprintf("host function `az::%s` is not permitted by isolation policy", name)
	want, ok := hostFunctions[name]
	switch {
	case !ok:
		f.breaks("W2.4", adapters.CapabilityNotAllowed, "bento has az_log, az_env_get, az_read_file and az_http_get", denied+": it is unknown")
	case found != want:
		f.breaks("W2.4", adapters.LaunchFailed, "build it with the SDK for ABI v2",
			fmt.Sprintf("the module imports az::%s as %s; required is %s", name, signature(found), signature(want)))
	case !f.t.grant.granted[name]:
		f.breaks("W2.5", adapters.CapabilityNotAllowed, fmt.Sprintf("if you trust the module: capabilities = [\"host:%s\"] of the tool", name), denied)
	case !f.t.grant.may(name):
		f.breaks("W2.6", adapters.CapabilityNotDeclared, fmt.Sprintf("capabilities of the manifest need \"host:%s\", and allowed_host_calls need %q", name, name),
			denied+": the manifest does not declare it")
	}
}
