package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// TestDocumented: docs/configuration.md names every key that the parser knows, in a table.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "|") {
			rows.WriteString(line)
		}
	}
	// bentos/<name>.toml has its two keys in a sentence.
	page := rows.String() + "`name` `dishes`"
	keys := make(map[string]bool)
	for _, file := range []any{workspaceFile{}, bentoTable{}, dishTable{}, taskTable{}, ownFile{}, readyTable{}, garnishTable{}, secrets{}} {
		keysOf(reflect.TypeOf(file), keys)
	}
	for _, table := range []string{"plugins", "plugins.x"} { // which decode themselves
		f, _ := tomlfile.Parse("bento.toml", []byte("["+table+"]\nqqqqqqqq = 1\n"))
		for _, d := range new(Workspace).fill(f) {
			known, _ := strings.CutPrefix(d.Hint, "known: ")
			for key := range strings.SplitSeq(known, ", ") {
				keys[key] = true
			}
		}
	}
	if !keys["lazy"] || !keys["sha256"] || len(keys) < 60 {
		t.Errorf("the parser knows only %d keys; the search is broken", len(keys))
	}
	for key := range keys {
		if !regexp.MustCompile("`[^`]*\\b" + key + "\\b[^`]*`").MatchString(page) {
			t.Errorf("docs/configuration.md has no table with the key %s", key)
		}
	}
}

// keysOf adds the keys of a struct and of the structs in it.
func keysOf(typ reflect.Type, keys map[string]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		field := typ.Field(i)
		if key, _, _ := strings.Cut(field.Tag.Get("toml"), ","); key != "" && key != "-" {
			keys[key] = true
			keysOf(field.Type, keys)
		}
	}
}
