package wasm

import (
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memories are the linear memories of one call. wazero frees a memory as soon as its module is closed, for example by
// proc_exit, even if the module still runs: a host function calls az_alloc, which can call proc_exit. So all of them
// are kept until the call is over.
type memories struct {
	pool *pool
	made []*linear
}

// Allocate implements experimental.MemoryAllocator.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	l := &linear{mapped: m.pool.take(most)}
	m.made = append(m.made, l)
	return l
}

// release ends the use of the memories. No code of a module runs, and nothing refers to them.
func (m *memories) release() {
	for _, l := range m.made {
		m.pool.put(l)
	}
}

// pool keeps memories of the calls of a module for later ones, all zeroes: to fill the few pages that
// a call has used costs less than to have the kernel map new ones. It is safe for concurrent use. The
// zero value is ready for use.
type pool struct {
	mu     sync.Mutex
	idle   [][]byte
	closed bool
}

// maxIdle is how many bytes a memory in a pool may take.
const maxIdle = 4 << 20

// take returns n bytes of zeroes, as reserve does.
func (p *pool) take(n uint64) []byte {
	p.mu.Lock()
	last := len(p.idle) - 1
	if last >= 0 && uint64(len(p.idle[last])) == n {
		defer p.mu.Unlock()
		b := p.idle[last]
		p.idle = p.idle[:last]
		return b
	}
	p.mu.Unlock()
	return reserve(n)
}

// put ends the use of a memory, and keeps it if all pages that were used can be found.
func (p *pool) put(l *linear) {
	if l.mapped == nil {
		return
	}
	if !zero(l.mapped[:l.used]) || !p.keep(l.mapped) {
		unreserve(l.mapped)
	}
}

func (p *pool) keep(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= runtime.GOMAXPROCS(0) {
		return false
	}
	p.idle = append(p.idle, b)
	return true
}

// close unmaps the memories that no call uses. Those of running calls are unmapped when the calls end.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, b := range p.idle {
		unreserve(b)
	}
	p.idle = nil
}

// linear is one linear memory. Its address never changes, so its growth copies nothing. The garbage
// collector does not manage it.
type linear struct {
	mapped []byte // as long as the memory can become; nil if the system has no room for that
	used   uint64 // bytes of mapped that the module has had
	grown  []byte // in place of mapped
}

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	if l.mapped != nil {
		l.used = max(l.used, size)
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
