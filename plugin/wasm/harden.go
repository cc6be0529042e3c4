package wasm

import (
	"fmt"
	"slices"
)

// The compiler of wazero stops a loop by a call of the host at each turn, which makes tight loops
// 22 times as slow, and stops no tree of calls without a loop. harden instead writes a check into
// the module: each loop and each function begins with "if stop is set, unreachable", where stop is
// a global that the host sets at the deadline. wazero validates the result, so a mistake here is a
// refused module and never a wrong one.

// hardened is a module that can be stopped.
type hardened struct {
	code  []byte
	stop  string // the exported global that stops it when it is not 0
	start string // the exported start function, "" for none: the host calls it, so it can be stopped too
}

// maxTable is how many entries a table may have, 8 bytes each.
const maxTable = 1 << 20

// maxTables is how many tables a module may have.
const maxTables = 16

func (m *module) harden() (*hardened, error) {
	h := &hardened{stop: m.unused("bento:stop")}
	if m.start >= 0 {
		h.start = m.unused("bento:start")
	}
	out := slices.Clone(magic)
	order := []byte{sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal,
		sectionExport, sectionElement, sectionDataCount, sectionCode, sectionData}
	seen := -1
	for _, s := range m.sections {
		if s.id == sectionCustom || s.id == sectionStart { // no code refers to custom sections; those of DWARF would be wrong now
			continue
		}
		place := slices.Index(order, s.id)
		if place < 0 {
			return nil, fmt.Errorf("section %d is unknown", s.id)
		}
		if place <= seen {
			return nil, fmt.Errorf("section %d is out of order, or twice in it", s.id)
		}
		var err error
		if out, err = m.missing(out, order[seen+1:place], h); err != nil {
			return nil, err
		}
		if out, err = m.rewritten(out, s, h); err != nil {
			return nil, fmt.Errorf("section %d: %w", s.id, err)
		}
		seen = place
	}
	out, err := m.missing(out, order[seen+1:], h)
	h.code = out
	return h, err
}

// unused returns a name like name that no export has.
func (m *module) unused(name string) string {
	for {
		if _, ok := m.exports[name]; !ok {
			return name
		}
		name += "'"
	}
}

// stopGlobal returns the number of the global that harden adds. Imported globals are refused.
func (m *module) stopGlobal() uint32 { return m.globals }

// missing appends the sections that harden needs and that the module has not.
func (m *module) missing(out []byte, ids []byte, h *hardened) ([]byte, error) {
	var err error
	for _, id := range ids {
		if id == sectionGlobal || id == sectionExport {
			if out, err = m.rewritten(out, section{id, []byte{0}}, h); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// rewritten appends a section as harden wants it.
func (m *module) rewritten(out []byte, s section, h *hardened) ([]byte, error) {
	r := &reader{b: s.content}
	var content []byte
	var err error
	switch s.id {
	case sectionTable:
		content, err = boundTables(r)
	case sectionGlobal:
		content, err = extended(r, 1)
		content = append(content, 0x7f, 1, 0x41, 0, 0x0b) // a mutable i32 that begins as 0
	case sectionExport:
		content, err = m.exported(r, h)
	case sectionCode:
		content, err = m.checked(r)
	default:
		content = s.content
	}
	return appendSection(out, s.id, content), err
}

// extended returns the items of a vector under a count that is larger by n.
func extended(r *reader, n uint32) ([]byte, error) {
	count, err := r.u32()
	if err != nil {
		return nil, err
	}
	return append(appendU32(nil, count+n), r.b[r.at:]...), nil
}

func (m *module) exported(r *reader, h *hardened) ([]byte, error) {
	n := uint32(1)
	if h.start != "" {
		n++
	}
	content, err := extended(r, n)
	if err != nil {
		return nil, err
	}
	content = append(appendU32(content, uint32(len(h.stop))), h.stop...)
	content = appendU32(append(content, kindGlobal), m.stopGlobal())
	if h.start != "" {
		content = append(appendU32(content, uint32(len(h.start))), h.start...)
		content = appendU32(append(content, kindFunc), uint32(m.start))
	}
	return content, nil
}

// boundTables returns the tables, each with a maximum: otherwise table.grow takes 8 bytes of the host for each
// of 2^32 entries.
func boundTables(r *reader) ([]byte, error) {
	var content []byte
	n := uint32(0)
	err := r.each(func() error {
		kind, err := r.byte()
		if err != nil {
			return err
		}
		l, err := r.limits()
		if err != nil {
			return err
		}
		if n++; l.min > maxTable || n > maxTables {
			return fmt.Errorf("table %d has %d entries; at most %d tables of %d are served", n-1, l.min, maxTables, maxTable)
		}
		if !l.bounded {
			l.max = maxTable
		}
		content = appendU32(append(content, kind, 1), l.min)
		content = appendU32(content, min(l.max, maxTable))
		return nil
	})
	return append(appendU32(nil, n), content...), err
}

// checked returns the code section with a check at the begin of each function and loop.
func (m *module) checked(r *reader) ([]byte, error) {
	check := append(appendU32([]byte{0x23}, m.stopGlobal()), 0x04, 0x40, 0x00, 0x0b) // global.get, if, unreachable, end
	out := make([]byte, 0, len(r.b)+len(r.b)/8)
	var body []byte
	n := uint32(0)
	err := r.each(func() error {
		code, err := r.sized()
		if err != nil {
			return err
		}
		if body, err = withChecks(body[:0], code, check); err != nil {
			return fmt.Errorf("function %d: %w", n, err)
		}
		out = append(appendU32(out, uint32(len(body))), body...)
		n++
		return nil
	})
	return append(appendU32(nil, n), out...), err
}

func withChecks(out, code, check []byte) ([]byte, error) {
	r := &reader{b: code}
	err := r.each(func() error { // the locals: a count and a type each
		if _, err := r.u32(); err != nil {
			return err
		}
		return r.skip(1)
	})
	if err != nil {
		return nil, err
	}
	out = append(append(out, code[:r.at]...), check...)
	from := r.at
	for r.left() > 0 {
		op := code[r.at]
		if err := r.instruction(); err != nil {
			return nil, fmt.Errorf("at byte %d: %w", r.at, err)
		}
		if op == opLoop {
			out = append(append(out, code[from:r.at]...), check...)
			from = r.at
		}
	}
	return append(out, code[from:]...), nil
}
