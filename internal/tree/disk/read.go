package disk

import (
	"fmt"
	"io"
	"os"
	"slices"
)

// ReadRegular returns the content of a regular file, nil for any other.
func ReadRegular(f *os.File, limit int64) (string, error) {
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return "", err
	}
	b := make([]byte, 0, min(fi.Size(), limit)+1) // one byte more, to detect the end
	for err == nil && int64(len(b)) <= limit {
		if len(b) == cap(b) {
			b = slices.Grow(b, 1) // the file grows
		}
		var n int
		n, err = f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
	}
	if int64(len(b)) > limit {
		return string(b[:limit+1]), fmt.Errorf("more than %d bytes", limit)
	}
	if err == io.EOF {
		err = nil
	}
	return string(b), err
}
