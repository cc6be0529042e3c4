package golang

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// cgoPaths returns the paths outside of the module in dir that the C parts of a source include: files
// by #include, and the directories of -I, -L and of libraries in #cgo lines.
func cgoPaths(dir, file string, data []byte) []adapters.Embed {
	if !importsC(data) {
		return nil
	}
	var places []adapters.EmbedPlace
	offset, base := 0, filepath.Dir(file)
	for line := range bytes.Lines(data) {
		for _, path := range cgoLine(strings.TrimLeft(string(line), "/* \t")) {
			path = strings.TrimPrefix(path, "${SRCDIR}/")
			if !strings.Contains(path, "$") {
				places = append(places, adapters.EmbedPlace{Offset: offset, Base: base, Path: path})
			}
		}
		offset += len(line)
	}
	return adapters.Outside(dir, adapters.EmbedsAt(nil, file, data, places))
}

// importsC reports whether data contains import "C". It looks for the rarest byte of that.
func importsC(data []byte) bool {
	const before = `import "`
	for at := 0; ; at++ {
		i := bytes.Index(data[at:], []byte(`C"`))
		if i < 0 {
			return false
		}
		if at += i; bytes.HasSuffix(data[:at], []byte(before)) {
			return true
		}
	}
}

// cgoLine returns the relative paths in a line of C, or of settings for its compiler.
func cgoLine(line string) (paths []string) {
	if rest, ok := strings.CutPrefix(line, "#include"); ok {
		parts := strings.SplitN(rest, `"`, 3)
		if len(parts) == 3 && strings.TrimSpace(parts[0]) == "" {
			return parts[1:2]
		}
		return nil
	}
	rest, ok := strings.CutPrefix(line, "#cgo")
	if !ok {
		return nil
	}
	_, flags, _ := strings.Cut(rest, ":")
	for _, flag := range strings.Fields(strings.ReplaceAll(flags, `"`, "")) {
		for _, option := range []string{"-I", "-L", "-isystem", "-iquote", "-include"} {
			flag = strings.TrimPrefix(flag, option)
		}
		if !strings.HasPrefix(flag, "-") && strings.Contains(flag, "..") {
			paths = append(paths, flag)
		}
	}
	return paths
}
