//go:build !unix

package sep

import "os"

// holdDir returns no file: nothing removes a directory that is in use.
func holdDir(string) (*os.File, error) { return nil, nil }

func removeStale(string) {}
