//go:build !linux

package testdir

const memory = ""

func roomy(string) bool { return false }

func lock(string) (unlock func(), ok bool) { return nil, false }
