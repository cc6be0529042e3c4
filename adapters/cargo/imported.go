package cargo

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// maxModules bounds the modules of one source, and maxModule the length of their names.
const (
	maxModules = 5_000
	maxModule  = 255
)

// ImportsIn implements adapters.SourceImporter.
func (a *Adapter) ImportsIn() []string { return a.Manifest().EmbedsIn }

// SourceImports implements adapters.SourceImporter: the files of the modules that a source declares (mod
// gen;), beside it or in its own directory. Which of both depends on the source's place in its crate.
// Embeds finds the files of include macros and of #[path].
func (a *Adapter) SourceImports(_ string, _ []string, file string, data []byte) (list []adapters.Embed) {
	text := string(data)
	dirs := []string{filepath.Dir(file)}
	if stem := strings.TrimSuffix(filepath.Base(file), ".rs"); !slices.Contains([]string{"lib", "main", "mod", "build"}, stem) {
		dirs = append(dirs, filepath.Join(dirs[0], stem))
	}
	line, counted := 1, 0
	for at := 0; len(list) < maxModules; {
		i := strings.Index(text[at:], "mod")
		if i < 0 {
			return list
		}
		from := at + i
		at = from + len("mod")
		name, ok := declares(text[:from], text[at:])
		if !ok {
			continue
		}
		line += strings.Count(text[counted:from], "\n")
		counted = from
		for _, dir := range dirs {
			list = append(list, adapters.Embed{Path: dir, Glob: name + "{.rs,/mod.rs}", File: file, Line: line})
		}
	}
	return list
}

// declares returns the name of the module that the word mod between two texts declares without its body.
func declares(before, after string) (name string, ok bool) {
	comment := strings.HasPrefix(strings.TrimLeft(before[strings.LastIndexByte(before, '\n')+1:], " \t"), "//")
	if comment || before != "" && isIdent(before[len(before)-1]) {
		return "", false
	}
	rest := strings.TrimLeft(after, " \t\r\n")
	if len(rest) == len(after) {
		return "", false
	}
	rest = strings.TrimPrefix(rest, "r#")
	end := 0
	for end < len(rest) && isIdent(rest[end]) {
		end++
	}
	return rest[:end], end > 0 && end <= maxModule && strings.HasPrefix(strings.TrimLeft(rest[end:], " \t\r\n"), ";")
}
