// Package disk reads the file system: the entries of directories, their lstat and the digests of
// files, and how reliable the times are. It follows no link, except in the path of its root.
package disk

import (
	"io/fs"
	"sort"
	"strings"

	"github.com/bentobuild/bento/internal/stat"
)

// Kind is the type of an Entry. The index file contains the values.
type Kind uint8

// Special is a FIFO, a socket or a device: it is listed and never opened. Only Expand returns Dir;
// a Tree has no directories among its entries.
const (
	File Kind = iota + 1
	Link
	Special
	Dir
)

// Entry is one entry of a directory, as lstat returns it.
type Entry struct {
	Path string // relative to the root, forward slashes, any bytes
	Kind Kind
	Mode fs.FileMode // permission bits

	Size         int64 // bytes
	Mtime, Ctime int64 // nanoseconds since 1970; Ctime is 0 where the system has none
	Ino, Dev     uint64

	// Slot is the number of the index record with this stat plus one, 0 when the walk found none.
	// It is not part of the file's state.
	Slot uint32

	// Links is the number of hard links of the file, 0 where unknown. It is not part of the file's
	// state: a new link changes only the Ctime.
	Links uint32
}

// Stamp is the part of a stat that every change of a file changes.
type Stamp struct {
	Mtime, Ctime int64
	Ino, Dev     uint64
}

// Stamp returns the stamp of e.
func (e *Entry) Stamp() Stamp { return Stamp{e.Mtime, e.Ctime, e.Ino, e.Dev} }

// Same reports whether e and o have the same path and stat: as far as times show, the file did not
// change between the two stats.
func (e *Entry) Same(o *Entry) bool {
	return e.Path == o.Path && e.SameStat(o)
}

// SameStat is Same without the path.
func (e *Entry) SameStat(o *Entry) bool {
	return e.Kind == o.Kind && e.Mode == o.Mode && e.Size == o.Size &&
		e.Mtime == o.Mtime && e.Ctime == o.Ctime && e.Ino == o.Ino && e.Dev == o.Dev
}

// fill sets all fields but the path.
func (e *Entry) fill(fi fs.FileInfo) {
	e.Kind = kindOf(fi.Mode())
	e.Mode = fi.Mode().Perm()
	e.Size = fi.Size()
	e.Mtime = fi.ModTime().UnixNano()
	s := stat.Of(fi)
	e.Ctime, e.Ino, e.Dev, e.Links = s.Changed, s.Ino, s.Dev, s.Links
}

func kindOf(m fs.FileMode) Kind {
	switch m.Type() {
	case 0:
		return File
	case fs.ModeSymlink:
		return Link
	case fs.ModeDir:
		return Dir
	}
	return Special
}

// Search returns the first position in sorted entries whose path is not before path.
func Search(entries []Entry, path string) int {
	return sort.Search(len(entries), func(i int) bool { return entries[i].Path >= path })
}

// SearchDir returns the number of sorted entries that come before the entries in the directory path.
func SearchDir(entries []Entry, path string) int {
	return sort.Search(len(entries), func(i int) bool {
		if rest, ok := strings.CutPrefix(entries[i].Path, path); ok {
			return rest != "" && rest[0] >= '/'
		}
		return entries[i].Path > path
	})
}

// Find finds path in sorted entries.
func Find(entries []Entry, path string) (Entry, bool) {
	if i := Search(entries, path); i < len(entries) && entries[i].Path == path {
		return entries[i], true
	}
	return Entry{}, false
}
