package tomlfile

import (
	"encoding/json"
	"reflect"
)

// Schema is a JSON Schema of draft 7, which editors support.
type Schema map[string]any

// Shaper is a type that returns its own schema: an Unmarshaler, or a struct with rules that its fields do not show.
// The schema must accept every value that decodes, and refuse at least every value of another kind.
type Shaper interface{ Shape() Schema }

// SchemaOf returns the schema of the tables that Decode accepts for v, a struct. The tag doc of a field is the
// description of its key. The tag default is the default value: true, false, a number, else a string.
func SchemaOf(v any) Schema { return tableSchema(reflect.TypeOf(v)) }

// shaped are the generic types of this package, which contain other types.
type shaped interface{ shape() Schema }

func (*At[T]) shape() Schema { return schemaOf(reflect.TypeFor[T]()) }

func (*Map[T]) shape() Schema {
	return Schema{"type": "object", "additionalProperties": schemaOf(reflect.TypeFor[T]())}
}

func schemaOf(t reflect.Type) Schema {
	switch v := reflect.New(t).Interface().(type) {
	case Shaper:
		return v.Shape()
	case shaped:
		return v.shape()
	case **Value:
		return Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return tableSchema(t)
	case reflect.Slice:
		return Schema{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Interface:
		return Schema{}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return Schema{"type": "number"}
	default:
		return Schema{"type": "integer"}
	}
}

// tableSchema returns the schema of a struct.
func tableSchema(t reflect.Type) Schema {
	known := make(map[string]any)
	s := Schema{"type": "object", "properties": known, "additionalProperties": false}
	for f := range t.Fields() {
		key := keyOf(f)
		if key == "" {
			continue
		}
		of := schemaOf(f.Type)
		if key == others {
			s["additionalProperties"] = of["additionalProperties"]
			of, _ = of["additionalProperties"].(Schema)
		} else {
			known[key] = of
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			of["description"] = doc
		}
		if text, ok := f.Tag.Lookup("default"); ok {
			of["default"] = defaultOf(text)
		}
	}
	return s
}

// defaultOf returns the value of a tag: true, a number, or else a string.
func defaultOf(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
