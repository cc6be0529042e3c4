package raw

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// Inside cuts dir from the front of name; both are clean. The second result is
// false if name does not lie below dir.
func Inside(dir, name string) (string, bool) {
	dir = strings.TrimSuffix(dir, "/") + "/"
	rest, ok := strings.CutPrefix(name, dir)
	return rest, ok && rest != ""
}

// Slashed is a path with forward slashes, also out of a file URL. Tools on
// Windows write backslashes, which nobody else has in a name.
func Slashed(name string) string {
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		name = strings.TrimPrefix(rest, "localhost")
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
	}
	return strings.ReplaceAll(name, `\`, "/")
}

// Absolute tells whether a path in the form of Slashed starts at a root.
func Absolute(name string) bool {
	drive := len(name) > 2 && name[1] == ':' && name[2] == '/'
	return drive || strings.HasPrefix(name, "/")
}

// BasesAbove lists the directories that member lies below by the first parts of
// file: "/w" for "/w/lib" and "lib/src/a.rs".
func BasesAbove(member, file string) []string {
	var bases []string
	for i, c := range file {
		if c != '/' || i == 0 || i > maxLine {
			continue
		}
		if base, ok := strings.CutSuffix(member, "/"+file[:i]); ok {
			bases = append(bases, cmp.Or(base, "/"))
		}
	}
	return bases
}

var addressLike = pattern.New(`^[\d.]+$|\.(com|org|net|io|internal|local)$`)

// bare are file names that have no extension and yet are named with a line.
var bare = []string{"Makefile", "makefile", "GNUmakefile", "Dockerfile", "Containerfile", "Gemfile", "Rakefile", "Jenkinsfile", "BUILD", "WORKSPACE", "go.mod"}

// LooksLikeFile keeps times, hosts with a port and prose apart from files. Sure
// is said of a line that has a severity: its file may have spaces in the name.
func LooksLikeFile(name string, sure bool) bool {
	if strings.Contains(name, "://") && !strings.HasPrefix(name, "file://") || strings.ContainsAny(name, "\"'()<>|=") {
		return false
	}
	if !sure && strings.ContainsAny(name, " \t,") {
		return false
	}
	base := path.Base(Slashed(name))
	if slices.Contains(bare, base) {
		return true
	}
	ext := strings.TrimPrefix(path.Ext(base), ".")
	return ext != "" && ext != base && len(ext) <= 12 && !addressLike.MatchString(name)
}

// Number is a decimal number out of a match; one that is too large is as good as
// none.
func Number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// FromURI undoes the escapes of a relative reference; Slashed does it for the rest.
func FromURI(ref string) string {
	if strings.Contains(ref, "://") {
		return ref
	}
	if plain, err := url.PathUnescape(ref); err == nil {
		return plain
	}
	return ref
}
