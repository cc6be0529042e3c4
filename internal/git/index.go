package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// errForeign says that only git can read an index: part of it is in another file (split index) or
// left out (sparse index), or its version is newer.
var errForeign = errors.New("only git can read it")

// modeLink is the mode of a submodule, modeDir that of a directory in a sparse
// index.
const (
	modeMask = 0o170000
	modeLink = 0o160000
	modeDir  = 0o040000
)

// maxGrowth is how many bytes longer than the index the names of version 4 may be: a small hostile
// file must not fill the memory.
const maxGrowth = 64

// indexReader reads the names in an index file. gitformat-index(5) documents the format.
type indexReader struct {
	data     []byte
	pos      int
	hashSize int // of an object id, in bytes
	version  uint32
	text     []byte // version 4: buffer for expanded names
	at       []span
	hidden   []hidden
}

// parseIndex returns the paths of an index. It returns errForeign when only git can read it. The
// result refers to data.
func parseIndex(data []byte, hashSize int) (*Files, error) {
	r := &indexReader{data: data, hashSize: hashSize}
	if err := r.readAll(); err != nil {
		return nil, err
	}
	files := &Files{}
	if r.version == 4 {
		files = sorted(r.text, r.at)
	} else {
		files = sorted(r.data, r.at)
	}
	files.hidden = r.hidden
	return files, nil
}

func (r *indexReader) readAll() error {
	if len(r.data) < 12+r.hashSize || string(r.data[:4]) != "DIRC" || uint64(len(r.data)) > 1<<31 {
		return errors.New("not an index")
	}
	r.version = binary.BigEndian.Uint32(r.data[4:])
	if r.version < 2 || r.version > 4 {
		return errForeign
	}
	n := binary.BigEndian.Uint32(r.data[8:])
	r.data = r.data[:len(r.data)-r.hashSize]
	r.pos = 12
	if int(n) > len(r.data)/(42+r.hashSize) {
		return fmt.Errorf("%d entries in %d bytes", n, len(r.data))
	}
	r.at = make([]span, 0, n)
	for range n {
		if err := r.entry(); err != nil {
			return err
		}
	}
	return r.extensions()
}

// entry reads one entry: ten 32-bit numbers, the object id, flags, the path.
func (r *indexReader) entry() error {
	const modeAt = 24
	start, fixed := r.pos, 40+r.hashSize+2
	if len(r.data)-start < fixed+2 {
		return r.short()
	}
	mode := binary.BigEndian.Uint32(r.data[start+modeAt:])
	if mode&modeMask == modeDir {
		return errForeign
	}
	assumed, skipped := r.data[start+40+r.hashSize]&0x80 != 0, false
	if r.data[start+40+r.hashSize]&0x40 != 0 { // "extended": 16 more bits of flags
		skipped = r.data[start+fixed]&0x40 != 0
		fixed += 2
	}
	r.pos = start + fixed
	s, err := r.name()
	if err != nil {
		return err
	}
	if r.version < 4 {
		r.pos = start + (r.pos-start+8)&^7 // 1 to 8 NULs
		if r.pos > len(r.data) {
			return r.short()
		}
	} else {
		r.pos++ // one NUL
	}
	s.link = mode&modeMask == modeLink
	r.at = append(r.at, s)
	if (assumed || skipped) && !s.link {
		r.hidden = append(r.hidden, hidden{span: s, mode: mode, id: r.data[start+40 : start+40+r.hashSize], skipped: skipped})
	}
	return nil
}

// name reads the path up to its NUL. Version 4 stores the number of bytes to drop from the end of
// the previous path, and the text to append.
func (r *indexReader) name() (span, error) {
	keep := 0
	if r.version == 4 {
		var last span
		if len(r.at) > 0 {
			last = r.at[len(r.at)-1]
		}
		drop, err := r.offset()
		if err != nil || drop > uint64(last.len) {
			return span{}, r.short()
		}
		keep = int(last.len) - int(drop)
		r.text = append(r.text, r.text[last.off:int(last.off)+keep]...)
	}
	n := bytes.IndexByte(r.data[r.pos:], 0)
	if n < 0 {
		return span{}, r.short()
	}
	if keep+n == 0 {
		return span{}, errForeign // the name is in the shared part of a split index
	}
	from := r.pos
	r.pos += n
	if r.version < 4 {
		return span{off: uint32(from), len: uint32(n)}, nil
	}
	r.text = append(r.text, r.data[from:r.pos]...)
	if len(r.text) > maxGrowth*len(r.data) || len(r.text) > 1<<31 {
		return span{}, errForeign
	}
	return span{off: uint32(len(r.text) - keep - n), len: uint32(keep + n)}, nil
}

// offset reads git's variable-length number, as in pack files.
func (r *indexReader) offset() (uint64, error) {
	var v uint64
	for i := 0; r.pos < len(r.data) && i < 9; i++ {
		b := r.data[r.pos]
		r.pos++
		v |= uint64(b & 0x7f)
		if b&0x80 == 0 {
			return v, nil
		}
		v = (v + 1) << 7
	}
	return 0, r.short()
}

// extensions returns errForeign for an extension that changes the meaning of entries; these have
// lower-case names.
func (r *indexReader) extensions() error {
	for r.pos < len(r.data) {
		if len(r.data)-r.pos < 8 {
			return r.short()
		}
		if c := r.data[r.pos]; c < 'A' || c > 'Z' {
			return errForeign
		}
		size := int64(binary.BigEndian.Uint32(r.data[r.pos+4:]))
		if size > int64(len(r.data)-r.pos-8) {
			return r.short()
		}
		r.pos += 8 + int(size)
	}
	return nil
}

func (r *indexReader) short() error { return fmt.Errorf("damaged at byte %d", r.pos) }
