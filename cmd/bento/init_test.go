package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// FuzzForeign: whatever other tools' files hold, init reads them to an end, JSON stays
// what it was without its comments, and bento.toml is a good one.
func FuzzForeign(f *testing.F) {
	f.Add([]byte(`{"tasks": {"build": {"dependsOn": ["^build"], "outputs": ["a//b", "/*"],},}} // end`))
	f.Add([]byte(`{"targetDefaults": {"a\nb": {"inputs": [{"x": 1}, "y,]"]}}}`))
	f.Add([]byte("tasks:\n  build:\n    command: \"x\"\n    deps: [\"~:y\"]\n"))
	f.Add([]byte(".PHONY: a b\na:\nb: a\ntest:\n\ttrue\nX := 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc := initialised{Excluded: []excluded{{Path: string(data), Why: string(data)}}}
		for _, read := range []func([]byte) []mapping{turboTasks, nxTargets, moonTasks, makeTargets} {
			doc.Foreign = append(doc.Foreign, foreign{"x", read(data)})
		}
		doc.Foreign = append(doc.Foreign, foreign{string(data), nil})
		if bytes.ContainsAny(data, "\x00") || !json.Valid(data) {
			data = bytes.ToValidUTF8(data, nil)
			doc.Excluded[0].Path = string(data)
		} else if plain := plainJSON(data); !json.Valid(plain) {
			t.Errorf("%q became %q", data, plain)
		}
		if _, problems := tomlfile.Parse("bento.toml", []byte(doc.toml())); len(problems) > 0 {
			t.Errorf("%s\n%v", doc.toml(), problems)
		}
	})
}
