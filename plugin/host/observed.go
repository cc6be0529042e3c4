package host

import (
	"os"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/internal/stat"
)

// Observed are the parts of the workspace that a plugin has seen for one answer, by absolute path. A value is
// the state of a file or link, that the path is a directory, or that it is missing; see Look. The key of a
// directory whose names the plugin has read ends with a slash. The answer of a plugin that reads nothing else is
// valid while Hold returns true.
type Observed map[string]string

// Hold reports whether all is as it was.
func (l Observed) Hold() bool {
	for path, was := range l {
		if now, _ := Look(path); now != was {
			return false
		}
	}
	return true
}

// Look returns the state of a path. It is settled if a later change cannot look the same.
func Look(path string) (text string, isSettled bool) {
	fi, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", true
	case fi.IsDir() && path[len(path)-1] != filepath.Separator:
		return "directory", true
	}
	return stat.Text(fi), time.Since(stat.Changed(fi)) > settled
}
