package main

import (
	"bytes"
	"testing"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// FuzzInit: bento init writes a valid bento.toml for any names and errors of directories.
func FuzzInit(f *testing.F) {
	f.Add([]byte("a\nb\"\\"))
	f.Add([]byte("*[x]{y}!\x1b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text := string(bytes.ToValidUTF8(data, nil))
		doc := initialised{Excluded: []excluded{{Path: text, Why: text}}}
		if _, problems := tomlfile.Parse("bento.toml", []byte(doc.toml())); len(problems) > 0 {
			t.Errorf("%s\n%v", doc.toml(), problems)
		}
	})
}
