package snapshot

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// UpwardPaths returns the quoted strings of a manifest in dir that lead upwards, but for those in
// lines that skip refuses. The manifest only names them; see Embed.
func UpwardPaths(dir, file string, data []byte, skip func(line string) bool, comments ...string) []adapters.Embed {
	if filepath.Dir(file) != dir {
		return nil
	}
	var places []EmbedPlace
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte("../"))
		if i < 0 {
			break
		}
		at := from + i
		from = at + 1
		if at == 0 || !strings.ContainsRune("\"'", rune(data[at-1])) {
			continue
		}
		end := bytes.IndexAny(data[at:], string(data[at-1:at])+"\n")
		if end < 0 || data[at+end] == '\n' || skip(lineAt(data, at)) {
			continue
		}
		text := string(data[at : at+end])
		if star := strings.IndexAny(text, "*?[{$#"); star >= 0 {
			text = text[:strings.LastIndexByte(text[:star], '/')+1]
		}
		places = append(places, EmbedPlace{Offset: at, Base: dir, Path: text, Named: true})
		from = at + end
	}
	return Outside(dir, EmbedsAt(nil, file, data, places, comments...))
}

// lineAt returns the line of an offset.
func lineAt(data []byte, at int) string {
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	line, _, _ := bytes.Cut(data[start:], []byte("\n"))
	return string(line)
}
