package state

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// manyPages is the number of bytes from which on one system call for the memory pays.
const manyPages = 256 << 10

// populate lets the kernel allocate the memory of data at once: page by page, on the first write,
// costs more than the read itself. It only saves time; kernels older than 5.14 refuse.
func populate(data []byte) {
	if len(data) < manyPages {
		return
	}
	page := uintptr(os.Getpagesize())
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(data))) % page
	_ = unix.Madvise(data[skip:len(data)-int((uintptr(len(data))-skip)%page)], unix.MADV_POPULATE_WRITE)
}
