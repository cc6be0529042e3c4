package wasm

import "fmt"

// Instructions: those that harden writes, and those whose operands differ from their neighbours'.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableSet     = 0x26
	opLoadFirst    = 0x28
	opStoreLast    = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI32LtS       = 0x48
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32And       = 0x71
	opLastPlain    = 0xc4
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opVector       = 0xfd
	opVectorConst  = 12 // after opVector

	opNone = 0x40 // the type of a block without a result
)

// instruction passes one instruction of WebAssembly 2.0 with its operands.
func (r *reader) instruction() error {
	op, err := r.byte()
	if err != nil {
		return err
	}
	switch {
	case op == opBlock || op == opLoop || op == opIf:
		return r.blockType()
	case op == opBr || op == opBrIf || op == opCall || op >= opLocalGet && op <= opTableSet || op == opRefFunc:
		return r.numbers(1)
	case op == opBrTable:
		if err := r.each(func() error { return r.numbers(1) }); err != nil {
			return err
		}
		return r.numbers(1)
	case op == opCallIndirect || op >= opLoadFirst && op <= opStoreLast:
		return r.numbers(2)
	case op == opSelectTyped:
		return r.each(r.valueType)
	case op == opMemorySize || op == opMemoryGrow || op == opI32Const:
		return r.skipNumber(5)
	case op == opI64Const:
		return r.skipNumber(10)
	case op == opF32Const:
		return r.skip(4)
	case op == opF64Const:
		return r.skip(8)
	case op == opRefNull:
		return r.reference()
	case op == opMisc:
		return r.misc()
	case op == opVector:
		return r.vector()
	case op <= opLastPlain || op == opRefIsNull: // the compiler refuses invalid ones among these
		return nil
	}
	return fmt.Errorf("the instruction %#x is none of WebAssembly 2.0", op)
}

// blockType reads the type of a block: none, the type of a value, or the number of a type, which is not
// negative. wazero reads a reference to a type as two numbers, even without the feature that allows it.
// blockType refuses that.
func (r *reader) blockType() error {
	from := r.at
	if err := r.skipNumber(5); err != nil {
		return err
	}
	const sign = 0x40 // in the last byte
	n, last := r.at-from, r.b[r.at-1]
	if _, ok := valueTypes[last]; last&sign == 0 && (n < 5 || last < 0x10) || n == 1 && (last == opNone || ok) {
		return nil
	}
	return fmt.Errorf("a block has the unknown type %#x", r.b[from:r.at])
}

// numbers passes n unsigned numbers.
func (r *reader) numbers(n int) error {
	for range n {
		if _, err := r.u32(); err != nil {
			return err
		}
	}
	return nil
}

// misc passes the rest of an instruction that begins with opMisc.
func (r *reader) misc() error {
	op, err := r.u32()
	switch {
	case err != nil:
		return err
	case op <= 7: // saturating truncations
		return nil
	case op == 8 || op == 10 || op == 12 || op == 14: // memory.init, memory.copy, table.init, table.copy
		return r.numbers(2)
	case op <= 17: // data.drop, memory.fill, elem.drop, table.grow, table.size, table.fill
		return r.numbers(1)
	}
	return fmt.Errorf("the instruction %#x %d is none of WebAssembly 2.0", opMisc, op)
}

// vector reads the rest of an instruction that begins with opVector. wazero reads only one byte of its
// number. For a number from 128 it takes the second byte, which is 1, for an instruction without effect.
func (r *reader) vector() error {
	op, err := r.byte()
	switch {
	case err != nil:
		return err
	case op <= 11 || op == 92 || op == 93: // loads and stores
		return r.numbers(2)
	case op == opVectorConst || op == 13: // i8x16.shuffle
		return r.skip(16)
	case op >= 21 && op <= 34: // lanes
		return r.skip(1)
	case op >= 84 && op <= 91: // loads and stores of lanes
		if err := r.numbers(2); err != nil {
			return err
		}
		return r.skip(1)
	case op < 0x80:
		return nil
	}
	high, err := r.byte()
	if err == nil && high != 1 {
		err = fmt.Errorf("the instruction %#x %#x %#x is none of WebAssembly 2.0", opVector, op, high)
	}
	return err
}

// isBranch reports whether an instruction divides the code into blocks.
func isBranch(op byte) bool { return op == opBlock || op == opLoop || op == opIf || op == opBrIf }

// isBulk reports whether the instruction, which instruction has passed, works on a range: of memory, of a
// table.
func isBulk(code []byte) bool {
	if code[0] != opMisc {
		return false
	}
	op, _ := (&reader{b: code, at: 1}).u32()
	return op >= 8 && op <= 17 && op != 9 && op != 13 && op != 16
}
