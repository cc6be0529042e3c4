// Package lockfile reads the lockfiles of uv and poetry and returns a digest of the
// packages that one project resolves to.
package lockfile

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// Whole returns err as one line, for LockAnswer.Whole.
func Whole(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// str returns the string under name, or "".
func str(v *tomlfile.Value, name string) string {
	if v == nil || v.Child(name) == nil {
		return ""
	}
	s, _ := v.Child(name).Text()
	return s
}

// strs returns the strings of an array, sorted.
func strs(v *tomlfile.Value) []string {
	if v == nil {
		return nil
	}
	var out []string
	for _, e := range v.Elems() {
		if s, ok := e.Text(); ok {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}
