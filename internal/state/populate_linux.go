package state

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// manyPages is how many bytes it is worth a system call to be given at once.
const manyPages = 256 << 10

// populate has the kernel give data its memory in one go: a page at a time, as it is
// written, costs more than what is read into it. It is a matter of time alone; a kernel
// older than 5.14 says no.
func populate(data []byte) {
	if len(data) < manyPages {
		return
	}
	page := uintptr(os.Getpagesize())
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(data))) % page
	_ = unix.Madvise(data[skip:len(data)-int((uintptr(len(data))-skip)%page)], unix.MADV_POPULATE_WRITE)
}
