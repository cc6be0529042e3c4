// Package rawfile opens regular files and directories without the preparations for
// waiting that package os makes: those are six system calls a file, which for a
// cache of small files is more than all the rest.
//
// Only OpenDir and MkdirAll take a path. All else is done in a directory that is open,
// on a name that lies in it, and follows no link.
//
// Errors are *fs.PathError. A File is not closed by the garbage collector.
package rawfile

import (
	"errors"
	"io/fs"
	"time"
)

// ErrLocked says that somebody else holds the lock.
var ErrLocked = errors.New("locked")

// Info says what a file is.
type Info struct {
	Mode     fs.FileMode // type and permission bits
	Size     int64       // in bytes
	Modified time.Time
	Changed  int64 // when the file or what is known of it was, in nanoseconds since 1970; 0 where the system does not say
	id       identity
	links    uint64
	owner    uint32
	owned    bool
}

// Links returns how many names the file has, 0 where the system does not say.
func (i Info) Links() uint64 { return i.links }

// Owner returns the number of the user that the file belongs to; ok is false where
// files have no owner.
func (i Info) Owner() (uid uint32, ok bool) { return i.owner, i.owned }

// Serial returns the number that the file system knows the file by, 0 where it does
// not say.
func (i Info) Serial() uint64 { return i.id.serial() }

// SameDisk reports whether both lie on one file system.
func SameDisk(a, b Info) bool { return a.id.sameDisk(b.id) }

// Same tells whether both are of one file.
func Same(a, b Info) bool { return a.id.same(b.id) }

// IsDir tells whether it is a directory.
func (i Info) IsDir() bool { return i.Mode.IsDir() }

// IsLink tells whether it is a symbolic link.
func (i Info) IsLink() bool { return i.Mode&fs.ModeSymlink != 0 }
