package config

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of TOML are always valid in JSON
	}
	return text
}

// options are dish.Options that decode themselves.
type options dish.Options

// Shape returns the schema.
func (*options) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "object"} }

// UnmarshalTOML reads a table.
func (o *options) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Expected("a table of options")}
	}
	o.Places = make(map[string]diagnostics.Pos)
	value := o.value(v, "", &problems)
	if len(problems) == 0 {
		o.JSON = string(mustJSON(value))
	}
	return problems
}

// value converts a value for JSON, and records its place.
func (o *options) value(v *tomlfile.Value, path string, problems *[]diagnostics.Diagnostic) any {
	o.Places[path] = v.Pos()
	switch v.Kind() {
	case tomlfile.Table:
		table := make(map[string]any, len(v.Keys()))
		for _, key := range v.Keys() {
			of := key
			if path != "" {
				of = path + "." + key
			}
			table[key] = o.value(v.Child(key), of, problems)
		}
		return table
	case tomlfile.Array:
		list := make([]any, 0, len(v.Elems()))
		for i, elem := range v.Elems() {
			list = append(list, o.value(elem, fmt.Sprintf("%s[%d]", path, i), problems))
		}
		return list
	}
	f, isFloat := v.Any().(float64)
	_, err := json.Marshal(v.Any())
	if isFloat && (math.IsNaN(f) || math.IsInf(f, 0)) || err != nil || v.Kind() != tomlfile.String && v.Kind() != tomlfile.Bool && v.Kind() != tomlfile.Integer && !isFloat {
		*problems = append(*problems, v.Expected("a text, a number, true or false: options are sent as JSON"))
	}
	return v.Any()
}

// dishPluginTable is the schema of [plugins.<id>] in dish.toml.
type dishPluginTable struct {
	Options options `toml:"options" doc:"options of the plugin for this dish, over those of the workspace"`
}

// optionsOf returns the options of plugins in dish.toml, by id.
func optionsOf(tables tomlfile.Map[dishPluginTable]) (map[string]dish.Options, []diagnostics.Diagnostic) {
	var by map[string]dish.Options
	var problems []diagnostics.Diagnostic
	for i := range tables {
		problems = append(problems, badPluginID(tables[i].Pos, tables[i].Name)...)
		if by == nil {
			by = make(map[string]dish.Options)
		}
		by[tables[i].Name] = dish.Options(tables[i].Value.Options)
	}
	return by, problems
}
