package cargotoml

import (
	"iter"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// The functions below read values that may be missing or of another type.

func child(v *tomlfile.Value, name string) *tomlfile.Value {
	if v == nil || v.Kind() != tomlfile.Table {
		return nil
	}
	return v.Child(name)
}

// children yields the keys of a table in order.
func children(v *tomlfile.Value) iter.Seq2[string, *tomlfile.Value] {
	return func(yield func(string, *tomlfile.Value) bool) {
		if v == nil || v.Kind() != tomlfile.Table {
			return
		}
		for _, name := range v.Keys() {
			if !yield(name, v.Child(name)) {
				return
			}
		}
	}
}

func elems(v *tomlfile.Value) []*tomlfile.Value {
	if v == nil || v.Kind() != tomlfile.Array {
		return nil
	}
	return v.Elems()
}

func text(v *tomlfile.Value) string {
	if v == nil {
		return ""
	}
	s, _ := v.Text()
	return s
}

func texts(v *tomlfile.Value) []string {
	var list []string
	for _, elem := range elems(v) {
		if s := text(elem); s != "" {
			list = append(list, s)
		}
	}
	return list
}

func truth(v *tomlfile.Value) bool {
	if v == nil {
		return false
	}
	b, _ := v.Any().(bool)
	return b
}
