package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// OptionsSchema is the part of JSON Schema that a manifest may use for its options: one object.
type OptionsSchema struct {
	Type        string                    `json:"type,omitempty"` // object, array, string, integer, number, boolean; "" for any
	Description string                    `json:"description,omitempty"`
	Default     json.RawMessage           `json:"default,omitempty"` // for people: bento sends no default
	Enum        []json.RawMessage         `json:"enum,omitempty"`
	Properties  map[string]*OptionsSchema `json:"properties,omitempty"`
	Items       *OptionsSchema            `json:"items,omitempty"`
	// AdditionalProperties false refuses members that Properties lacks.
	AdditionalProperties *bool    `json:"additionalProperties,omitempty"`
	Minimum              *float64 `json:"minimum,omitempty"`
	Maximum              *float64 `json:"maximum,omitempty"`
}

// maxSchema is the nesting of a schema.
const maxSchema = 8

// ReadOptionsSchema reads the options_schema of a manifest, which may have no other keywords.
func ReadOptionsSchema(text json.RawMessage) (*OptionsSchema, error) {
	var s OptionsSchema
	if err := readSchema(text, "options_schema", &s, maxSchema); err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("options_schema.type: expected \"object\", got %.40q", s.Type)
	}
	return &s, nil
}

// readSchema checks the members of one schema and of those in it.
func readSchema(text json.RawMessage, path string, into *OptionsSchema, depth int) error {
	if depth == 0 {
		return fmt.Errorf("%s: expected at most %d levels", path, maxSchema)
	}
	if err := shape.Decode(text, schemaShape(), into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if strangers := shape.Unknown(text, schemaShape()); len(strangers) > 0 {
		name := strangers[0].Path
		return fmt.Errorf("%s: bento knows no keyword %q; %s", path, name, diagnostics.Suggest(name, strangers[0].Known))
	}
	if !slices.Contains([]string{"", "object", "array", "string", "integer", "number", "boolean"}, into.Type) {
		return fmt.Errorf("%s.type: expected object, array, string, integer, number or boolean, got %.40q", path, into.Type)
	}
	var parts struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(parts.Properties)) {
		if err := readSchema(parts.Properties[name], path+".properties."+name, new(OptionsSchema), depth-1); err != nil {
			return err
		}
	}
	if parts.Items == nil {
		return nil
	}
	return readSchema(parts.Items, path+".items", new(OptionsSchema), depth-1)
}

func schemaShape() *shape.Shape {
	return shape.Record(
		shape.May("type", shape.Text(maxName)),
		shape.May("description", text()),
		shape.May("default", nil),
		shape.May("enum", shape.List(maxTasks, nil)),
		shape.May("properties", shape.Table(maxTasks, nil)),
		shape.May("items", nil),
		shape.May("additionalProperties", shape.Bool()),
		shape.May("minimum", nil),
		shape.May("maximum", nil),
	)
}

// OptionFault is a value that a schema refuses.
type OptionFault struct {
	Path    string // "generator", "flags[1]"; "" for the options themselves
	Message string
	Hint    string
}

// Check returns the faults of options, a JSON text.
func (s *OptionsSchema) Check(options json.RawMessage) (faults []OptionFault) {
	var value any
	if err := json.Unmarshal(options, &value); err != nil {
		return []OptionFault{{Message: err.Error()}}
	}
	s.check("", value, &faults)
	return faults
}

func (s *OptionsSchema) check(path string, v any, faults *[]OptionFault) {
	add := func(path, hint, format string, args ...any) {
		*faults = append(*faults, OptionFault{path, fmt.Sprintf(format, args...), hint})
	}
	if !isOfType(s.Type, v) {
		add(path, s.Description, "expected %s, got %s", article(s.Type), kindOf(v))
		return
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e json.RawMessage) bool { return equalJSON(e, v) }) {
		var names []string
		for _, e := range s.Enum {
			names = append(names, string(e))
		}
		hint := ""
		if word, ok := v.(string); ok && len(diagnostics.Nearest(word, names)) > 0 {
			hint = strings.ReplaceAll(diagnostics.Suggest(word, names), `""`, `"`)
		}
		add(path, hint, "expected one of %s", strings.Join(names, ", "))
	}
	switch v := v.(type) {
	case float64:
		if s.Minimum != nil && v < *s.Minimum {
			add(path, "", "expected at least %v, got %v", *s.Minimum, v)
		}
		if s.Maximum != nil && v > *s.Maximum {
			add(path, "", "expected at most %v, got %v", *s.Maximum, v)
		}
	case []any:
		for i := range v {
			if s.Items != nil {
				s.Items.check(fmt.Sprintf("%s[%d]", path, i), v[i], faults)
			}
		}
	case map[string]any:
		s.checkMembers(path, v, faults)
	}
}

func (s *OptionsSchema) checkMembers(path string, v map[string]any, faults *[]OptionFault) {
	known := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		of := strings.TrimPrefix(path+"."+name, ".")
		if p := s.Properties[name]; p != nil {
			p.check(of, v[name], faults)
		} else if s.AdditionalProperties != nil && !*s.AdditionalProperties {
			*faults = append(*faults, OptionFault{of, fmt.Sprintf("the plugin has no option %q", name), diagnostics.Suggest(name, known)})
		}
	}
}

func isOfType(t string, v any) bool {
	switch v := v.(type) {
	case string:
		return t == "" || t == "string"
	case bool:
		return t == "" || t == "boolean"
	case float64:
		return t == "" || t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "" || t == "array"
	case map[string]any:
		return t == "" || t == "object"
	}
	return t == ""
}

func kindOf(v any) string {
	for _, t := range []string{"string", "boolean", "integer", "number", "array", "object"} {
		if isOfType(t, v) {
			return article(t)
		}
	}
	return "null"
}

// article returns a type as configuration files call it.
func article(t string) string {
	return map[string]string{
		"string": "a string", "boolean": "true or false", "integer": "an integer", "number": "a number", "array": "an array", "object": "a table",
	}[t]
}

func equalJSON(text json.RawMessage, v any) bool {
	var want any
	return json.Unmarshal(text, &want) == nil && reflect.DeepEqual(want, v)
}
