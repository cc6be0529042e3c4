package wasm

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/bentobuild/bento/adapters"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// A module may end itself while a host function has it allocate. The host function then still finds its
// memory.
func TestMemoryOutlivesItsModule(t *testing.T) {
	m := &Module{}
	get := m.Import("az", "az_env_get", "i32,i32->i64")
	exit := m.Import("wasi_snapshot_preview1", "proc_exit", "i32->")
	m.Func(alloc, "i32->i32", Local(0), I32(-3), Op(I32Add), []byte{0x45, 0x04, 0x40}, I32(7), Call(exit), []byte{End}, I32(8192)) // it ends for 3 bytes
	m.Func(execute, "i32,i32->i64", I32(1024), I32(1), Call(get), Op(Drop), Store(1032, 'D'), Packed(1025, uint32(len(Good))))
	m.Memory(1, -1)
	m.Data(1024, "A"+Good)
	tool := open(t, Options{Bytes: m.Bytes(), Capabilities: []string{"az_env_get"}, Env: map[string]string{"A": "abc"}})
	for range 100 {
		a, err := do(t, tool, say("x"))
		if err == nil && a.Output != "done" && a.Output != "Done" {
			t.Fatalf("got %q", a.Output)
		}
		if err != nil {
			wantFailure(t, err, adapters.Crashed, "")
		}
	}
}

// A linear memory grows in place. Without a mapping it grows by copying.
func TestLinear(t *testing.T) {
	for _, l := range []*linear{{mapped: reserve(3 * pageSize)}, {}} {
		if l.mapped == nil && l.grown != nil {
			t.Fatal("no room is reserved")
		}
		b := l.Reallocate(pageSize)
		b[0], b[pageSize-1] = 1, 2
		b = l.Reallocate(3 * pageSize)
		if want := append(append([]byte{1}, make([]byte, pageSize-2)...), 2); !bytes.Equal(b[:pageSize], want) || !bytes.Equal(b[pageSize:], make([]byte, 2*pageSize)) {
			t.Error("the memory differs after it has grown")
		}
		l.Free()
		b[2*pageSize] = 3
		unreserve(l.mapped)
	}
	if reserve(0) != nil || reserve(maxMemory+1) != nil {
		t.Error("a size beyond the limits is reserved")
	}
}

// A memory from the pool has no bytes of an earlier call.
func TestPool(t *testing.T) {
	const size = 64 * pageSize
	var p pool
	defer p.close()
	for _, c := range []struct {
		used uint64
		at   []int
	}{
		{2 * pageSize, []int{0, 1, 4095, 4096, 2*pageSize - 1}},
		{size, []int{3 * pageSize, 40*pageSize + 17, size - 1}},
		{0, nil},
		{pageSize, []int{pageSize / 2}},
	} {
		m := &memories{pool: &p}
		l := m.Allocate(0, size).(*linear)
		b := l.Reallocate(c.used)
		for _, at := range c.at {
			b[at] = 1
		}
		m.release()
		if len(p.idle) != 1 && runtime.GOOS == "linux" {
			t.Fatalf("%v: %d memories are kept, want 1", c, len(p.idle))
		}
		if again := p.take(size); !bytes.Equal(again, make([]byte, size)) {
			t.Errorf("%v: the next call finds bytes of this one", c)
		} else {
			p.put(&linear{mapped: again})
		}
	}
	large := &linear{mapped: reserve(2 * maxIdle)}
	for b := range slices.Chunk(large.Reallocate(2*maxIdle), 4096) {
		b[0] = 1
	}
	if before := len(p.idle); len(large.mapped) > 0 {
		if p.put(large); len(p.idle) != before {
			t.Error("a large memory is kept")
		}
	}
	p.close()
	if p.put(&linear{mapped: reserve(size)}); len(p.idle) > 0 {
		t.Error("a memory is kept after the end")
	}
}

// mapped returns the size of the address space of the process in pages, 0 if it is unknown.
func mapped(t *testing.T) (pages int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	b, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(b), &pages)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
