package tomlfile

import (
	"errors"

	"github.com/BurntSushi/toml"

	"github.com/bentobuild/bento/diagnostics"
)

// fill sets the scalars of the tree.
func (f *File) fill() []diagnostics.Diagnostic {
	var tree map[string]any
	if _, err := toml.Decode(string(f.data), &tree); err != nil {
		return []diagnostics.Diagnostic{f.decodeError(err)}
	}
	if v := f.root.fill(tree); v != nil {
		return []diagnostics.Diagnostic{v.KeyPos().Error(RuleSyntax, "%s is ambiguous", v.Path())}
	}
	return nil
}

// decodeError converts an error of BurntSushi's parser. Only the byte offset of its position is correct.
func (f *File) decodeError(err error) diagnostics.Diagnostic {
	var perr toml.ParseError
	if !errors.As(err, &perr) {
		return diagnostics.Pos{File: f.path}.Error(RuleSyntax, "%s", err)
	}
	msg := perr.Message
	if msg == "" {
		msg = err.Error()
	}
	return f.pos(min(max(perr.Position.Start, 0), len(f.data))).Error(RuleSyntax, "%s", msg)
}

// fill sets the scalars in v from the result of BurntSushi's parser. It returns the first value in which the two
// parsers differ.
func (v *Value) fill(from any) *Value {
	v.scalar = from
	switch from := from.(type) {
	case map[string]any:
		if v.kind != Table || len(v.table) != len(from) {
			return v
		}
		for _, name := range v.names {
			x, ok := from[name]
			if !ok {
				return v.table[name]
			}
			if bad := v.table[name].fill(x); bad != nil {
				return bad
			}
		}
		return nil
	case []map[string]any:
		return fillList(v, from)
	case []any:
		return fillList(v, from)
	}
	if v.kind == Table || v.kind == Array {
		return v
	}
	return nil
}

func fillList[T any](v *Value, from []T) *Value {
	if v.kind != Array || len(v.list) != len(from) {
		return v
	}
	for i, elem := range v.list {
		if bad := elem.fill(from[i]); bad != nil {
			return bad
		}
	}
	return nil
}
