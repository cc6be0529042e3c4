//go:build !linux && !darwin

package sep

import "errors"

// peerUID fails: an extension uses its standard streams on such a system.
func peerUID(int) (int, error) { return -1, errors.ErrUnsupported }
