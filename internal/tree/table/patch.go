package table

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// Patch makes of a table one with the same directories and files, which costs less
// than to write it anew.
type Patch struct {
	was   *Table
	out   []byte
	dirty []bool // by directory: a file right in it is another
}

// Patch begins one. The table must have been read.
func (t *Table) Patch() *Patch {
	return &Patch{was: t, out: slices.Clone(t.payload), dirty: make([]bool, t.Dirs())}
}

// SetDir says what directory i is like now.
func (p *Patch) SetDir(i int, s disk.Stamp, settled bool) {
	at := headSize + i*dirSize
	appendStamp(p.out[at:at], s)
	binary.LittleEndian.PutUint32(p.out[at+stampSize+4*4:], p.was.dirNumber(i, 4)&^settledBit|flag(settled))
}

// SetFile says what file i, whose path is that of e, is like now. Sum is nil when the
// digest is not known.
func (p *Patch) SetFile(i int, e *disk.Entry, sum *[sumSize]byte) {
	at := headSize + len(p.was.dirs) + i*fileSize
	appendFile(p.out[at:at], e, sum, p.was.fileEnd(i))
	if i < p.was.inTree {
		p.dirty[sort.Search(len(p.dirty), func(d int) bool { return p.was.filesEnd(d) > i })] = true
	}
}

// Payload gives the table.
func (p *Patch) Payload(h Head) []byte {
	appendHead(p.out[:0], &h)
	digest(p.out, h.Looked, func(i int) bool { return p.dirty[i] })
	return p.out
}
