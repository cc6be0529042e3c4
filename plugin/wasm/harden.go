package wasm

import (
	"cmp"
	"fmt"
	"slices"
)

// A module that computes must be stopped at its deadline, and the goroutine that runs it must return to Go
// now and then. Otherwise the garbage collector, which stops all goroutines at once, waits for it, and so
// does every timer of the process. With its own option, wazero returns at each turn of each loop. That
// makes tight loops 22 times as slow, and has no effect in a tree of calls without a loop.
//
// harden instead writes the checks into the module. Each call takes 1 of a budget, which is a global, and
// each 1024 turns of the loops of one call take turnCost. When the budget is spent, the module returns to
// Go by memory.grow 0, renews its budget, and traps if the host has set the global stop. wazero validates
// the result. So a mistake here causes a refused module and never a wrong one.

const (
	budgetSize = 1 << 14
	turnCost   = 1 << 8
	turns      = 1 << 10 // of a loop, between two looks at the budget
)

// hardened is a module that can be stopped.
type hardened struct {
	code  []byte
	stop  string // the exported global that stops it when it is not 0
	start string // the exported start function, "" for none: the host calls it, so it can be stopped too
}

// hostBound is a refusal that WebAssembly knows nothing of.
type hostBound string

func (b hostBound) Error() string { return string(b) }

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
	next := 0
	var err error
	for _, s := range m.sections {
		if s.id == sectionCustom || s.id == sectionStart { // no code refers to them, and DWARF would be wrong now
			continue
		}
		place := slices.Index(order, s.id)
		if place < 0 {
			return nil, fmt.Errorf("section %d is unknown", s.id)
		}
		if place < next {
			return nil, fmt.Errorf("section %d is out of order, or twice in it", s.id)
		}
		if out, err = m.missing(out, order[next:place], h); err != nil {
			return nil, err
		}
		if out, err = m.rewritten(out, s, h); err != nil {
			return nil, fmt.Errorf("section %d: %w", s.id, err)
		}
		next = place + 1
	}
	h.code, err = m.missing(out, order[next:], h)
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

// The numbers of what harden adds. Imported globals are refused, and imported functions come first.
func (m *module) stopGlobal() uint32   { return m.globals }
func (m *module) budgetGlobal() uint32 { return m.globals + 1 }
func (m *module) emptyType() uint32    { return uint32(len(m.types)) }
func (m *module) renewFunc() uint32    { return m.importedFuncs() + uint32(len(m.funcs)) }
func (m *module) turnFunc() uint32     { return m.renewFunc() + 1 }

// missing appends the sections that harden adds to and that the module has not.
func (m *module) missing(out []byte, ids []byte, h *hardened) ([]byte, error) {
	var err error
	for _, id := range ids {
		switch id {
		case sectionType, sectionFunction, sectionGlobal, sectionExport, sectionCode:
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
	content := s.content
	var err error
	switch s.id {
	case sectionType:
		content, err = extended(r, 1)
		content = append(content, 0x60, 0, 0)
	case sectionFunction:
		content, err = extended(r, 2)
		content = appendU32(appendU32(content, m.emptyType()), m.emptyType())
	case sectionTable:
		content, err = boundTables(r)
	case sectionGlobal:
		content, err = extended(r, 2)
		content = append(content, 0x7f, 1, 0x41, 0, 0x0b, 0x7f, 1, 0x41, 0, 0x0b) // two mutable i32 that begin as 0
	case sectionExport:
		content, err = m.exported(r, h)
	case sectionCode:
		content, err = m.checked(r)
	}
	return appendSection(out, s.id, content), err
}

// extended returns the items of a vector after a count that is larger by n.
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

// boundTables returns the tables, each with a maximum. Without it table.grow could take 8 bytes of the
// host for each of 2^32 entries.
func boundTables(r *reader) ([]byte, error) {
	var content []byte
	n := uint32(0)
	err := r.each(func() error {
		if err := r.reference(); err != nil {
			return err
		}
		kind := r.b[r.at-1]
		l, err := r.limits()
		if err != nil {
			return err
		}
		if n++; l.min > maxTable || n > maxTables {
			return hostBound(fmt.Sprintf("table %d has %d entries; at most %d tables of %d are served", n-1, l.min, maxTables, maxTable))
		}
		if !l.bounded {
			l.max = maxTable
		}
		content = appendU32(append(content, kind, 1), l.min)
		content = appendU32(content, min(l.max, maxTable))
		return nil
	})
	return append(appendU32(nil, n), content...), cmp.Or(err, r.end())
}

// checks are the instructions that harden adds.
type checks struct {
	call       []byte // at the begin of each function
	renew, one []byte // the two added functions
	turn       []byte // calls the second
}

func (m *module) checks() checks {
	global := func(op byte, n uint32) []byte { return appendU32([]byte{op}, n) }
	get, set := global(opGlobalGet, m.budgetGlobal()), global(opGlobalSet, m.budgetGlobal())
	renew := appendU32([]byte{opCall}, m.renewFunc())
	take := func(n int) []byte { // the budget is less by n; renew it if it is spent
		number := append([]byte{opI32Const}, byte(n&0x7f|0x80), byte(n>>7)) // in two bytes
		return slices.Concat(get, number, []byte{opI32Sub}, set, get, []byte{opI32Const, 0, opI32LtS, opIf, opNone}, renew, []byte{opEnd})
	}
	return checks{
		call: take(1),
		turn: appendU32([]byte{opCall}, m.turnFunc()),
		renew: function(slices.Concat([]byte{opI32Const, 0, opMemoryGrow, 0, opDrop, opI32Const, 0x80, 0x80, 0x01}, set, // budgetSize
			global(opGlobalGet, m.stopGlobal()), []byte{opIf, opNone, opUnreachable, opEnd})),
		one: function(take(turnCost)),
	}
}

// function returns an item of the code section without locals.
func function(code []byte) []byte {
	body := append(append([]byte{0}, code...), opEnd)
	return append(appendU32(nil, uint32(len(body))), body...)
}

// checked returns the code section with its checks.
func (m *module) checked(r *reader) ([]byte, error) {
	c := m.checks()
	out := make([]byte, 0, len(r.b)+len(r.b)/2)
	var body []byte
	n := uint32(0)
	all := uint64(0)
	err := r.each(func() error {
		code, err := r.sized()
		if err != nil {
			return err
		}
		if int(n) >= len(m.funcs) {
			return fmt.Errorf("it has more functions than the %d of section %d", len(m.funcs), sectionFunction)
		}
		var locals uint64
		if body, locals, err = m.withChecks(body[:0], code, m.funcs[n], c); err != nil {
			return fmt.Errorf("function %d: %w", n, err)
		}
		if all += locals; all > maxAllLocals {
			return hostBound(fmt.Sprintf("its functions have more than %d locals", maxAllLocals))
		}
		out = append(appendU32(out, uint32(len(body))), body...)
		n++
		return nil
	})
	return slices.Concat(appendU32(nil, n+2), out, c.renew, c.one), cmp.Or(err, r.end())
}

// maxLocals is how many locals a function may have, and maxAllLocals how many all of them may have. wazero
// makes room for 2^32 in each, 8 bytes for one, and keeps it for all.
const (
	maxLocals    = 50_000
	maxAllLocals = 1 << 23
)

// maxBranches is how many blocks and conditional branches a function may have. wazero compiles a function in
// a time that grows with their square, and nothing interrupts it there. The compiler of Go, as a module, has
// 16,002 in its largest function.
const maxBranches = 20_000

// locals reads the vector of a function's locals, each a count and a type. It returns the items, their
// number, and the number of the function's locals including parameters.
func (m *module) locals(r *reader, typ uint32) (items []byte, groups uint32, n uint64, err error) {
	n = uint64(m.params(typ))
	from := 0
	err = r.each(func() error {
		if groups++; groups == 1 {
			from = r.at
		}
		more, err := r.u32()
		if err != nil {
			return err
		}
		if n += uint64(more); n > maxLocals {
			return hostBound(fmt.Sprintf("it has more than %d locals", maxLocals))
		}
		return r.valueType()
	})
	if groups > 0 {
		items = r.b[from:r.at]
	}
	return items, groups, n, err
}

// withChecks appends a function of a type, and returns the number of its locals including parameters. It
// adds one local, which counts the turns of its loops.
func (m *module) withChecks(out, code []byte, typ uint32, c checks) ([]byte, uint64, error) {
	r := &reader{b: code}
	items, groups, locals, err := m.locals(r, typ)
	if err != nil {
		return nil, 0, err
	}
	out = append(appendU32(out, groups+1), items...)
	out = append(append(out, 1, 0x7f), c.call...)
	counter := uint32(locals)
	from, branches := r.at, 0
	for r.left() > 0 {
		at := r.at
		if err := r.instruction(); err != nil {
			return nil, 0, fmt.Errorf("at byte %d: %w", at, err)
		}
		if isBranch(code[at]) {
			if branches++; branches > maxBranches {
				return nil, 0, hostBound(fmt.Sprintf("it has more than %d blocks and branches", maxBranches))
			}
		}
		switch {
		case code[at] == opLoop:
			out = append(append(out, code[from:r.at]...), opI32Const, 1)
			out = appendU32(append(appendU32(append(out, opLocalGet), counter), opI32Add, opLocalTee), counter)
			out = append(out, opI32Const, (turns-1)&0x7f|0x80, (turns-1)>>7, opI32And, opI32Eqz, opIf, opNone)
			out = append(append(out, c.turn...), opEnd)
			from = r.at
		case isBulk(code[at:r.at]): // one instruction that may take milliseconds
			out = append(append(out, code[from:at]...), c.turn...)
			from = at
		}
	}
	return append(out, code[from:]...), locals, nil
}
