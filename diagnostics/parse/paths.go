package parse

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// insideDir returns name relative to dir; both are clean. ok is false if name is not below
// dir.
func insideDir(dir, name string) (string, bool) {
	dir = strings.TrimSuffix(dir, "/") + "/"
	rest, ok := strings.CutPrefix(name, dir)
	return rest, ok && rest != ""
}

// slashed returns a path with forward slashes, also from a file URL. Tools on Windows write
// backslashes, which no other names contain.
func slashed(name string) string {
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		name = strings.TrimPrefix(rest, "localhost")
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
	}
	return strings.ReplaceAll(name, `\`, "/")
}

// absolute reports whether a path in the form of slashed starts at a root.
func absolute(name string) bool {
	drive := len(name) > 2 && name[1] == ':' && name[2] == '/'
	return drive || strings.HasPrefix(name, "/")
}

// basesAbove returns the directories above member that the first elements of file lead back
// from: "/w" for "/w/lib" and "lib/src/a.rs".
func basesAbove(member, file string) []string {
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

// bare are names of files without an extension that tools print with a line.
var bare = []string{"Makefile", "makefile", "GNUmakefile", "Dockerfile", "Containerfile", "Gemfile", "Rakefile", "Jenkinsfile", "BUILD", "WORKSPACE", "go.mod"}

// looksLikeFile reports whether name is a file, and not a time, a host with a port or
// prose. sure is set for a line with a severity: its file may have spaces in the name.
func looksLikeFile(name string, sure bool) bool {
	if strings.Contains(name, "://") && !strings.HasPrefix(name, "file://") || strings.ContainsAny(name, "\"'()<>|=") {
		return false
	}
	if !sure && strings.ContainsAny(name, " \t,") {
		return false
	}
	base := path.Base(slashed(name))
	if slices.Contains(bare, base) {
		return true
	}
	ext := strings.TrimPrefix(path.Ext(base), ".")
	return ext != "" && ext != base && len(ext) <= 12 && !addressLike.MatchString(name)
}

// number returns a decimal number from a match, 0 if it is too large.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// fromURI removes the escapes of a relative reference; slashed does it for the rest.
func fromURI(ref string) string {
	if strings.Contains(ref, "://") {
		return ref
	}
	if plain, err := url.PathUnescape(ref); err == nil {
		return plain
	}
	return ref
}
