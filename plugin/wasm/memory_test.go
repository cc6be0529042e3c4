package wasm

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/bentobuild/bento/adapters"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// A module that ends itself while a host function has it allocate goes on: its memory is still there.
func TestMemoryOutlivesItsModule(t *testing.T) {
	m := &Module{}
	get := m.Import("az", "az_env_get", "i32,i32->i64")
	exit := m.Import("wasi_snapshot_preview1", "proc_exit", "i32->")
	m.Func(alloc, "i32->i32", Local(0), I32(-3), Op(I32Add), []byte{0x45, 0x04, 0x40}, I32(7), Call(exit), []byte{End}, I32(8192)) // for 3 bytes it ends
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

// A linear memory grows in place, and without a mapping by copying.
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
