package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// The sections of a module.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// The kinds of an import or export.
const (
	kindFunc = iota
	kindTable
	kindMemory
	kindGlobal
)

const pageSize = 64 << 10

// maxSections is how many sections a module may have, custom ones counted.
const maxSections = 1 << 10

// maxValues is how many parameters or results a function may have.
const maxValues = 1000

// module is the part of a module that the host must know before a compiler reads it.
type module struct {
	sections []section
	types    []string // of functions, as "i32,i32->i64"
	imports  []imported
	funcs    []uint32 // the types of its own functions
	memories int
	minPages uint32
	globals  uint32
	exports  map[string]exported
	start    int64 // the index of the start function, -1 for none
}

type section struct {
	id      byte
	content []byte
}

type imported struct {
	module, name string
	kind         byte
	typ          uint32 // of a function
}

type exported struct {
	kind  byte
	index uint32
}

var (
	magic     = []byte("\x00asm\x01\x00\x00\x00")
	component = []byte("\x00asm\x0d\x00\x01\x00")
)

// errComponent reports a module of the other kind.
var errComponent = errors.New("it is a component; required is a core module")

// parse reads the parts of a module that the host must know. It copies nothing of b.
func parse(b []byte) (*module, error) {
	switch {
	case bytes.HasPrefix(b, component):
		return nil, errComponent
	case !bytes.HasPrefix(b, magic):
		return nil, fmt.Errorf("it does not begin with %q, as a module of version 1 does, but with %q", magic, b[:min(len(b), len(magic))])
	}
	m := &module{exports: map[string]exported{}, start: -1}
	r := &reader{b: b, at: len(magic)}
	for r.left() > 0 {
		id, err := r.byte()
		if err != nil {
			return nil, err
		}
		content, err := r.sized()
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
		if m.sections = append(m.sections, section{id, content}); len(m.sections) > maxSections {
			return nil, hostBound(fmt.Sprintf("it has more than %d sections", maxSections))
		}
		if err := m.read(id, content); err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
	}
	return m, nil
}

// read reads a section whole, but for the tables and the code, which harden reads. Bytes that follow its
// items would be items once harden has raised their number.
func (m *module) read(id byte, content []byte) error {
	switch id {
	case sectionCustom, sectionTable, sectionCode:
		return nil
	}
	r := &reader{b: content}
	if err := m.items(id, r); err != nil {
		return err
	}
	return r.end()
}

func (m *module) items(id byte, r *reader) error {
	switch id {
	case sectionType:
		return r.each(func() error { return m.readType(r) })
	case sectionImport:
		return r.each(func() error { return m.readImport(r) })
	case sectionFunction:
		return r.each(func() error {
			typ, err := r.u32()
			m.funcs = append(m.funcs, typ)
			return err
		})
	case sectionMemory:
		return r.each(func() error {
			l, err := r.limits()
			m.memories, m.minPages = m.memories+1, max(m.minPages, l.min)
			return err
		})
	case sectionGlobal:
		return r.each(func() error {
			m.globals++
			return r.global()
		})
	case sectionExport:
		return r.each(func() error { return m.readExport(r) })
	case sectionStart:
		n, err := r.u32()
		m.start = int64(n)
		return err
	case sectionElement:
		return r.each(r.element)
	case sectionData:
		return r.each(r.data)
	case sectionDataCount:
		return r.numbers(1)
	}
	return errors.New("it is unknown")
}

// The types of references.
const (
	typeFunc   = 0x70
	typeExtern = 0x6f
)

var valueTypes = map[byte]string{0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", typeFunc: "funcref", typeExtern: "externref"}

func (m *module) readType(r *reader) error {
	form, err := r.byte()
	if err != nil {
		return err
	}
	if form != 0x60 {
		return fmt.Errorf("a type has the form %#x; required is that of a function", form)
	}
	var text []byte
	list := func() error {
		n := 0
		return r.each(func() error {
			if err := r.valueType(); err != nil {
				return err
			}
			if n++; n > maxValues {
				return hostBound(fmt.Sprintf("a type has more than %d parameters or results", maxValues))
			}
			if n > 1 {
				text = append(text, ',')
			}
			text = append(text, valueTypes[r.b[r.at-1]]...)
			return nil
		})
	}
	if err := list(); err != nil {
		return err
	}
	text = append(text, "->"...)
	if err := list(); err != nil {
		return err
	}
	m.types = append(m.types, string(text))
	return nil
}

func (m *module) readImport(r *reader) error {
	var i imported
	var err error
	if i.module, err = r.name(); err != nil {
		return err
	}
	if i.name, err = r.name(); err != nil {
		return err
	}
	if i.kind, err = r.byte(); err != nil {
		return err
	}
	switch i.kind {
	case kindFunc:
		i.typ, err = r.u32()
	case kindTable:
		if err = r.skip(1); err == nil {
			_, err = r.limits()
		}
	case kindMemory:
		_, err = r.limits()
	case kindGlobal:
		err = r.skip(2)
	default:
		err = fmt.Errorf("an import has the unknown kind %d", i.kind)
	}
	m.imports = append(m.imports, i)
	return err
}

func (m *module) readExport(r *reader) error {
	name, err := r.name()
	if err != nil {
		return err
	}
	var e exported
	if e.kind, err = r.byte(); err != nil {
		return err
	}
	if e.index, err = r.u32(); err != nil {
		return err
	}
	if _, twice := m.exports[name]; twice {
		return fmt.Errorf("%.60q is exported twice", name)
	}
	m.exports[name] = e
	return nil
}

// limits are the bounds of a memory or a table.
type limits struct {
	min, max uint32
	bounded  bool
}

func (r *reader) limits() (l limits, err error) {
	flag, err := r.byte()
	if err != nil {
		return l, err
	}
	if flag > 1 {
		return l, fmt.Errorf("a memory or a table has the unknown flag %#x: shared and 64-bit ones are not served", flag)
	}
	if l.min, err = r.u32(); err != nil || flag == 0 {
		return l, err
	}
	l.bounded = true
	l.max, err = r.u32()
	return l, err
}

// importedFuncs returns the number of imported functions.
func (m *module) importedFuncs() (n uint32) {
	for _, i := range m.imports {
		if i.kind == kindFunc {
			n++
		}
	}
	return n
}

// typeOf returns the type of a function by its number, "" for an unknown one.
func (m *module) typeOf(f uint32) string {
	var types []uint32
	for _, i := range m.imports {
		if i.kind == kindFunc {
			types = append(types, i.typ)
		}
	}
	if f >= uint32(len(types)) {
		if f -= uint32(len(types)); f >= uint32(len(m.funcs)) {
			return ""
		}
		return m.typeText(m.funcs[f])
	}
	return m.typeText(types[f])
}

func (m *module) typeText(t uint32) string {
	if t >= uint32(len(m.types)) {
		return ""
	}
	return m.types[t]
}

// function returns the type of the exported function name, "" if the module exports none.
func (m *module) function(name string) string {
	e, ok := m.exports[name]
	if !ok || e.kind != kindFunc {
		return ""
	}
	return m.typeOf(e.index)
}

// params returns the number of parameters of a type, 0 for an unknown one.
func (m *module) params(typ uint32) int {
	params, _, _ := strings.Cut(m.typeText(typ), "->")
	if params == "" {
		return 0
	}
	return strings.Count(params, ",") + 1
}
