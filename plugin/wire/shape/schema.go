package shape

import "math"

// Schema returns the shape as a JSON Schema (draft 2020-12). It is wider than the shape where
// a string must pass a test, which the description names, and where it is bounded in bytes.
func (sh *Shape) Schema() map[string]any {
	if sh == nil {
		return map[string]any{}
	}
	s := sh.schema()
	if sh.null {
		bare := *sh
		bare.null = false
		s = bare.schema()
		s["type"] = []any{s["type"], "null"}
	}
	if sh.why != nil {
		s["description"] = sh.want
	}
	return s
}

func (sh *Shape) schema() map[string]any {
	switch sh.starts {
	case "tf":
		return map[string]any{"type": "boolean"}
	case digits:
		return map[string]any{"type": "integer", "minimum": sh.low, "maximum": math.MaxInt32}
	case "[":
		return bounded(map[string]any{"type": "array", "items": sh.elem.Schema()}, "maxItems", sh.max)
	case "{":
		return sh.object()
	}
	return bounded(map[string]any{"type": "string"}, "maxLength", sh.max)
}

// bounded adds a limit, unless it is math.MaxInt, which means none.
func bounded(s map[string]any, name string, limit int) map[string]any {
	if limit != math.MaxInt {
		s[name] = limit
	}
	return s
}

func (sh *Shape) object() map[string]any {
	if sh.table {
		return bounded(map[string]any{"type": "object", "additionalProperties": sh.elem.Schema()}, "maxProperties", sh.max)
	}
	properties, required := make(map[string]any), []any{}
	for _, f := range sh.fields {
		properties[f.Name] = f.Shape.Schema()
		if f.Must {
			required = append(required, f.Name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
