package clone

import (
	"path/filepath"
	"strings"
)

// isClean reports whether filepath.Clean surely returns an absolute path as it is, by a check that is
// much faster and that nearly all paths pass.
func isClean(path string) bool {
	if path == "" || path[0] != filepath.Separator || path[len(path)-1] == filepath.Separator || strings.Contains(path, "//") {
		return false
	}
	for rest := path; ; {
		i := strings.Index(rest, "/.")
		if i < 0 {
			return true
		}
		if rest = rest[i+2:]; rest == "" || rest[0] == '/' || rest[0] == '.' {
			return false
		}
	}
}

// Clean is filepath.Clean, fast for an absolute path that is clean.
func Clean(path string) string {
	if isClean(path) {
		return path
	}
	return filepath.Clean(path)
}

// Join is filepath.Join of an absolute directory and a name, fast where both are clean.
func Join(dir, name string) string {
	if dir != "" && name != "" && name[0] != filepath.Separator {
		if path := dir + string(filepath.Separator) + name; isClean(path) {
			return path
		}
	}
	return filepath.Join(dir, name)
}

// Dir is filepath.Dir, fast for an absolute path that is clean.
func Dir(path string) string {
	if isClean(path) {
		return path[:max(1, strings.LastIndexByte(path, filepath.Separator))]
	}
	return filepath.Dir(path)
}
