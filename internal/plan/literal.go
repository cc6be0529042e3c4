package plan

import (
	"path"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
)

// Literal returns a glob of a dish with its longest start that exists as it is written quoted: frameworks
// name directories "[slug]" and files "[id].ts". exists reports whether a path relative to the workspace does.
func Literal(exists func(path string) bool, dish, glob string) string {
	text := strings.TrimPrefix(glob, "!")
	front := glob[:len(glob)-len(text)]
	base := dish
	if rest, rooted := strings.CutPrefix(text, "//"); rooted {
		front, text, base = front+"//", rest, "."
	}
	for end := len(text); end > 0; end = strings.LastIndexByte(text[:end], '/') {
		start := text[:end]
		if last := start[strings.LastIndexByte(start, '/')+1:]; strings.Trim(last, "*") == "" {
			continue // nobody names a file so
		}
		if strings.ContainsAny(start, "*?[{") && exists(path.Join(base, start)) {
			return front + Escape(start) + text[end:]
		}
	}
	return glob
}

// quoteLiterals is Literal for the globs of a dish.
func (b *builder) quoteLiterals(d *dish.Dish, globs []string) []string {
	if b.ws.Files == nil {
		return globs
	}
	for i, g := range globs {
		if strings.ContainsAny(g, "*?[{") {
			globs[i] = Literal(b.ws.Files.Walked, d.Path, g)
		}
	}
	return globs
}
