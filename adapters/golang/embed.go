package golang

import (
	"bytes"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

const embedDirective = "//go:embed"

// Embeds implements adapters.Embedder: the patterns of //go:embed lines, as https://pkg.go.dev/embed
// describes them, and what the C parts of a source name outside of the module. It also finds a line
// in a comment or a string.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	return append(embedded(file, data), cgoPaths(file, data)...)
}

func embedded(file string, data []byte) (list []adapters.Embed) {
	for from, line := 0, 1; ; {
		i := bytes.Index(data[from:], []byte(embedDirective))
		if i < 0 {
			return list
		}
		line += bytes.Count(data[from:from+i], []byte("\n"))
		rest := data[from+i+len(embedDirective):]
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			rest = rest[:end]
		}
		for _, pattern := range embedPatterns(string(rest)) {
			if e, ok := embedOf(filepath.Dir(file), pattern); ok {
				e.File, e.Line = file, line
				list = append(list, e)
			}
		}
		from += i + len(embedDirective)
	}
}

// embedPatterns splits the arguments of a directive as parseGoEmbed of go/build does. For a malformed
// line, which go refuses, it returns the arguments before the error.
func embedPatterns(args string) (list []string) {
	if args = strings.TrimSuffix(args, "\r"); args != "" && args[0] != ' ' && args[0] != '\t' {
		return nil // another directive
	}
	for args = strings.TrimLeft(args, " \t"); args != ""; args = strings.TrimLeft(args, " \t") {
		pattern, end := args, len(args)
		switch args[0] {
		case '`', '"':
			quoted, err := strconv.QuotedPrefix(args)
			if err != nil {
				return list
			}
			end = len(quoted)
			if pattern, err = strconv.Unquote(quoted); err != nil {
				return list
			}
		default:
			if i := strings.IndexAny(args, " \t"); i >= 0 {
				pattern, end = args[:i], i
			}
		}
		list, args = append(list, pattern), args[end:]
	}
	return list
}

// embedOf returns the embed of a pattern: the elements before the first wildcard as a path, the
// others as a glob. ok is false for a pattern that go refuses.
func embedOf(dir, pattern string) (e adapters.Embed, ok bool) {
	names := adapters.PlainNames
	if rest, all := strings.CutPrefix(pattern, "all:"); all {
		pattern, names = rest, adapters.AllNames
	}
	if pattern == "" || path.IsAbs(pattern) || path.Clean(pattern) != pattern || pattern == ".." || strings.HasPrefix(pattern, "../") {
		return e, false
	}
	literal, glob := pattern, ""
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		at := strings.LastIndexByte(pattern[:i], '/') + 1
		literal, glob = pattern[:at], strings.ReplaceAll(pattern[at:], "{", `\{`)
	}
	return adapters.Embed{Path: filepath.Join(dir, filepath.FromSlash(literal)), Glob: glob, Ignored: names}, true
}
