package wasm

import (
	"encoding/binary"
	"os"
	"sync"
	"unsafe"

	"github.com/bentobuild/bento/internal/rawfile"
)

// pagemap is a file with 8 bytes for each page of this process, nil where the system has none.
var pagemap = sync.OnceValue(func() *rawfile.File {
	f, err := rawfile.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	return f
})

// inMemory and swapped are the bits of a page that has content. Any other page of an anonymous mapping
// reads as zeroes.
const inMemory, swapped = 1 << 63, 1 << 62

// zero fills the used pages of b, the start of a private anonymous mapping, with zeroes. If it cannot find
// them, or finds more than maxIdle bytes, it returns false and leaves b unchanged.
func zero(b []byte) bool {
	f, size := pagemap(), os.Getpagesize()
	if f == nil || len(b)%size != 0 {
		return false
	}
	entries := make([]byte, 8*(len(b)/size))
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b))) / uintptr(size)
	if _, err := f.ReadAt(entries, int64(from)*8); err != nil {
		return false
	}
	var used []int // offsets
	for i := range len(b) / size {
		if binary.NativeEndian.Uint64(entries[8*i:])&(inMemory|swapped) != 0 {
			used = append(used, i*size)
		}
	}
	if len(used) > maxIdle/size {
		return false
	}
	for _, at := range used {
		clear(b[at : at+size])
	}
	return true
}
