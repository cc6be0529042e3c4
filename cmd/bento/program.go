package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/internal/tree"
)

// program says which executable this is, by its stat: whoever builds or installs
// another one changes that. One that cannot be found is like no other, and so finds
// nothing that it could remember.
func program() string {
	path, err := os.Executable()
	if err == nil {
		var e tree.Entry
		if e, err = tree.Stat(filepath.Split(path)); err == nil {
			return fmt.Sprintf("%s %d %v", path, e.Size, e.Stamp())
		}
	}
	return fmt.Sprint(err, os.Getpid(), time.Now().UnixNano())
}
