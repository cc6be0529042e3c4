//go:build !linux

package testrun

const memory = ""

func roomy(string) bool { return false }

func lock(string) (unlock func(), ok bool) { return nil, false }
