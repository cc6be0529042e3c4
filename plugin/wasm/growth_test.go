package wasm

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/rawfile"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// Calls leave no memory, goroutines or open files behind.
func TestCallsLeaveNothing(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	m := Answering(Good)
	m.Memory(16, -1)
	tool := open(t, Options{Bytes: m.Bytes(), ReadWorkspace: true})
	c := adapters.ToolCall{Root: t.TempDir(), Out: t.TempDir()}
	calls := func(n int) {
		for range n {
			must(t, tool, c)
		}
	}
	calls(100)
	heap, goroutines, files := inUse(t)
	pages := mapped(t)
	calls(n)
	heapNow, goroutinesNow, filesNow := inUse(t)
	if now := mapped(t); now > pages+1<<18 { // each call maps 64 MiB
		t.Errorf("after %d calls: %d pages are mapped, were %d", n, now, pages)
	}
	const slack = 4 << 20
	if heapNow > heap+slack || goroutinesNow > goroutines || filesNow > files {
		t.Errorf("after %d calls: heap %d, was %d; goroutines %d, were %d; files %d, were %d", n, heapNow, heap, goroutinesNow, goroutines, filesNow, files)
	}
}

// inUse returns the bytes of live objects, the goroutines and the open files.
func inUse(t *testing.T) (heap uint64, goroutines, files int) {
	t.Helper()
	runtime.GC()
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	return sample[0].Value.Uint64(), runtime.NumGoroutine(), len(open)
}

// The files and the bytes that one call opens and writes are bounded.
func TestBudget(t *testing.T) {
	dir := t.TempDir()
	root, err := rawfile.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	j := &jail{root: root, write: true, budget: &budget{}}
	f, e := j.OpenFile("f", sys.O_RDWR|sys.O_CREAT, 0o644)
	if e != 0 {
		t.Fatal(e)
	}
	defer f.Close()
	if e := f.Truncate(maxWritten + 1); e == 0 {
		t.Error("a file becomes larger than the bound")
	}
	if _, e := f.Pwrite([]byte("x"), maxWritten); e == 0 {
		t.Error("a file is written beyond the bound")
	}
	if n, e := f.Write([]byte("x")); n != 1 || e != 0 {
		t.Errorf("Write: got %d, %v", n, e)
	}
	j.budget.bytes = maxWritten
	if _, e := f.Write([]byte("x")); e == 0 {
		t.Error("more bytes are written than the bound")
	}
	j.budget.open = maxOpen
	if _, e := j.OpenFile("f", 0, 0); e == 0 {
		t.Error("more files are open than the bound")
	}
	j.budget.open, j.budget.entries = 1, maxEntries
	if _, e := j.OpenFile("g", sys.O_RDWR|sys.O_CREAT, 0o644); e == 0 {
		t.Error("more files are made than the bound")
	}
	if e := j.Mkdir("d", 0o755); e == 0 {
		t.Error("more directories are made than the bound")
	}
	if _, err := os.Stat(filepath.Join(dir, "g")); err == nil {
		t.Error("the refused file exists")
	}
}
