package tree

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// tablePatch updates a table without adding directories or files, which costs less than writing a
// new one.
type tablePatch struct {
	was   *indexTable
	out   []byte
	dirty []bool // by directory: a file directly in it changed
}

// Patch starts a patch. The table must be checked.
func (t *indexTable) Patch() *tablePatch {
	return &tablePatch{was: t, out: slices.Clone(t.payload), dirty: make([]bool, t.Dirs())}
}

// SetDir sets the state of directory i.
func (p *tablePatch) SetDir(i int, s disk.Stamp, settled bool) {
	at := headSize + i*dirSize
	appendStamp(p.out[at:at], s)
	binary.LittleEndian.PutUint32(p.out[at+stampSize+4*4:], p.was.dirNumber(i, 4)&^settledBit|flag(settled))
}

// SetFile sets the state of file i, which has the path of e. sum is nil when the digest is unknown.
func (p *tablePatch) SetFile(i int, e *disk.Entry, sum *[sumSize]byte) {
	at := headSize + len(p.was.dirs) + i*fileSize
	appendFile(p.out[at:at], e, sum, p.was.fileEnd(i))
	if i < p.was.inTree {
		p.dirty[sort.Search(len(p.dirty), func(d int) bool { return p.was.filesEnd(d) > i })] = true
	}
}

// Payload returns the updated table.
func (p *tablePatch) Payload(h tableHead) []byte {
	appendHead(p.out[:0], &h)
	digest(p.out, h.Looked, func(i int) bool { return p.dirty[i] })
	return p.out
}
