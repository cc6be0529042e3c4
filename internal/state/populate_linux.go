package state

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// manyPages is the smallest number of bytes for which the system call is cheaper than page faults.
const manyPages = 256 << 10

// populate makes the kernel allocate the memory of data at once: allocating it page by page, at the
// first write, costs more than the read itself. It only saves time, and does nothing on kernels older
// than 5.14.
func populate(data []byte) {
	if len(data) < manyPages {
		return
	}
	page := uintptr(os.Getpagesize())
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(data))) % page
	_ = unix.Madvise(data[skip:len(data)-int((uintptr(len(data))-skip)%page)], unix.MADV_POPULATE_WRITE)
}
