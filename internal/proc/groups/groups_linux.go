package groups

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// maxGroups bounds how many groups a table holds at a time. More are not in it.
const maxGroups = 4096

// Table holds the process that it is of and groups: 8 bytes each, zero for none. The nil
// table takes everything and keeps nothing. It is not safe for concurrent use.
type Table struct {
	file  *os.File
	slots map[int]int64
	free  []int64 // slots that were used
}

// New gives a table of this process without groups.
func New() (*Table, error) {
	fd, err := unix.MemfdCreate("bento-groups", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	t := &Table{file: os.NewFile(uintptr(fd), "groups"), slots: make(map[int]int64)}
	t.put(0, os.Getpid())
	return t, nil
}

// File gives what another process can Read.
func (t *Table) File() *os.File { return t.file }

// Close closes the file.
func (t *Table) Close() { t.file.Close() }

// Add tells of a group.
func (t *Table) Add(pid int) {
	if t == nil || len(t.slots) == maxGroups {
		return
	}
	at := int64(len(t.slots)) + 1
	if n := len(t.free); n > 0 {
		at, t.free = t.free[n-1], t.free[:n-1]
	}
	t.slots[pid] = at
	t.put(at, pid)
}

// Remove tells that a group is gone.
func (t *Table) Remove(pid int) {
	if t == nil {
		return
	}
	if at, had := t.slots[pid]; had {
		delete(t.slots, pid)
		t.free = append(t.free, at)
		t.put(at, 0)
	}
}

// Disown makes it a table of nobody.
func (t *Table) Disown() { t.put(0, 0) }

func (t *Table) put(at int64, pid int) {
	var slot [8]byte
	binary.LittleEndian.PutUint64(slot[:], uint64(pid))
	_, _ = t.file.WriteAt(slot[:], at*int64(len(slot)))
}

// Read reads the table that is open as fd: the process that it is of, 0 for nobody, and
// the groups that there are.
func Read(fd int) (of int, list []int) {
	of = readSlot(fd, 0)
	for at := int64(1); at <= maxGroups; at++ {
		pid := readSlot(fd, at)
		if pid < 0 {
			break
		}
		if pid > 1 {
			list = append(list, pid)
		}
	}
	return max(of, 0), list
}

// readSlot reads one slot; -1 is behind the last.
func readSlot(fd int, at int64) int {
	var slot [8]byte
	if n, _ := unix.Pread(fd, slot[:], at*int64(len(slot))); n < len(slot) {
		return -1
	}
	return int(binary.LittleEndian.Uint64(slot[:]))
}
