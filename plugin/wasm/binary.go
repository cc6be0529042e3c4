package wasm

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// reader reads the binary format of WebAssembly. Every method returns an error at the end of the
// bytes, so a hostile module cannot lead it out of them.
type reader struct {
	b     []byte
	at    int
	items uint64 // of the vectors that have been begun
}

var errShort = errors.New("it ends in the middle of an item")

func (r *reader) left() int { return len(r.b) - r.at }

// end returns an error unless everything is read.
func (r *reader) end() error {
	if r.left() > 0 {
		return fmt.Errorf("it has %d bytes after its last item", r.left())
	}
	return nil
}

func (r *reader) byte() (byte, error) {
	if r.at >= len(r.b) {
		return 0, errShort
	}
	r.at++
	return r.b[r.at-1], nil
}

func (r *reader) take(n int) ([]byte, error) {
	if n < 0 || n > r.left() {
		return nil, errShort
	}
	r.at += n
	return r.b[r.at-n : r.at : r.at], nil
}

// skip passes n bytes.
func (r *reader) skip(n int) error {
	_, err := r.take(n)
	return err
}

// u32 reads an unsigned number in LEB128.
func (r *reader) u32() (uint32, error) {
	var n uint64
	for shift := 0; shift < 35; shift += 7 {
		c, err := r.byte()
		if err != nil {
			return 0, err
		}
		n |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			if n > 1<<32-1 {
				break
			}
			return uint32(n), nil
		}
	}
	return 0, errors.New("a number has more than 32 bits")
}

// skipNumber passes a number in LEB128 of at most max bytes, signed or not.
func (r *reader) skipNumber(max int) error {
	for range max {
		c, err := r.byte()
		if err != nil {
			return err
		}
		if c&0x80 == 0 {
			return nil
		}
	}
	return fmt.Errorf("a number has more than %d bytes", max)
}

// sized reads a number of bytes, and these.
func (r *reader) sized() ([]byte, error) {
	n, err := r.u32()
	if err != nil {
		return nil, err
	}
	return r.take(int(n))
}

func (r *reader) name() (string, error) {
	b, err := r.sized()
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", fmt.Errorf("the name %.40q is not UTF-8", b)
	}
	return string(b), nil
}

// maxItems is how many items the vectors of a section, or of a function, may have together. wazero
// allocates memory for the announced number before it reads an item: up to 72 bytes each.
const maxItems = 1 << 19

// each reads the number of a vector's items, and calls one for each.
func (r *reader) each(one func() error) error {
	n, err := r.u32()
	if err != nil {
		return err
	}
	if int(n) > r.left() {
		return fmt.Errorf("it names %d items and has %d bytes left", n, r.left())
	}
	if r.items += uint64(n); r.items > maxItems {
		return hostBound(fmt.Sprintf("it has more than %d items", maxItems))
	}
	for range n {
		if err := one(); err != nil {
			return err
		}
	}
	return nil
}

// appendU32 appends n in LEB128.
func appendU32(b []byte, n uint32) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// appendSection appends a section.
func appendSection(b []byte, id byte, content []byte) []byte {
	b = appendU32(append(b, id), uint32(len(content)))
	return append(b, content...)
}
