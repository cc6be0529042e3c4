package wasm

import "fmt"

// These are the items of the sections that harden passes on unchanged. wazero allocates memory for all
// items that a vector announces, and for all bytes of a text, before it reads the first. So the host reads
// them first, exactly as wazero does: if two readers divide bytes into items differently, a count is
// hidden from one of them. An item that can be written in two ways is refused.

// valueType passes the type of a value, which is one byte in WebAssembly 2.0.
func (r *reader) valueType() error {
	t, err := r.byte()
	if err != nil {
		return err
	}
	if _, ok := valueTypes[t]; !ok {
		return fmt.Errorf("%#x is not the type of a value", t)
	}
	return nil
}

// reference passes the type of a reference.
func (r *reader) reference() error {
	t, err := r.byte()
	if err != nil {
		return err
	}
	if t != typeFunc && t != typeExtern {
		return fmt.Errorf("%#x is not the type of a reference", t)
	}
	return nil
}

// global passes the type and the first value of a global.
func (r *reader) global() error {
	if err := r.valueType(); err != nil {
		return err
	}
	if err := r.skip(1); err != nil {
		return err
	}
	return r.constant()
}

// element passes a segment of functions or references.
func (r *reader) element() error {
	flags, err := r.u32()
	if err != nil {
		return err
	}
	const passive, explicit, expressions = 1, 2, 4
	if flags > passive|explicit|expressions {
		return fmt.Errorf("a segment has the unknown kind %d", flags)
	}
	if flags&passive == 0 {
		if err := r.place(flags&explicit != 0); err != nil {
			return err
		}
	}
	item := func() error { return r.numbers(1) }
	kind := func() error { return r.skip(1) }
	if flags&expressions != 0 {
		item, kind = r.constant, r.reference
	}
	if flags&(passive|explicit) != 0 {
		if err := kind(); err != nil {
			return err
		}
	}
	return r.each(item)
}

// data passes a segment of bytes.
func (r *reader) data() error {
	flags, err := r.u32()
	if err != nil {
		return err
	}
	const passive, explicit = 1, 2
	if flags > explicit {
		return fmt.Errorf("a segment has the unknown kind %d", flags)
	}
	if flags != passive {
		if err := r.place(flags == explicit); err != nil {
			return err
		}
	}
	_, err = r.sized()
	return err
}

// place passes the place of a segment: the number of the table or memory if it is explicit, and an offset.
func (r *reader) place(explicit bool) error {
	if explicit {
		if err := r.numbers(1); err != nil {
			return err
		}
	}
	return r.constant()
}

// constant passes a constant expression with its end.
func (r *reader) constant() error {
	for {
		op, err := r.byte()
		if err != nil {
			return err
		}
		switch op {
		case opEnd:
			return nil
		case opI32Const:
			err = r.skipNumber(5)
		case opI64Const:
			err = r.skipNumber(10)
		case opF32Const:
			err = r.skip(4)
		case opF64Const:
			err = r.skip(8)
		case opGlobalGet, opRefFunc:
			err = r.numbers(1)
		case opRefNull:
			err = r.reference()
		case opVector:
			err = r.vectorConstant()
		default:
			err = fmt.Errorf("the instruction %#x is no constant", op)
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) vectorConstant() error {
	op, err := r.byte()
	if err == nil && op != opVectorConst {
		err = fmt.Errorf("the instruction %#x %d is no constant", opVector, op)
	}
	if err != nil {
		return err
	}
	return r.skip(16)
}
