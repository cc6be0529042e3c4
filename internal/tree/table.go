package tree

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"sort"
	"strings"
	"unsafe"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// tableVersion is the version of the format.
const tableVersion = 8

// tableRules identifies the rules that decide which names of a directory are in the table.
type tableRules struct {
	Rules   [32]byte // digest of the ignore rules from outside the root
	Tracked [32]byte // digest of the paths that git tracks
}

// tableGit is the stat of git's index.
type tableGit struct {
	Stamp disk.Stamp
	// Settled reports whether the same stamp means the same index.
	Settled bool
}

// tableDir is one directory.
type tableDir struct {
	Path  string // relative to the root, "" is the root
	Stamp disk.Stamp
	// Settled reports whether the same stamp, with the same ignore rules, means the same names.
	Settled bool
	Whole   bool // no name was left out but bento's own and .git
	Before  int  // number of its parent's files that come first
}

// indexTable is a list of directories, each before its children, and of their files. Children are
// sorted as if their names had "/" at the end, files by name. After the files of directories come
// other files, sorted by path, which are not part of the workspace and have a known digest.
//
// The zero value is empty. It does not change.
type indexTable struct {
	Basis tableRules
	Git   tableGit

	payload     []byte // the encoded table
	dirs, files []byte
	changed     map[int]field // files that differ from those in files; only set in a patch
	text        string        // the paths, joined
	saved       int64
	inTree      int // number of files in directories
}

// All numbers are little endian. The order is head, directories, files, paths.
const (
	headSize = 8 + 32 + 32 + stampSize + 4 + 4*3

	// Stamp, end of the path in text, end of the files, end of those below, Before,
	// settledBit, wholeBit and knownBit, digest.
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
	linksBits  = 0x7f    // largest stored number of links
	knownBit   = 1 << 31 // the digest is known

	settledBit = 1
	wholeBit   = 2
)

// errFormat is the error of a payload that is no table.
var errFormat = errors.New("not in the format of an index")

// readTable checks a payload, which must not change, and returns the table in it.
func readTable(payload []byte) (*indexTable, error) {
	t, err := view(payload)
	if err != nil {
		return nil, err
	}
	return t, t.check()
}

// view is readTable without the check.
func view(payload []byte) (*indexTable, error) {
	if len(payload) < headSize {
		return nil, errFormat
	}
	t, h := &indexTable{payload: payload}, field(payload)
	t.saved = int64(h.uint64())
	h.copy(t.Basis.Rules[:])
	h.copy(t.Basis.Tracked[:])
	t.Git.Stamp = h.stamp()
	t.Git.Settled = h.uint32() == 1
	dirs, files, inTree := uint64(h.uint32()), uint64(h.uint32()), uint64(h.uint32())
	rest := payload[headSize:]
	if inTree > files || dirs*dirSize+files*fileSize > uint64(len(rest)) {
		return nil, errFormat
	}
	t.dirs, rest = rest[:dirs*dirSize], rest[dirs*dirSize:]
	t.files, rest = rest[:files*fileSize], rest[files*fileSize:]
	t.text = unsafe.String(unsafe.SliceData(rest), len(rest))
	t.inTree = int(inTree)
	return t, nil
}

// Saved returns when the table was written, in nanoseconds since 1970.
func (t *indexTable) Saved() int64 { return t.saved }

// Dirs returns the number of directories.
func (t *indexTable) Dirs() int { return len(t.dirs) / dirSize }

// Files returns the number of files in directories, and of all files.
func (t *indexTable) Files() (inTree, others int) { return t.inTree, t.count() - t.inTree }

func (t *indexTable) count() int { return len(t.files) / fileSize }

// Dir returns directory i.
func (t *indexTable) Dir(i int) tableDir {
	f := t.dir(i)
	stamp := f.stamp()
	end, _, _, before, bits := f.uint32(), f.uint32(), f.uint32(), f.uint32(), f.uint32()
	return tableDir{Path: t.text[t.dirEnd(i-1):end], Stamp: stamp, Settled: bits&settledBit != 0, Whole: bits&wholeBit != 0, Before: int(before)}
}

// Digest returns the digest of everything below directory i, if it is known; see tableContent.
func (t *indexTable) Digest(i int) (sum [sumSize]byte, known bool) {
	copy(sum[:], t.dir(i)[dirSumAt:])
	return sum, t.dirNumber(i, 4)&knownBit != 0
}

// FilesOf returns the range of the files of directory i.
func (t *indexTable) FilesOf(i int) (from, to int) { return t.filesEnd(i - 1), t.filesEnd(i) }

// Below returns the end of the range of directories below i. The first child of i is i+1, if that
// is not the end, and each next child is the end of the one before it.
func (t *indexTable) Below(i int) int { return int(t.dirNumber(i, 2)) }

// File returns the path and the kind of file i.
func (t *indexTable) File(i int) (path string, kind disk.Kind) {
	f := t.file(i)[stampSize+8:]
	mode, end := f.uint32(), f.uint32()
	return t.text[t.fileEnd(i-1):end], disk.Kind(mode >> kindShift & kindBits)
}

// Same reports whether file i has the stat of e.
func (t *indexTable) Same(i int, e *disk.Entry) bool {
	s, size, mode := t.Stat(i)
	return s == e.Stamp() && size == e.Size && mode == modeOf(e)
}

func modeOf(e *disk.Entry) uint32 { return uint32(e.Mode)&permBits | uint32(e.Kind)<<kindShift }

// Entry returns the entry of file i.
func (t *indexTable) Entry(i int) (e disk.Entry) {
	e.Path, e.Kind = t.File(i)
	stamp, size, mode := t.Stat(i)
	e.Mtime, e.Ctime, e.Ino, e.Dev = stamp.Mtime, stamp.Ctime, stamp.Ino, stamp.Dev
	e.Size, e.Mode = size, fs.FileMode(mode&permBits)
	e.Links = binary.LittleEndian.Uint32(t.file(i)[stampSize+8:]) >> linksShift & linksBits
	return e
}

// Stat returns the stat of file i.
func (t *indexTable) Stat(i int) (s disk.Stamp, size int64, mode uint32) {
	f := t.file(i)
	return f.stamp(), int64(f.uint64()), f.uint32() &^ (knownBit | linksBits<<linksShift)
}

// Sum returns the digest of file i, if it is known.
func (t *indexTable) Sum(i int) (sum [sumSize]byte, known bool) {
	f := t.file(i)
	mode := binary.LittleEndian.Uint32(f[stampSize+8:])
	copy(sum[:], f[fileSize-sumSize:])
	return sum, mode&knownBit != 0
}

// Find returns the number of the file at path, or -1.
func (t *indexTable) Find(path string) int {
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
func (t *indexTable) FindDir(path string) int {
	if path == "" {
		return min(0, t.Dirs()-1)
	}
	i, ok := sort.Find(max(0, t.Dirs()-1), func(i int) int { return disk.CompareDirs(path, t.Dir(i+1).Path) })
	if !ok {
		return -1
	}
	return i + 1
}

// FindIn is Find in a range of files.
func (t *indexTable) FindIn(from, to int, path string) int {
	i, ok := sort.Find(to-from, func(i int) int {
		p, _ := t.File(from + i)
		return strings.Compare(path, p)
	})
	if !ok {
		return -1
	}
	return from + i
}

func (t *indexTable) dir(i int) field { return field(t.dirs[i*dirSize : (i+1)*dirSize]) }

// dirNumber returns one of the numbers after the stamp of directory i, 0 for i = -1.
func (t *indexTable) dirNumber(i, field int) uint32 {
	if i < 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(t.dirs[i*dirSize+stampSize+4*field:])
}

func (t *indexTable) dirEnd(i int) uint32 { return t.dirNumber(i, 0) }
func (t *indexTable) filesEnd(i int) int  { return int(t.dirNumber(i, 1)) }

func (t *indexTable) file(i int) field {
	if t.changed != nil {
		if f := t.changed[i]; f != nil {
			return f
		}
	}
	return field(t.files[i*fileSize : (i+1)*fileSize])
}

// fileEnd returns the end of the path of file i, and for i = -1 the end of the paths of
// directories.
func (t *indexTable) fileEnd(i int) uint32 {
	if i < 0 {
		return t.dirEnd(t.Dirs() - 1)
	}
	return binary.LittleEndian.Uint32(t.files[i*fileSize+stampSize+8+4:])
}

// field reads bytes from front to back.
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
