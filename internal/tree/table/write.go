package table

import (
	"encoding/binary"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// Writer makes a table. Directories come as Enter, Add for each of its files,
// the directories in it, Leave; then come the others with Add.
type Writer struct {
	dirs, files     []byte
	dirText, text   []byte
	open            []int // directories that are not left yet
	inTree, written uint32
}

// Enter begins a directory.
func (w *Writer) Enter(d Dir) {
	w.open = append(w.open, len(w.dirs))
	w.dirText = append(w.dirText, d.Path...)
	w.dirs = appendStamp(w.dirs, d.Stamp)
	for _, n := range [...]uint32{uint32(len(w.dirText)), 0, 0, uint32(d.Before), flag(d.Settled)} {
		w.dirs = binary.LittleEndian.AppendUint32(w.dirs, n)
	}
	w.dirs = append(w.dirs, make([]byte, sumSize)...)
}

// Files ends the files of the directory that was entered last.
func (w *Writer) Files() { w.set(w.open[len(w.open)-1], 1, w.written) }

// Leave ends the directory that is open.
func (w *Writer) Leave() {
	last := len(w.open) - 1
	w.set(w.open[last], 2, uint32(len(w.dirs)/dirSize))
	w.open = w.open[:last]
	w.inTree = w.written
}

// set changes one of the numbers behind the stamp of a directory.
func (w *Writer) set(at, field int, v uint32) {
	binary.LittleEndian.PutUint32(w.dirs[at+stampSize+4*field:], v)
}

// Add adds a file. Sum is nil when the digest is not known.
func (w *Writer) Add(e *disk.Entry, sum *[sumSize]byte) {
	w.written++
	w.text = append(w.text, e.Path...)
	w.files = appendFile(w.files, e, sum, uint32(len(w.text)))
}

// appendFile adds a record of e, whose path ends at end.
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

// Head is what a table says beside directories and files.
type Head struct {
	Basis  Basis
	Git    Git
	Saved  int64 // see Table.Saved
	Looked int64 // when somebody looked at the files, or later; in nanoseconds since 1970
}

// Payload gives the table.
func (w *Writer) Payload(h Head) []byte {
	b := make([]byte, 0, headSize+len(w.dirs)+len(w.files)+len(w.dirText)+len(w.text))
	b = appendHead(b, &h)
	for _, n := range [...]uint32{uint32(len(w.dirs) / dirSize), w.written, w.inTree} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	b = append(b, w.dirs...)
	at := len(b)
	b = append(b, w.files...)
	// The paths of directories stand in front of those of files.
	for end := b[at:]; len(end) > 0; end = end[fileSize:] {
		p := end[stampSize+8+4:]
		binary.LittleEndian.PutUint32(p, binary.LittleEndian.Uint32(p)+uint32(len(w.dirText)))
	}
	b = append(append(b, w.dirText...), w.text...)
	digest(b, h.Looked, func(int) bool { return true })
	return b
}

// appendHead adds what stands in front of the numbers of directories and files.
func appendHead(b []byte, h *Head) []byte {
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
