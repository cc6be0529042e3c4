//go:build !linux

package disk

// local tells whether directories get new times; here nobody has looked.
func local(int) bool { return false }
