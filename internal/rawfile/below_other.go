//go:build !linux

package rawfile

import "errors"

// OpenDirBelow returns an error on this system.
func (*File) OpenDirBelow(string) (*File, error) { return nil, errors.ErrUnsupported }
