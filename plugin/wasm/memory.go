package wasm

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memories are the linear memories of one call. wazero frees a memory as soon as its module is closed,
// for example by proc_exit, and the module may still run then: az_alloc, which a host function calls,
// can end that way. So all of them are kept until the call is over.
type memories struct {
	made []*linear
}

// Allocate implements experimental.MemoryAllocator.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	l := &linear{mapped: reserve(most)}
	m.made = append(m.made, l)
	return l
}

// release unmaps the memories. No code of a module runs, and nothing refers to them.
func (m *memories) release() {
	for _, l := range m.made {
		unreserve(l.mapped)
	}
}

// linear is one linear memory. It lies at one address for as long as it lives, so that its growth
// copies nothing, and the garbage collector has nothing to do with it.
type linear struct {
	mapped []byte // as long as the memory can become; nil if the system has no room for that
	grown  []byte // in place of mapped
}

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	if l.mapped != nil {
		return l.mapped[:size:size]
	}
	if more := int(size) - len(l.grown); more > 0 {
		l.grown = append(l.grown, make([]byte, more)...)
	}
	return l.grown
}

// Free implements experimental.LinearMemory. See memories.
func (l *linear) Free() {}

// reserve returns so many bytes of zeroes, which take memory once they are used, or nil.
func reserve(n uint64) []byte {
	if n == 0 || n > maxMemory {
		return nil
	}
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	return b
}

func unreserve(b []byte) {
	if b != nil {
		_ = unix.Munmap(b) // it is a whole mapping
	}
}
