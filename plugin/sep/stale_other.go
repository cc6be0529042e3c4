//go:build !unix

package sep

import "os"

// holdDir only opens the directory: nothing removes it.
func holdDir(dir string) (*os.File, error) { return os.Open(dir) }

func removeStale(string) {}
