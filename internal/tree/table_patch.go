package tree

import (
	"encoding/binary"
	"maps"
	"slices"
	"sort"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// tablePatch updates a table without adding directories or files, which costs less than writing a
// new one. It copies only the head and the directories of the table.
type tablePatch struct {
	was   *indexTable
	out   []byte        // head and directories
	files map[int]field // the changed files
	dirty []bool        // by directory: a file directly in it changed
}

// Patch starts a patch. The table must be checked.
func (t *indexTable) Patch() *tablePatch {
	return &tablePatch{
		was: t, out: slices.Clone(t.payload[:min(len(t.payload), headSize+len(t.dirs))]),
		files: make(map[int]field), dirty: make([]bool, t.Dirs()),
	}
}

// SetDir sets the state of directory i to the stamp and the bits of d.
func (p *tablePatch) SetDir(i int, d tableDir) {
	at := headSize + i*dirSize
	appendStamp(p.out[at:at], d.Stamp)
	bits := p.was.dirNumber(i, 4)&^(settledBit|wholeBit) | flag(d.Settled)*settledBit | flag(d.Whole)*wholeBit
	binary.LittleEndian.PutUint32(p.out[at+stampSize+4*4:], bits)
}

// SetFile sets the state of file i, which has the path of e. sum is nil when the digest is unknown.
func (p *tablePatch) SetFile(i int, e *disk.Entry, sum *[sumSize]byte) {
	p.files[i] = appendFile(make([]byte, 0, fileSize), e, sum, p.was.fileEnd(i))
	if i < p.was.inTree {
		p.dirty[sort.Search(len(p.dirty), func(d int) bool { return p.was.filesEnd(d) > i })] = true
	}
}

// manyParts is the smallest number of parts for which one copy costs less than a write of each part.
const manyParts = 64

// Payload returns the updated table, in parts.
func (p *tablePatch) Payload(h tableHead) [][]byte {
	appendHead(p.out[:0], &h)
	after := *p.was
	after.payload, after.dirs, after.changed = p.out, p.out[headSize:], p.files
	after.digest(h.Looked, func(i int) bool { return p.dirty[i] })
	parts, rest, from := [][]byte{p.out}, p.was.payload[len(p.out):], 0
	for _, i := range slices.Sorted(maps.Keys(p.files)) {
		at := i * fileSize
		parts = append(parts, rest[from:at], p.files[i])
		from = at + fileSize
	}
	parts = append(parts, rest[from:])
	if len(parts) > manyParts {
		return [][]byte{slices.Concat(parts...)}
	}
	return parts
}
