package shape

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// Of returns the shape of values of a type: its members are those with tags, in the case of
// the tag only, and all are optional. A type must not contain itself. Values of unusual
// kinds are left to encoding/json.
func Of(t reflect.Type) *Shape {
	if t == reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return Bool()
	case reflect.Int, reflect.Int32:
		return Int(math.MinInt32)
	case reflect.String:
		return Text(math.MaxInt)
	case reflect.Pointer:
		return Of(t.Elem()).OrNull()
	case reflect.Slice:
		return List(math.MaxInt, Of(t.Elem()))
	case reflect.Map:
		return Table(math.MaxInt, Of(t.Elem()))
	case reflect.Struct:
		return Record(fieldsOf(t)...)
	}
	return nil
}

func fieldsOf(t reflect.Type) []Field {
	var fields []Field
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" && name != "" {
			fields = append(fields, May(name, Of(f.Type)))
		}
	}
	return fields
}
