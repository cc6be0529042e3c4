package proc

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// maxGroups is the largest number of groups in a table. Further groups are left out.
const maxGroups = 4096

// groupTable contains its process and groups in a shared file. Each has 8 bytes, zero for none: the
// number, and in the upper half the time when it was added, in clock ticks since the system started.
// A nil table is always empty. It is not safe for concurrent use.
type groupTable struct {
	file  *os.File
	slots map[int]int64
	free  []int64 // free slots
}

// newGroups returns an empty table of this process.
func newGroups() (*groupTable, error) {
	fd, err := unix.MemfdCreate("bento-groups", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	t := &groupTable{file: os.NewFile(uintptr(fd), "groups"), slots: make(map[int]int64)}
	t.put(0, os.Getpid())
	return t, nil
}

// File returns the file that another process can read.
func (t *groupTable) File() *os.File { return t.file }

// Close closes the file.
func (t *groupTable) Close() { t.file.Close() }

// Add adds a group.
func (t *groupTable) Add(pid int) {
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

// Remove removes a group.
func (t *groupTable) Remove(pid int) {
	if t == nil {
		return
	}
	if at, had := t.slots[pid]; had {
		delete(t.slots, pid)
		t.free = append(t.free, at)
		t.put(at, 0)
	}
}

// Disown removes the process from the table.
func (t *groupTable) Disown() { t.put(0, 0) }

func (t *groupTable) put(at int64, pid int) {
	var slot [8]byte
	binary.LittleEndian.PutUint64(slot[:], uint64(uint32(pid))|ticks()<<32)
	_, _ = t.file.WriteAt(slot[:], at*int64(len(slot)))
}

// ticksPerSecond is the unit of times in /proc, which Linux never changes (USER_HZ).
const ticksPerSecond = 100

// ticks returns the time since the system started, in clock ticks.
func ticks() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return uint64(now.Sec)*ticksPerSecond + uint64(now.Nsec)/(1e9/ticksPerSecond)
}

// group is a process group of a table.
type group struct {
	id    int
	added uint32 // in clock ticks; later ones wrap around
}

// isReused reports whether another process now has the number of the group. While a group has
// members, the kernel gives its number to no process, and its leader began before the group was
// added.
func (g group) isReused() bool {
	began, ok := startOf(g.id)
	const slack = 2 * ticksPerSecond / 10 // of two clocks
	return ok && int32(uint32(began)-g.added) > slack
}

// readGroups reads the table that is open as fd: its process, 0 for none, and its groups.
func readGroups(fd int) (of int, list []group) {
	of = int(uint32(readSlot(fd, 0)))
	for at := int64(1); at <= maxGroups; at++ {
		slot := readSlot(fd, at)
		if slot < 0 {
			break
		}
		if g := (group{id: int(uint32(slot)), added: uint32(slot >> 32)}); g.id > 1 {
			list = append(list, g)
		}
	}
	return of, list
}

// readSlot reads one slot; -1 is the end.
func readSlot(fd int, at int64) int64 {
	var slot [8]byte
	if n, _ := unix.Pread(fd, slot[:], at*int64(len(slot))); n < len(slot) {
		return -1
	}
	return int64(binary.LittleEndian.Uint64(slot[:]) &^ (1 << 63))
}
