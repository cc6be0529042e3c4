package snapshot

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// maxPath bounds the length of a path, in bytes: no system opens a longer one.
const maxPath = 4096

// EmbedsAt adds to list an embed of file for each of places: from the line of an offset in data, of
// a path relative to base. It skips places in a line that begins with one of comments.
func EmbedsAt(list []adapters.Embed, file string, data []byte, places []EmbedPlace, comments ...string) []adapters.Embed {
	from, line := 0, 1
	for _, p := range places {
		line += bytes.Count(data[from:p.Offset], []byte("\n"))
		from = p.Offset
		start := bytes.LastIndexByte(data[:from], '\n') + 1
		text, skip := strings.TrimLeft(string(data[start:from]), " \t"), p.Path == "" || len(p.Path) > maxPath || strings.ContainsRune(p.Path, 0)
		for _, c := range comments {
			skip = skip || strings.HasPrefix(text, c)
		}
		if skip {
			continue
		}
		at := filepath.FromSlash(p.Path)
		if !filepath.IsAbs(at) {
			at = filepath.Join(p.Base, at)
		}
		list = append(list, adapters.Embed{Path: filepath.Clean(at), File: file, Line: line, Named: p.Named})
	}
	return list
}

// EmbedPlace is a place in a source that includes a path.
type EmbedPlace struct {
	Offset int
	Base   string // absolute, a directory
	Path   string // with forward slashes
	Named  bool   // see Embed
}

// Outside returns the embeds that lead out of dir, which is absolute. The tools themselves handle
// paths of a manifest inside dir.
func Outside(dir string, list []adapters.Embed) []adapters.Embed {
	return slices.DeleteFunc(list, func(e adapters.Embed) bool {
		return e.Path == dir || strings.HasPrefix(e.Path, dir+string(filepath.Separator))
	})
}
