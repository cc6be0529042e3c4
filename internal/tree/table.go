package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sort"
)

// indexVersion is that of the format below.
const indexVersion = 1

// A table is the content of the index file, as it is on disk: the time it was
// saved at, the number of records, the records sorted by path, and the paths one
// after the other. All numbers are little endian. It is read in place, so that
// what nobody asks for costs nothing.
type table struct {
	n       int
	records []byte
	text    []byte
}

const (
	tableHead  = 8 + 4
	recordSize = 5*8 + 4 + 4 + 32
	endAt      = 5*8 + 4 // where in a record the end of its path in text is
	sumAt      = endAt + 4
)

// record is a file with the digest of its content.
type record struct {
	Entry
	sum [32]byte
}

var errTable = errors.New("not in the format of an index")

// readTable checks a payload and gives the table in it, and when it was saved.
func readTable(payload []byte) (t table, saved int64, err error) {
	if len(payload) < tableHead {
		return t, 0, errTable
	}
	saved = int64(binary.LittleEndian.Uint64(payload))
	n := uint64(binary.LittleEndian.Uint32(payload[8:]))
	body := payload[tableHead:]
	if n*recordSize > uint64(len(body)) {
		return t, 0, errTable
	}
	t = table{n: int(n), records: body[:n*recordSize], text: body[n*recordSize:]}
	return t, saved, t.check()
}

// check makes sure that the paths are where they should be, and in order.
func (t *table) check() error {
	var last []byte
	from := uint32(0)
	for i := range t.n {
		to := t.end(i)
		if to <= from || uint64(to) > uint64(len(t.text)) {
			return errTable
		}
		p := t.text[from:to]
		if i > 0 && bytes.Compare(last, p) >= 0 {
			return errTable
		}
		last, from = p, to
	}
	if uint64(from) != uint64(len(t.text)) {
		return errTable
	}
	return nil
}

func (t *table) end(i int) uint32 {
	return binary.LittleEndian.Uint32(t.records[i*recordSize+endAt:])
}

func (t *table) path(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = t.end(i - 1)
	}
	return t.text[from:t.end(i)]
}

// find gives the record of path, -1 when there is none.
func (t *table) find(path string) int {
	i := sort.Search(t.n, func(i int) bool { return string(t.path(i)) >= path })
	if i < t.n && string(t.path(i)) == path {
		return i
	}
	return -1
}

// has tells whether record i is of a file with the stat of e.
func (t *table) has(i int, e *Entry) bool {
	r := t.records[i*recordSize : (i+1)*recordSize]
	return int64(binary.LittleEndian.Uint64(r)) == e.Size &&
		int64(binary.LittleEndian.Uint64(r[8:])) == e.Mtime &&
		int64(binary.LittleEndian.Uint64(r[16:])) == e.Ctime &&
		binary.LittleEndian.Uint64(r[24:]) == e.Ino &&
		binary.LittleEndian.Uint64(r[32:]) == e.Dev &&
		binary.LittleEndian.Uint32(r[40:]) == uint32(e.Mode) &&
		e.Kind == File
}

func (t *table) sum(i int) (sum [32]byte) {
	copy(sum[:], t.records[i*recordSize+sumAt:])
	return sum
}

// raw gives record i without the end of its path.
func (t *table) raw(i int) []byte { return t.records[i*recordSize : i*recordSize+endAt] }

// join gives, for each of the sorted entries, one more than its record, 0 when
// there is none.
func (t *table) join(entries []Entry) []uint32 {
	at := make([]uint32, len(entries))
	for i, j := 0, 0; i < len(entries) && j < t.n; {
		p := t.path(j)
		switch {
		case string(p) == entries[i].Path:
			at[i] = uint32(j + 1)
			i++
			j++
		case string(p) < entries[i].Path:
			j++
		default:
			i++
		}
	}
	return at
}

// tableWriter makes a payload of records that come sorted by path.
type tableWriter struct {
	n       uint32
	records []byte
	text    []byte
}

func (w *tableWriter) add(r *record) {
	b := w.records
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Size))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Mtime))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Ctime))
	b = binary.LittleEndian.AppendUint64(b, r.Ino)
	b = binary.LittleEndian.AppendUint64(b, r.Dev)
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Mode))
	w.finish(b, r.Path, r.sum)
}

// keep adds record i of t.
func (w *tableWriter) keep(t *table, i int) {
	w.finish(append(w.records, t.raw(i)...), string(t.path(i)), t.sum(i))
}

func (w *tableWriter) finish(b []byte, path string, sum [32]byte) {
	w.n++
	w.text = append(w.text, path...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(w.text)))
	w.records = append(b, sum[:]...)
}

func (w *tableWriter) payload(saved int64) []byte {
	b := make([]byte, 0, tableHead+len(w.records)+len(w.text))
	b = binary.LittleEndian.AppendUint64(b, uint64(saved))
	b = binary.LittleEndian.AppendUint32(b, w.n)
	return append(append(b, w.records...), w.text...)
}
