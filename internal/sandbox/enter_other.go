//go:build !linux

package sandbox

import "errors"

// Enter returns an error: it supports only Linux.
func Enter([]string) error { return errors.New("confine: this system has no sandbox") }

// Offered returns what the kernel can enforce: nothing on this system.
func Offered() Offer { return Offer{} }
