package report

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// SchemaOptions are the parts of a schema that the type does not determine.
type SchemaOptions struct {
	ID string // the value of the member "schema" of the document
	// IDs are further values of it.
	IDs   []string
	Title string
	// Closed forbids members that the type does not have. Published schemas are open:
	// later versions of bento add members.
	Closed bool
}

// SchemaOf returns the schema of v's type. A field may have a tag enum:"a,b" with the values
// that it can have. One with the tag brief:"-" is not required: a brief form of the document lacks it.
func SchemaOf(v any, o SchemaOptions) map[string]any {
	m := &maker{closed: o.Closed, inside: make(map[reflect.Type]bool)}
	doc := m.of(reflect.TypeOf(v))
	if props, ok := doc["properties"].(map[string]any); ok && o.ID != "" {
		props["schema"] = map[string]any{"const": o.ID}
		if len(o.IDs) > 0 {
			props["schema"] = map[string]any{"enum": append([]string{o.ID}, o.IDs...)}
		}
	}
	doc["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	doc["$id"] = "urn:" + strings.ReplaceAll(o.ID, "/", ":")
	doc["title"] = o.Title
	return doc
}

type maker struct {
	closed bool
	inside map[reflect.Type]bool // the enclosing structs of the current one
}

func (m *maker) of(t reflect.Type) map[string]any {
	if s, ok := special(t); ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(m.of(t.Elem()))
	case reflect.Struct:
		return m.object(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return map[string]any{"type": "array", "items": m.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": m.of(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Interface:
		return map[string]any{}
	default:
		return map[string]any{"type": "integer"}
	}
}

// special returns the schemas of types with their own JSON encoding.
func special(t reflect.Type) (map[string]any, bool) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}, true
	case t == reflect.TypeFor[json.RawMessage]():
		return map[string]any{}, true
	case t.Kind() == reflect.Pointer:
		return nil, false
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return map[string]any{}, true
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}, true
	}
	return nil, false
}

func nullable(s map[string]any) map[string]any {
	if kind, ok := s["type"].(string); ok {
		s["type"] = []string{kind, "null"}
	}
	return s
}

// object returns the schema of a struct. A struct that contains itself is a plain object there.
func (m *maker) object(t reflect.Type) map[string]any {
	if m.inside[t] {
		return map[string]any{"type": "object"}
	}
	m.inside[t] = true
	defer delete(m.inside, t)
	props, required := make(map[string]any), []string{}
	m.fields(t, props, &required)
	s := map[string]any{"type": "object", "properties": props}
	if len(required) > 0 {
		s["required"] = required
	}
	if m.closed {
		s["additionalProperties"] = false
	}
	return s
}

// fields adds the fields of a struct, and those of embedded structs.
func (m *maker) fields(t reflect.Type, props map[string]any, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			m.fields(f.Type, props, required)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		omit := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") || f.Tag.Get("brief") == "-"
		if !omit {
			*required = append(*required, name)
		}
		props[name] = m.field(f, omit)
	}
}

func (m *maker) field(f reflect.StructField, omit bool) map[string]any {
	t := f.Type
	if omit && t.Kind() == reflect.Pointer {
		t = t.Elem() // null is left out
	}
	s := m.of(t)
	if list, ok := f.Tag.Lookup("enum"); ok {
		s["enum"] = strings.Split(list, ",")
	}
	return s
}
