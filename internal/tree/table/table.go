// Package table is the format of the index file: what a walk has found, directory
// by directory, with the stat of every file and the digest of its content where
// that is known. It is read in place, so that what nobody asks for costs nothing.
package table

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"sort"
	"strings"
	"unsafe"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// Version is that of the format. It changes with it.
const Version = 6

// Basis is what decides which names of a directory are in the table.
type Basis struct {
	Rules   [32]byte // digest of the ignore rules from outside the root
	Tracked [32]byte // digest of the paths that git tracks
}

// Git is the list that git keeps of what it tracks.
type Git struct {
	Stamp disk.Stamp
	// Settled says that with the same stamp it is the same list.
	Settled bool
}

// Dir is one directory.
type Dir struct {
	Path  string // relative to the root, "" is the root
	Stamp disk.Stamp
	// Settled says that with the same stamp, and the same ignore rules, it has the
	// same files and directories.
	Settled bool
	Before  int // how many of its parent's files come first
}

// Table is a list of directories, each before those in it, and of their files. The
// directories in one are sorted as if their names had "/" behind, and its files by
// name. Behind the files of directories come others, sorted by path: those that
// are no part of the workspace, and whose digest is known all the same.
//
// The zero value is empty. It is immutable.
type Table struct {
	Basis Basis
	Git   Git

	payload     []byte // all of it
	dirs, files []byte
	text        string // the paths, one behind the other
	saved       int64
	inTree      int // files of directories
}

// All numbers are little endian. A head, the directories, the files, the paths.
const (
	headSize = 8 + 32 + 32 + stampSize + 4 + 4*3

	// Stamp, end of the path in text, end of the files, end of those below, Before,
	// settledBit and knownBit, digest.
	dirSize  = stampSize + 5*4 + sumSize
	dirSumAt = dirSize - sumSize

	// Stamp, size, mode with kind and links, end of the path in text, digest.
	fileSize  = stampSize + 8 + 4 + 4 + sumSize
	stampSize = 4 * 8
	sumSize   = 32
)

// The bits of a file's mode and kind.
const (
	permBits   = 0o777
	kindShift  = 16
	kindBits   = 0xff
	linksShift = 24
	linksBits  = 0x7f    // more links than that are not noted
	knownBit   = 1 << 31 // the digest is there

	settledBit = 1
)

// ErrFormat is the error of a payload that is no table.
var ErrFormat = errors.New("not in the format of an index")

// Read checks a payload, which must not change any more, and gives the table in it.
func Read(payload []byte) (*Table, error) {
	t, err := view(payload)
	if err != nil {
		return nil, err
	}
	return t, t.check()
}

// view is Read without the check.
func view(payload []byte) (*Table, error) {
	if len(payload) < headSize {
		return nil, ErrFormat
	}
	t, h := &Table{payload: payload}, field(payload)
	t.saved = int64(h.uint64())
	h.copy(t.Basis.Rules[:])
	h.copy(t.Basis.Tracked[:])
	t.Git.Stamp = h.stamp()
	t.Git.Settled = h.uint32() == 1
	dirs, files, inTree := uint64(h.uint32()), uint64(h.uint32()), uint64(h.uint32())
	rest := payload[headSize:]
	if inTree > files || dirs*dirSize+files*fileSize > uint64(len(rest)) {
		return nil, ErrFormat
	}
	t.dirs, rest = rest[:dirs*dirSize], rest[dirs*dirSize:]
	t.files, rest = rest[:files*fileSize], rest[files*fileSize:]
	t.text = unsafe.String(unsafe.SliceData(rest), len(rest))
	t.inTree = int(inTree)
	return t, nil
}

// Saved is when the table was written, in nanoseconds since 1970.
func (t *Table) Saved() int64 { return t.saved }

// Dirs and Files give how many there are.
func (t *Table) Dirs() int { return len(t.dirs) / dirSize }

// Files counts those of directories, and the others.
func (t *Table) Files() (inTree, others int) { return t.inTree, t.count() - t.inTree }

func (t *Table) count() int { return len(t.files) / fileSize }

// Dir gives directory i.
func (t *Table) Dir(i int) Dir {
	f := t.dir(i)
	stamp := f.stamp()
	end, _, _, before, settled := f.uint32(), f.uint32(), f.uint32(), f.uint32(), f.uint32()
	return Dir{Path: t.text[t.dirEnd(i-1):end], Stamp: stamp, Settled: settled&settledBit != 0, Before: int(before)}
}

// Digest gives that of everything below directory i, if it is known; see Content.
func (t *Table) Digest(i int) (sum [sumSize]byte, known bool) {
	copy(sum[:], t.dir(i)[dirSumAt:])
	return sum, t.dirNumber(i, 4)&knownBit != 0
}

// FilesOf gives the first file of directory i, and the one behind the last.
func (t *Table) FilesOf(i int) (from, to int) { return t.filesEnd(i - 1), t.filesEnd(i) }

// Below gives the directory behind the last one below i. The first one in i is
// i+1, if that is not it, and each other one is what is behind the one before it.
func (t *Table) Below(i int) int { return int(t.dirNumber(i, 2)) }

// File gives the path and the kind of file i.
func (t *Table) File(i int) (path string, kind disk.Kind) {
	f := t.file(i)[stampSize+8:]
	mode, end := f.uint32(), f.uint32()
	return t.text[t.fileEnd(i-1):end], disk.Kind(mode >> kindShift & kindBits)
}

// Same tells whether file i has the stat of e.
func (t *Table) Same(i int, e *disk.Entry) bool {
	s, size, mode := t.Stat(i)
	return s == e.Stamp() && size == e.Size && mode == modeOf(e)
}

func modeOf(e *disk.Entry) uint32 { return uint32(e.Mode)&permBits | uint32(e.Kind)<<kindShift }

// Entry gives what is known of file i.
func (t *Table) Entry(i int) (e disk.Entry) {
	e.Path, e.Kind = t.File(i)
	stamp, size, mode := t.Stat(i)
	e.Mtime, e.Ctime, e.Ino, e.Dev = stamp.Mtime, stamp.Ctime, stamp.Ino, stamp.Dev
	e.Size, e.Mode = size, fs.FileMode(mode&permBits)
	e.Links = binary.LittleEndian.Uint32(t.file(i)[stampSize+8:]) >> linksShift & linksBits
	return e
}

// Stat gives what file i was like.
func (t *Table) Stat(i int) (s disk.Stamp, size int64, mode uint32) {
	f := t.file(i)
	return f.stamp(), int64(f.uint64()), f.uint32() &^ (knownBit | linksBits<<linksShift)
}

// Sum gives the digest of file i, if it is known.
func (t *Table) Sum(i int) (sum [sumSize]byte, known bool) {
	f := t.file(i)
	mode := binary.LittleEndian.Uint32(f[stampSize+8:])
	copy(sum[:], f[fileSize-sumSize:])
	return sum, mode&knownBit != 0
}

// Find gives the number of the file at path, -1 when there is none.
func (t *Table) Find(path string) int {
	if i := t.FindIn(t.inTree, t.count(), path); i >= 0 {
		return i
	}
	i := t.FindDir(path[:max(0, strings.LastIndexByte(path, '/'))])
	if i < 0 {
		return -1
	}
	from, to := t.FilesOf(i)
	return t.FindIn(from, to, path)
}

// FindDir is Find for directories.
func (t *Table) FindDir(path string) int {
	if path == "" {
		return min(0, t.Dirs()-1)
	}
	i, ok := sort.Find(max(0, t.Dirs()-1), func(i int) int { return disk.CompareDirs(path, t.Dir(i+1).Path) })
	if !ok {
		return -1
	}
	return i + 1
}

// FindIn is Find among the files from one to another, which the second is not part
// of.
func (t *Table) FindIn(from, to int, path string) int {
	i, ok := sort.Find(to-from, func(i int) int {
		p, _ := t.File(from + i)
		return strings.Compare(path, p)
	})
	if !ok {
		return -1
	}
	return from + i
}

func (t *Table) dir(i int) field { return field(t.dirs[i*dirSize : (i+1)*dirSize]) }

// dirNumber gives one of the numbers behind the stamp of directory i, 0 of the one
// before the first.
func (t *Table) dirNumber(i, field int) uint32 {
	if i < 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(t.dirs[i*dirSize+stampSize+4*field:])
}

func (t *Table) dirEnd(i int) uint32 { return t.dirNumber(i, 0) }
func (t *Table) filesEnd(i int) int  { return int(t.dirNumber(i, 1)) }

func (t *Table) file(i int) field { return field(t.files[i*fileSize : (i+1)*fileSize]) }

// fileEnd gives where the path of file i ends, and those of directories for the
// one before the first.
func (t *Table) fileEnd(i int) uint32 {
	if i < 0 {
		return t.dirEnd(t.Dirs() - 1)
	}
	return binary.LittleEndian.Uint32(t.files[i*fileSize+stampSize+8+4:])
}

// field is what is read from front to back.
type field []byte

func (f *field) uint32() uint32 {
	v := binary.LittleEndian.Uint32(*f)
	*f = (*f)[4:]
	return v
}

func (f *field) uint64() uint64 {
	v := binary.LittleEndian.Uint64(*f)
	*f = (*f)[8:]
	return v
}

func (f *field) copy(to []byte) { *f = (*f)[copy(to, *f):] }

func (f *field) stamp() disk.Stamp {
	return disk.Stamp{Mtime: int64(f.uint64()), Ctime: int64(f.uint64()), Ino: f.uint64(), Dev: f.uint64()}
}
