package clone

import (
	"path/filepath"
	"strings"
)

// isClean reports whether filepath.Clean certainly returns an absolute path unchanged. The check is
// much faster than Clean, and nearly all clean paths pass it.
func isClean(path string) bool {
	if path == "" || path[0] != filepath.Separator {
		return false
	}
	for rest := path; ; {
		rest = rest[1:] // an element and what follows
		if rest == "" || rest[0] == filepath.Separator {
			return false
		}
		if rest[0] == '.' && (len(rest) == 1 || rest[1] == filepath.Separator || rest[1] == '.') {
			return false
		}
		i := strings.IndexByte(rest, filepath.Separator)
		if i < 0 {
			return true
		}
		rest = rest[i:]
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
