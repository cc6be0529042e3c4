package disk

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// ReadRegular returns the content of a regular file, nil for any other.
func ReadRegular(f *os.File, limit int64) (string, error) {
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return "", err
	}
	var b strings.Builder
	b.Grow(int(min(fi.Size(), limit)))
	n, err := io.Copy(&b, io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return b.String(), err
}
