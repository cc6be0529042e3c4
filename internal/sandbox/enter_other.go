//go:build !linux

package sandbox

import "errors"

// Enter is for Linux only.
func Enter([]string) error { return errors.New("confine: this system offers no sandbox") }

// Offered asks the kernel what it can enforce: nothing here.
func Offered() Offer { return Offer{} }
