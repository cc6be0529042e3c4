package config

import (
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// FileSchema is the JSON Schema of one kind of file. It accepts every file that has no errors, and
// refuses unknown keys and values of the wrong type.
type FileSchema struct {
	Name   string // "workspace", "dish", "bento", "own" or "adapter"
	Title  string // the file and its content
	Schema tomlfile.Schema
}

// Schemas returns the schemas of all files, from the tables that the parser decodes.
func Schemas() []FileSchema {
	list := []FileSchema{
		{"workspace", dish.WorkspaceFile + ": the settings of a workspace", withUnserved(workspaceFile{}, dish.WorkspaceFile)},
		{"dish", "<dish>/" + dish.File + ": the name, language, tasks and dependencies of a dish", withUnserved(dishTable{}, dish.File)},
		{"bento", dish.BentosDir + "/<name>.toml: a named selection of dishes", tomlfile.SchemaOf(bentoTable{})},
		{"adapter", dish.AdaptersDir + "/<id>.toml: an adapter that needs no program", new(adapterTable).Shape()},
		{"own", "$XDG_CONFIG_HOME/bento/config.toml: your own settings for every workspace", withUnserved(ownFile{}, dish.WorkspaceFile)},
	}
	for i, misplaced := range map[int][]string{0: {"path", "identity"}, 4: {"options"}} {
		of, _ := property(list[i].Schema, "plugins")["additionalProperties"].(tomlfile.Schema)
		known, _ := of["properties"].(map[string]any)
		for _, key := range misplaced {
			delete(known, key)
		}
	}
	list[2].Schema["required"] = []string{"name", "dishes"}
	for _, f := range list {
		f.Schema["$schema"] = "http://json-schema.org/draft-07/schema#" // the latest draft that TOML editors support
		f.Schema["$id"] = "urn:bento:config." + f.Name + ":1"
		f.Schema["title"] = f.Title
	}
	return list
}

// withUnserved returns the schema of a file in which keys without effect are marked; kind is as in
// unservedKeys.
func withUnserved(v any, kind string) tomlfile.Schema {
	s := tomlfile.SchemaOf(v)
	for _, u := range unservedKeys() {
		at := s
		for key := range strings.SplitSeq(u.key, ".") {
			at = property(at, key)
		}
		if u.file == kind && at != nil {
			at["description"] = "no effect in bento: " + u.instead
			at["deprecated"] = true
		}
	}
	return s
}

// property returns the schema of a key of a table, nil for none.
func property(s tomlfile.Schema, key string) tomlfile.Schema {
	known, _ := s["properties"].(map[string]any)
	of, _ := known[key].(tomlfile.Schema)
	return of
}
