package wasm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// TestRefusedModules checks modules that are refused before any of their code runs.
func TestRefusedModules(t *testing.T) {
	const launch, allowed = adapters.LaunchFailed, adapters.CapabilityNotAllowed
	tool := func(change func(*Module)) []byte {
		m := Answering(Good)
		change(m)
		return m.Bytes()
	}
	importing := func(module, name, typ string) []byte {
		m := &Module{}
		m.Import(module, name, typ)
		m.Func("az_alloc", "i32->i32", I32(8192))
		m.Func(execute, "i32,i32->i64", Packed(1024, 17))
		m.Memory(1, -1)
		return m.Bytes()
	}
	other := func(kind byte) []byte {
		m := &Module{}
		m.ImportOther("env", "thing", kind)
		m.Func("az_alloc", "i32->i32", I32(8192))
		m.Func(execute, "i32,i32->i64", Packed(1024, 17))
		if kind != 2 {
			m.Memory(1, -1)
		} else {
			m.Export("memory", 2, 0)
		}
		return m.Bytes()
	}
	v1 := &Module{}
	v1.Func("run", "->i32", I32(7))
	for name, tt := range map[string]struct {
		module  []byte
		code    adapters.Code
		message string
	}{
		"nothing":              {[]byte{}, launch, "failed to compile module at (bytes): it does not begin with"},
		"text":                 {[]byte("hello, world"), launch, "it does not begin with"},
		"a component":          {append(bytes.Clone(component), 0, 1, 2), launch, "is a WebAssembly component; required is a core module"},
		"the header alone":     {magic, launch, "v2 plugin missing 'az_alloc' export"},
		"a truncated section":  {append(bytes.Clone(magic), 1, 9, 1), launch, "section 1: it ends in the middle of an item"},
		"half a module":        {Answering(Good).Bytes()[:60], launch, "failed to compile module"},
		"a vector of 2^32-1":   {append(bytes.Clone(magic), 3, 5, 0xff, 0xff, 0xff, 0xff, 0x0f), launch, "it names 4294967295 items and has 0 bytes left"},
		"a section twice":      {append(Answering(Good).Bytes(), 11, 1, 0), launch, "section 11 is out of order, or twice in it"},
		"an unknown section":   {append(Answering(Good).Bytes(), 99, 0), launch, "section 99: it is unknown"},
		"ABI v1":               {v1.Bytes(), adapters.ProtocolVersionMismatch, "this is a module of ABI v1"},
		"no az_alloc":          {tool(func(m *Module) { m.Rename("az_alloc", "") }), launch, "v2 plugin missing 'az_alloc' export"},
		"no az_tool_execute":   {tool(func(m *Module) { m.Rename(execute, "run") }), launch, "v2 plugin missing 'az_tool_execute' export"},
		"no memory":            {tool(func(m *Module) { m.Rename("memory", "mem") }), launch, "v2 plugin does not export 'memory'"},
		"az_alloc of i64":      {tool(func(m *Module) { m.Rename("az_alloc", ""); m.Func("az_alloc", "i64->i64", I64(0)) }), launch, "the export az_alloc has the type (i64) -> (i64); required is (i32) -> (i32)"},
		"execute of nothing":   {tool(func(m *Module) { m.Rename(execute, ""); m.Func(execute, "->i32", I32(0)) }), launch, "the export az_tool_execute has the type () -> (i32)"},
		"memory is a function": {tool(func(m *Module) { m.Rename("memory", ""); m.Export("memory", 0, 0) }), launch, "v2 plugin does not export 'memory'"},
		"_initialize of i32":   {tool(func(m *Module) { m.Func("_initialize", "i32->", nil) }), launch, "the export _initialize has the type (i32) -> ()"},
		"too much memory":      {tool(func(m *Module) { m.Memory(1025, -1) }), launch, "the module asks for 67174400 bytes of memory at its start; at most 67108864 are allowed"},
		"4 GiB of memory":      {tool(func(m *Module) { m.Memory(65536, 65536) }), launch, "the module asks for 4294967296 bytes"},
		"a table of 2^27":      {tool(func(m *Module) { m.Table(1 << 27) }), launch, "table 0 has 134217728 entries"},
		"17 tables": {tool(func(m *Module) {
			for range 17 {
				m.Table(1)
			}
		}), launch, "table 16 has 1 entries; at most 16 tables"},
		"50,001 locals":                   {tool(func(m *Module) { m.Locals(50_001) }), launch, "it has more than 50000 locals"},
		"bad code":                        {tool(func(m *Module) { m.Func("x", "->i32", I64(0)) }), launch, "failed to compile module"},
		"an unknown instruction":          {tool(func(m *Module) { m.Func("x", "->", Op(0xfe, 0)) }), launch, "the instruction 0xfe is none of WebAssembly 2.0"},
		"a call out of range":             {tool(func(m *Module) { m.Func("x", "->", Call(9999)) }), launch, "failed to compile module"},
		"a start with a result":           {tool(func(m *Module) { m.Start(0) }), launch, "the start function has the type (i32) -> (i32)"},
		"an imported memory":              {other(2), launch, "the module imports env::thing, which is no function"},
		"an imported table":               {other(1), launch, "env::thing, which is no function"},
		"an imported global":              {other(3), launch, "env::thing, which is no function"},
		"an import of env":                {importing("env", "now", "->i64"), allowed, "host call `env::now` is not allowed by isolation policy"},
		"an unknown az function":          {importing("az", "az_exec", "i32,i32->i64"), allowed, "host function `az::az_exec` is not permitted by isolation policy"},
		"az_env_get not granted":          {importing("az", "az_env_get", "i32,i32->i64"), allowed, "host function `az::az_env_get` is not permitted by isolation policy"},
		"az_read_file not granted":        {importing("az", "az_read_file", "i32,i32->i64"), allowed, "host function `az::az_read_file` is not permitted"},
		"az_http_get not granted":         {importing("az", "az_http_get", "i32,i32->i64"), allowed, "host function `az::az_http_get` is not permitted"},
		"az_log of another type":          {importing("az", "az_log", "i32->"), launch, "the module imports az::az_log as (i32) -> (); required is (i32, i32, i32) -> ()"},
		"an unknown WASI function":        {importing("wasi_snapshot_preview1", "fd_teleport", "i32->i32"), launch, "which WASI preview 1 does not have"},
		"a WASI function of another type": {importing("wasi_snapshot_preview1", "fd_close", "i64->i32"), launch, "wasi_snapshot_preview1::fd_close as (i64) -> (i32)"},
		"WASI of another version":         {importing("wasi_unstable", "fd_close", "i32->i32"), allowed, "host call `wasi_unstable::fd_close` is not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := do(t, open(t, Options{Bytes: tt.module}), say("x"))
			wantFailure(t, err, tt.code, tt.message)
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the message has several lines: %q", err)
			}
		})
	}
}

func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.wasm")
	write(t, good, string(Answering(Good).Bytes()))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.wasm"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.wasm"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		o       Options
		code    adapters.Code
		message string
	}{
		"missing":        {Options{Path: filepath.Join(dir, "none.wasm")}, adapters.LaunchFailed, "plugin module does not exist: "},
		"a pipe":         {Options{Path: filepath.Join(dir, "pipe.wasm")}, adapters.LaunchFailed, "is no regular file"},
		"a directory":    {Options{Path: filepath.Join(dir, "dir.wasm")}, adapters.LaunchFailed, "is no regular file"},
		"too large":      {Options{Path: good, Limits: Limits{Module: 10}}, adapters.LaunchFailed, "plugin module exceeds size policy ("},
		"another digest": {Options{Path: good, SHA256: strings.Repeat("ab", 32)}, adapters.NotTrusted, "integrity check failed for " + good},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := do(t, open(t, tt.o), say("x"))
			wantFailure(t, err, tt.code, tt.message)
		})
	}
}

func TestRefusedOptions(t *testing.T) {
	good := Answering(Good).Bytes()
	e := NewEngine(EngineOptions{})
	defer e.Close()
	for name, tt := range map[string]struct {
		o       Options
		code    adapters.Code
		message string
	}{
		"no id":             {Options{ID: " ", Bytes: good}, adapters.LaunchFailed, "the id of the tool is empty"},
		"no .wasm":          {Options{Path: "/bin/tool"}, adapters.LaunchFailed, "required is one that ends in .wasm"},
		"negative memory":   {Options{Bytes: good, Limits: Limits{Memory: -1}}, adapters.LaunchFailed, "the limit memory is -1"},
		"memory of a byte":  {Options{Bytes: good, Limits: Limits{Memory: 1}}, adapters.LaunchFailed, "required is one page of 65536 bytes to 4 GiB"},
		"memory of 5 GiB":   {Options{Bytes: good, Limits: Limits{Memory: 5 << 30}}, adapters.LaunchFailed, "to 4 GiB"},
		"negative module":   {Options{Bytes: good, Limits: Limits{Module: -1}}, adapters.LaunchFailed, "the limit module is -1"},
		"negative output":   {Options{Bytes: good, Limits: Limits{Output: -1}}, adapters.LaunchFailed, "the limit output is -1"},
		"negative timeout":  {Options{Bytes: good, Timeout: -time.Second}, adapters.LaunchFailed, "the limit timeout is"},
		"negative fuel":     {Options{Bytes: good, Fuel: -1}, adapters.LaunchFailed, "the limit fuel is -1"},
		"a host with path":  {Options{Bytes: good, Hosts: []string{"example.com/x"}}, adapters.LaunchFailed, `the allowed host "example.com/x" is no name of a host`},
		"every host":        {Options{Bytes: good, Hosts: []string{"*"}}, adapters.LaunchFailed, `the allowed host "*"`},
		"an API of 3":       {Options{Bytes: good, Manifest: &Manifest{MinAPI: 3, MaxAPI: 4}}, adapters.ProtocolVersionMismatch, "current=2, supported=3..=4"},
		"an API of 1":       {Options{Bytes: good, Manifest: &Manifest{MinAPI: 1, MaxAPI: 1}}, adapters.ProtocolVersionMismatch, "current=2, supported=1..=1"},
		"asks for more":     {Options{Bytes: good, Manifest: &Manifest{Capabilities: []string{"host:az_http_get"}}}, adapters.CapabilityNotAllowed, `the manifest declares "az_http_get", which is not granted`},
		"asks for writing":  {Options{Bytes: good, ReadWorkspace: true, Manifest: &Manifest{Capabilities: []string{"wasi:filesystem/read-write"}}}, adapters.CapabilityNotAllowed, `"wasi:filesystem/read-write", which is not granted`},
		"asks for anything": {Options{Bytes: good, Manifest: &Manifest{Capabilities: []string{"root"}}}, adapters.CapabilityNotAllowed, `the manifest declares "root"`},
	} {
		if tt.o.ID == "" {
			tt.o.ID = "probe"
		}
		_, err := e.Open(tt.o)
		if err == nil {
			t.Errorf("%s: got no error", name)
			continue
		}
		wantFailure(t, err, tt.code, tt.message)
	}
}

// A module has a capability only if the manifest declares it in both lists and the user grants it. Each
// may use any spelling.
func TestCapabilitiesIntersect(t *testing.T) {
	m := &Module{}
	m.Import("az", "az_env_get", "i32,i32->i64")
	m.Func("az_alloc", "i32->i32", I32(8192))
	m.Func(execute, "i32,i32->i64", Packed(1024, uint32(len(Good))))
	m.Memory(1, -1)
	m.Data(1024, Good)
	module := m.Bytes()
	for _, tt := range []struct {
		name                   string
		declared, calls, grant []string
		code                   adapters.Code // "": the call succeeds
	}{
		{"all three", []string{"host:az_env_get"}, []string{"az_env_get"}, []string{"az::az_env_get"}, ""},
		{"other spellings", []string{"az::az_env_get"}, []string{"host:az_env_get"}, []string{"az_env_get"}, ""},
		{"granted, not declared", nil, nil, []string{"az_env_get"}, adapters.CapabilityNotDeclared},
		{"not in allowed_host_calls", []string{"az_env_get"}, nil, []string{"az_env_get"}, adapters.CapabilityNotDeclared},
		{"in allowed_host_calls only", nil, []string{"az_env_get"}, []string{"az_env_get"}, adapters.CapabilityNotDeclared},
		{"declared, not granted", nil, []string{"az_env_get"}, nil, adapters.CapabilityNotAllowed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := open(t, Options{Bytes: module, Capabilities: tt.grant, Manifest: &Manifest{Capabilities: tt.declared, HostCalls: tt.calls}})
			_, err := do(t, tool, say("x"))
			if tt.code != "" {
				wantFailure(t, err, tt.code, "host function `az::az_env_get` is not permitted by isolation policy")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNamedFunctionIsRefused(t *testing.T) {
	c := say("x")
	c.Function = "fmt.check"
	_, err := do(t, open(t, Options{Bytes: Answering(Good).Bytes()}), c)
	wantFailure(t, err, adapters.ToolNotExposed, "a module has one function")
}
