// Package disk looks at the file system: what directories hold, as lstat tells,
// what files hold, and how far their times can be relied on. It follows no link,
// except in the path of the root it is given.
package disk

import (
	"io/fs"
	"sort"
	"strings"
)

// Kind is what an Entry is. The values are part of the index file.
type Kind uint8

// Special is a FIFO, a socket or a device: it is listed and never opened. Dir
// comes from Expand only; a Tree lists no directories among its entries.
const (
	File Kind = iota + 1
	Link
	Special
	Dir
)

// Entry is one thing in a directory, as lstat tells.
type Entry struct {
	Path string // relative to the root, forward slashes, any bytes
	Kind Kind
	Mode fs.FileMode // permission bits

	Size         int64 // bytes
	Mtime, Ctime int64 // nanoseconds since 1970; Ctime is 0 where the system has none
	Ino, Dev     uint64

	// Slot is one more than the number of the record in the index that has this stat,
	// 0 when the walk that found the entry saw none. It is no part of what the file is.
	Slot uint32

	// Links is how many names the file has, 0 where that is not known. It is no part of
	// what the file is: another name for it changes its Ctime, and nothing else.
	Links uint32
}

// Stamp is the part of a stat that changes whenever something is changed.
type Stamp struct {
	Mtime, Ctime int64
	Ino, Dev     uint64
}

// Stamp gives that of e.
func (e *Entry) Stamp() Stamp { return Stamp{e.Mtime, e.Ctime, e.Ino, e.Dev} }

// Same tells whether e and o have the same path and stat: nothing wrote the file
// between the two looks, as far as its times can tell.
func (e *Entry) Same(o *Entry) bool {
	return e.Path == o.Path && e.SameStat(o)
}

// SameStat is Same without the path.
func (e *Entry) SameStat(o *Entry) bool {
	return e.Kind == o.Kind && e.Mode == o.Mode && e.Size == o.Size &&
		e.Mtime == o.Mtime && e.Ctime == o.Ctime && e.Ino == o.Ino && e.Dev == o.Dev
}

// fill sets everything but the path.
func (e *Entry) fill(fi fs.FileInfo) {
	e.Kind = kindOf(fi.Mode())
	e.Mode = fi.Mode().Perm()
	e.Size = fi.Size()
	e.Mtime = fi.ModTime().UnixNano()
	fillSystem(e, fi)
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

// Search gives the first position in sorted entries whose path is not before path.
func Search(entries []Entry, path string) int {
	return sort.Search(len(entries), func(i int) bool { return entries[i].Path >= path })
}

// SearchDir gives how many of sorted entries come before what is in the directory path.
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
