// Package lockfile tells what the lockfiles of uv and poetry mean for one project:
// a digest of the packages that it resolves to.
package lockfile

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// Whole says in one line why what a lockfile means cannot be told.
func Whole(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// str gives the string under name, "" when there is none.
func str(v *tomlfile.Value, name string) string {
	if v == nil || v.Child(name) == nil {
		return ""
	}
	s, _ := v.Child(name).Text()
	return s
}

// strs gives the strings of an array, sorted.
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
