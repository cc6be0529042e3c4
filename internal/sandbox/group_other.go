//go:build !linux

package sandbox

// group does nothing: only Linux limits processes.
type group string

func newGroup(int) group { return "" }

func (group) remove() {}
