//go:build !linux

package rawfile

import "errors"

// OpenDirBelow cannot do it here.
func (*File) OpenDirBelow(string) (*File, error) { return nil, errors.ErrUnsupported }
