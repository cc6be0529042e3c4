package golang

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// cgoPaths returns the paths outside of the directory of a source that its C parts include: files by
// #include, and the directories of -I, -L and of libraries in #cgo lines. The cache of go has no digest of
// them (golang/go#24355).
func cgoPaths(file string, data []byte) []adapters.Embed {
	if !importsC(data) {
		return nil
	}
	var places []snapshot.EmbedPlace
	offset, base := 0, filepath.Dir(file)
	for line := range bytes.Lines(data) {
		for _, path := range cgoLine(strings.TrimLeft(string(line), "/* \t")) {
			path = strings.TrimPrefix(strings.TrimPrefix(path, "${SRCDIR}"), "/")
			if path != "" && path != "." && !strings.Contains(path, "$") {
				places = append(places, snapshot.EmbedPlace{Offset: offset, Base: base, Path: path})
			}
		}
		offset += len(line)
	}
	list := slices.DeleteFunc(snapshot.EmbedsAt(nil, file, data, places), func(e adapters.Embed) bool {
		return e.Path == base || filepath.Dir(e.Path) == base && filepath.Ext(e.Path) != "" // go looks at the files there
	})
	for i := range list {
		list[i].Missed = true
	}
	return list
}

// IsStamped implements adapters.Stamper: sources, headers and libraries of C.
func (a *Adapter) IsStamped(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".def", ".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".s", ".a", ".o", ".so", ".dylib", ".syso":
		return true
	}
	return false
}

// StampEnv implements adapters.Stamper: the digest is a macro, and with it in the id of each package with
// C parts in the cache of go.
func (a *Adapter) StampEnv(env adapters.Environ, digest string) map[string]string {
	const name = "CGO_CPPFLAGS"
	flags := env.Get(name)
	if flags == "" {
		flags = a.setting(a.Files(string(filepath.Separator)), name)
	}
	return map[string]string{name: strings.TrimSpace(flags + " -DBENTO_C_FILES=" + digest)}
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
		is := false
		for _, option := range []string{"-I", "-L", "-isystem", "-iquote", "-include"} {
			var has bool
			flag, has = strings.CutPrefix(flag, option)
			is = is || has
		}
		if !strings.HasPrefix(flag, "-") && (is || strings.Contains(flag, "..") || strings.HasPrefix(flag, "${SRCDIR}/")) {
			paths = append(paths, flag)
		}
	}
	return paths
}
