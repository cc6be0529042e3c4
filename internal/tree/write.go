package tree

import (
	"encoding/binary"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// tableWriter writes a table. The caller calls Enter for a directory, Add for each of its files,
// then the same for its children, and Leave; at the end Add for the other files.
type tableWriter struct {
	dirs, files     []byte
	dirText, text   []byte
	open            []int // entered directories
	inTree, written uint32
}

// Enter starts a directory.
func (w *tableWriter) Enter(d tableDir) {
	w.open = append(w.open, len(w.dirs))
	w.dirText = append(w.dirText, d.Path...)
	w.dirs = appendStamp(w.dirs, d.Stamp)
	for _, n := range [...]uint32{uint32(len(w.dirText)), 0, 0, uint32(d.Before), flag(d.Settled)*settledBit | flag(d.Whole)*wholeBit} {
		w.dirs = binary.LittleEndian.AppendUint32(w.dirs, n)
	}
	w.dirs = append(w.dirs, make([]byte, sumSize)...)
}

// Files ends the files of the last entered directory.
func (w *tableWriter) Files() { w.set(w.open[len(w.open)-1], 1, w.written) }

// Leave ends the last entered directory.
func (w *tableWriter) Leave() {
	last := len(w.open) - 1
	w.set(w.open[last], 2, uint32(len(w.dirs)/dirSize))
	w.open = w.open[:last]
	w.inTree = w.written
}

// set sets one of the numbers after the stamp of a directory.
func (w *tableWriter) set(at, field int, v uint32) {
	binary.LittleEndian.PutUint32(w.dirs[at+stampSize+4*field:], v)
}

// Add adds a file. sum is nil when the digest is unknown.
func (w *tableWriter) Add(e *disk.Entry, sum *[sumSize]byte) {
	w.written++
	w.text = append(w.text, e.Path...)
	w.files = appendFile(w.files, e, sum, uint32(len(w.text)))
}

// appendFile appends the record of e, whose path ends at end.
func appendFile(b []byte, e *disk.Entry, sum *[sumSize]byte, end uint32) []byte {
	b = appendStamp(b, e.Stamp())
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Size))
	mode := modeOf(e)
	if e.Links <= linksBits {
		mode |= e.Links << linksShift
	}
	if sum == nil {
		sum = &[sumSize]byte{}
	} else {
		mode |= knownBit
	}
	b = binary.LittleEndian.AppendUint32(b, mode)
	b = binary.LittleEndian.AppendUint32(b, end)
	return append(b, sum[:]...)
}

// tableHead is the head of a table.
type tableHead struct {
	Basis  tableRules
	Git    tableGit
	Saved  int64 // see indexTable.Saved
	Looked int64 // the time of the last stat of the files, or later, in nanoseconds since 1970
}

// Payload returns the encoded table.
func (w *tableWriter) Payload(h tableHead) []byte {
	b := make([]byte, 0, headSize+len(w.dirs)+len(w.files)+len(w.dirText)+len(w.text))
	b = appendHead(b, &h)
	for _, n := range [...]uint32{uint32(len(w.dirs) / dirSize), w.written, w.inTree} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	b = append(b, w.dirs...)
	at := len(b)
	b = append(b, w.files...)
	// The paths of directories come before those of files.
	for end := b[at:]; len(end) > 0; end = end[fileSize:] {
		p := end[stampSize+8+4:]
		binary.LittleEndian.PutUint32(p, binary.LittleEndian.Uint32(p)+uint32(len(w.dirText)))
	}
	b = append(append(b, w.dirText...), w.text...)
	t, err := view(b)
	if err != nil {
		panic(err) // the table was just written
	}
	t.digest(h.Looked, func(int) bool { return true })
	return b
}

// appendHead appends the bytes before the numbers of directories and files.
func appendHead(b []byte, h *tableHead) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Saved))
	b = append(b, h.Basis.Rules[:]...)
	b = append(b, h.Basis.Tracked[:]...)
	b = appendStamp(b, h.Git.Stamp)
	return binary.LittleEndian.AppendUint32(b, flag(h.Git.Settled))
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func appendStamp(b []byte, s disk.Stamp) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Mtime))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Ctime))
	b = binary.LittleEndian.AppendUint64(b, s.Ino)
	return binary.LittleEndian.AppendUint64(b, s.Dev)
}
