//go:build unix

package share

import (
	"errors"

	"golang.org/x/sys/unix"
)

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
