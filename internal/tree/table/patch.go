package table

import (
	"encoding/binary"
	"slices"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// Patch makes of a table one with the same directories and files, which costs less
// than to write it anew.
type Patch struct {
	was *Table
	out []byte
}

// Patch begins one. The table must have been read.
func (t *Table) Patch() *Patch { return &Patch{was: t, out: slices.Clone(t.payload)} }

// SetDir says what directory i is like now.
func (p *Patch) SetDir(i int, s disk.Stamp, settled bool) {
	at := headSize + i*dirSize
	appendStamp(p.out[at:at], s)
	binary.LittleEndian.PutUint32(p.out[at+stampSize+4*4:], flag(settled))
}

// SetFile says what file i, whose path is that of e, is like now. Sum is nil when the
// digest is not known.
func (p *Patch) SetFile(i int, e *disk.Entry, sum *[sumSize]byte) {
	at := headSize + len(p.was.dirs) + i*fileSize
	appendFile(p.out[at:at], e, sum, p.was.fileEnd(i))
}

// Payload gives the table as it was at the time saved.
func (p *Patch) Payload(basis Basis, git Git, saved int64) []byte {
	appendHead(p.out[:0], basis, git, saved)
	return p.out
}
