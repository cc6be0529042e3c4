// Package wasmtest writes WebAssembly modules by hand, for tests of hosts.
package wasmtest

import "strings"

// Instructions without operands, and those that begin longer ones.
const (
	Unreachable byte = 0x00
	Return      byte = 0x0f
	Drop        byte = 0x1a
	End         byte = 0x0b
	I32Add      byte = 0x6a
	I64Or       byte = 0x84
	I64Shl      byte = 0x86
	I64ExtendU  byte = 0xad // of an i32
)

// Module is a module in the making. The zero value is an empty one.
type Module struct {
	types   []string
	imports [][]byte
	outside uint32 // imported functions
	funcs   [][]byte
	bodies  [][]byte
	tables  [][]byte
	memory  []byte
	globals [][]byte
	exports [][]byte
	start   []byte
	data    [][]byte
	custom  []byte
}

// Answering returns a module that answers every call with the text out. Its memory has one page, out is at
// 1024, and az_alloc returns 8192.
func Answering(out string) *Module {
	m := &Module{}
	m.Func("az_alloc", "i32->i32", I32(8192))
	m.Func("az_tool_execute", "i32,i32->i64", Packed(1024, uint32(len(out))))
	m.Memory(1, -1)
	m.Data(1024, out)
	return m
}

// Good is the answer of a tool that works.
const Good = `{"output":"done"}`

// Import imports a function and returns its number. Imports must precede functions.
func (m *Module) Import(module, name, typ string) uint32 {
	m.imports = append(m.imports, join(text(module), text(name), []byte{0}, U32(m.typ(typ))))
	m.outside++
	return m.outside - 1
}

// ImportOther imports a table (kind 1), a memory (2) or a global (3).
func (m *Module) ImportOther(module, name string, kind byte) {
	desc := map[byte][]byte{1: {0x70, 0, 0}, 2: {0, 1}, 3: {0x7f, 0}}[kind]
	m.imports = append(m.imports, join(text(module), text(name), []byte{kind}, desc))
}

// Func adds a function that has one local of i32, and returns its number. It is exported unless its
// name is empty. The body ends without End.
func (m *Module) Func(name, typ string, body ...[]byte) uint32 {
	n := m.outside + uint32(len(m.funcs))
	m.funcs = append(m.funcs, U32(m.typ(typ)))
	code := join([]byte{1, 1, 0x7f}, join(body...), []byte{End})
	m.bodies = append(m.bodies, join(U32(uint32(len(code))), code))
	if name != "" {
		m.Export(name, 0, n)
	}
	return n
}

// Set replaces the body of the function that Func has returned n for.
func (m *Module) Set(n uint32, body ...[]byte) {
	code := join([]byte{1, 1, 0x7f}, join(body...), []byte{End})
	m.bodies[n-m.outside] = join(U32(uint32(len(code))), code)
}

// Locals adds a function that has n locals.
func (m *Module) Locals(n uint32) {
	f := m.Func("", "->")
	code := join([]byte{1}, U32(n), []byte{0x7f, End})
	m.bodies[f-m.outside] = join(U32(uint32(len(code))), code)
}

// Export exports something under a name.
func (m *Module) Export(name string, kind byte, index uint32) {
	m.exports = append(m.exports, join(text(name), []byte{kind}, U32(index)))
}

// Rename renames an export, "" drops it.
func (m *Module) Rename(name, to string) {
	var kept [][]byte
	for _, e := range m.exports {
		if rest, ok := strings.CutPrefix(string(e), string(text(name))); ok {
			if to == "" {
				continue
			}
			e = join(text(to), []byte(rest))
		}
		kept = append(kept, e)
	}
	m.exports = kept
}

// Memory declares the memory, in pages, and exports it. A negative max means no maximum.
func (m *Module) Memory(min uint32, max int64) {
	m.memory = join([]byte{0}, U32(min))
	if max >= 0 {
		m.memory = join([]byte{1}, U32(min), U32(uint32(max)))
	}
	m.Rename("memory", "")
	m.Export("memory", 2, 0)
}

// Table declares a table of functions.
func (m *Module) Table(min uint32) { m.tables = append(m.tables, join([]byte{0x70, 0}, U32(min))) }

// BoundedTable declares a table with a maximum.
func (m *Module) BoundedTable(min, max uint32) {
	m.tables = append(m.tables, join([]byte{0x70, 1}, U32(min), U32(max)))
}

// Global declares a mutable i32 of the value 0, and returns its number.
func (m *Module) Global() uint32 {
	m.globals = append(m.globals, []byte{0x7f, 1, 0x41, 0, End})
	return uint32(len(m.globals)) - 1
}

// Start makes a function the start function.
func (m *Module) Start(n uint32) { m.start = U32(n) }

// Data puts a text into the memory.
func (m *Module) Data(at uint32, content string) {
	m.data = append(m.data, join([]byte{0}, I32(int32(at)), []byte{End}, text(content)))
}

// Custom adds a custom section.
func (m *Module) Custom(name, content string) {
	m.custom = section(m.custom, 0, join(text(name), []byte(content)))
}

// Bytes returns the module.
func (m *Module) Bytes() []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	var types [][]byte
	for _, t := range m.types {
		params, results, _ := strings.Cut(t, "->")
		types = append(types, join([]byte{0x60}, values(params), values(results)))
	}
	b = vector(b, 1, types)
	b = vector(b, 2, m.imports)
	b = vector(b, 3, m.funcs)
	b = vector(b, 4, m.tables)
	if m.memory != nil {
		b = vector(b, 5, [][]byte{m.memory})
	}
	b = vector(b, 6, m.globals)
	b = vector(b, 7, m.exports)
	if m.start != nil {
		b = section(b, 8, m.start)
	}
	b = vector(b, 10, m.bodies)
	b = vector(b, 11, m.data)
	return append(b, m.custom...)
}

func (m *Module) typ(t string) uint32 {
	for i, known := range m.types {
		if known == t {
			return uint32(i)
		}
	}
	m.types = append(m.types, t)
	return uint32(len(m.types)) - 1
}

func values(list string) []byte {
	var b []byte
	for _, v := range strings.Split(list, ",") {
		if t, ok := map[string]byte{"i32": 0x7f, "i64": 0x7e, "f32": 0x7d, "f64": 0x7c}[v]; ok {
			b = append(b, t)
		}
	}
	return join(U32(uint32(len(b))), b)
}

func vector(b []byte, id byte, items [][]byte) []byte {
	if len(items) == 0 {
		return b
	}
	return section(b, id, join(U32(uint32(len(items))), join(items...)))
}

func section(b []byte, id byte, content []byte) []byte {
	return join(b, []byte{id}, U32(uint32(len(content))), content)
}

func text(s string) []byte { return join(U32(uint32(len(s))), []byte(s)) }

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// U32 returns an unsigned number in LEB128.
func U32(n uint32) []byte {
	var b []byte
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func signed(n int64) []byte {
	var b []byte
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// I32 returns the constant n.
func I32(n int32) []byte { return join([]byte{0x41}, signed(int64(n))) }

// I64 returns the constant n.
func I64(n int64) []byte { return join([]byte{0x42}, signed(n)) }

// Packed returns the constant of an address and a length.
func Packed(at, n uint32) []byte { return I64(int64(uint64(at) | uint64(n)<<32)) }

// Call calls a function.
func Call(n uint32) []byte { return join([]byte{0x10}, U32(n)) }

// Local returns the value of a parameter or, after the parameters, of the local.
func Local(n uint32) []byte { return join([]byte{0x20}, U32(n)) }

// Op returns instructions without operands.
func Op(code ...byte) []byte { return code }

// Forever loops for ever.
func Forever(body ...[]byte) []byte {
	return join([]byte{0x03, 0x40}, join(body...), []byte{0x0c, 0, End})
}

// Store stores a byte of value at an address.
func Store(at int32, value int32) []byte { return join(I32(at), I32(value), []byte{0x3a, 0, 0}) }

// Count loads the i32 at an address, adds 1 to it and stores it.
func Count(at int32) []byte {
	return join(I32(at), I32(at), []byte{0x28, 2, 0}, I32(1), []byte{I32Add, 0x36, 2, 0})
}

// Grow grows the memory by pages, and drops the result.
func Grow(pages int32) []byte { return join(I32(pages), []byte{0x40, 0, Drop}) }
