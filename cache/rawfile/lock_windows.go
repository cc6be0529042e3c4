package rawfile

import "errors"

// TryLock cannot do it here.
func TryLock(string) (unlock func(), locked bool, err error) {
	return nil, false, errors.ErrUnsupported
}
