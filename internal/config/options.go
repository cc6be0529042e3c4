package config

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Options are the options of a plugin. Package workspace compares them with the manifest of the plugin.
type Options struct {
	JSON   string         // an object; "" when not given
	Places map[string]Pos // by path, "generator" or "flags[1]"; "" is the table
}

// Over returns the options of a dish as JSON: those of o, and those of the workspace that o lacks.
func (o Options) Over(workspace Options) string {
	if o.JSON == "" || workspace.JSON == "" {
		return o.JSON + workspace.JSON
	}
	merged := make(map[string]json.RawMessage)
	for _, text := range []string{workspace.JSON, o.JSON} {
		if err := json.Unmarshal([]byte(text), &merged); err != nil {
			panic(err) // this package made the JSON
		}
	}
	return string(mustJSON(merged))
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of TOML are always valid in JSON
	}
	return text
}

// Shape returns the schema.
func (*Options) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "object"} }

// UnmarshalTOML reads a table.
func (o *Options) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Expected("a table of options")}
	}
	o.Places = make(map[string]Pos)
	value := o.value(v, "", &problems)
	if len(problems) == 0 {
		o.JSON = string(mustJSON(value))
	}
	return problems
}

// value converts a value for JSON, and records its place.
func (o *Options) value(v *tomlfile.Value, path string, problems *[]diagnostics.Diagnostic) any {
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
	Options Options `toml:"options" doc:"options of the plugin for this dish, over those of the workspace"`
}

// optionsOf returns the options of plugins in dish.toml, by id.
func optionsOf(tables tomlfile.Map[dishPluginTable]) (map[string]Options, []diagnostics.Diagnostic) {
	var by map[string]Options
	var problems []diagnostics.Diagnostic
	for i := range tables {
		problems = append(problems, badPluginID(tables[i].Pos, tables[i].Name)...)
		if by == nil {
			by = make(map[string]Options)
		}
		by[tables[i].Name] = tables[i].Value.Options
	}
	return by, problems
}
