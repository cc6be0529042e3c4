package wasm

import (
	"context"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// A module may export its name and the schema of its input.
func TestSelf(t *testing.T) {
	says := func(name, schema []byte) *Module {
		m := Answering(Good)
		m.Data(2048, "a_name")
		m.Data(3072, `{"type":"object"}`)
		if name != nil {
			m.Func("az_tool_name", "->i64", name)
		}
		if schema != nil {
			m.Func("az_tool_schema", "->i64", schema)
		}
		return m
	}
	name, schema := Packed(2048, 6), Packed(3072, 17)
	odd := Answering(Good)
	odd.Func("az_tool_schema", "i32->i64", I64(1))
	odd.Export("az_tool_name", 2, 0)
	for what, tt := range map[string]struct {
		m       *Module
		want    Self
		code    adapters.Code
		message string
	}{
		"both":                    {m: says(name, schema), want: Self{"a_name", []byte(`{"type":"object"}`)}},
		"neither":                 {m: says(nil, nil)},
		"empty ones":              {m: says(I64(0), I64(0))},
		"exports of other types":  {m: odd},
		"a schema that is a list": {m: says(nil, Packed(3086, 3)), code: adapters.MalformedResponse, message: "the schema of the module is no JSON object: found "},
		"a name that is not text": {m: says(Packed(1034, 8192), nil), want: Self{}, code: adapters.MalformedResponse, message: "the name of the module is not valid UTF-8"},
		"out of bounds":           {m: says(Packed(65530, 100), nil), code: adapters.MalformedResponse, message: "plugin output ptr/len (65530, 100) exceeds memory bounds"},
		"a trap":                  {m: says(nil, Op(Unreachable)), code: adapters.Crashed, message: "az_tool_schema call failed"},
		"without end":             {m: says(append(Forever(), I64(0)...), nil), code: adapters.Timeout, message: "exceeded time limit"},
	} {
		t.Run(what, func(t *testing.T) {
			tt.m.Data(5000, "\xff")
			tool := open(t, Options{Bytes: tt.m.Bytes(), Timeout: 300 * time.Millisecond})
			got, err := tool.Self(context.Background())
			if tt.code != "" {
				wantFailure(t, err, tt.code, tt.message)
			} else if err != nil || got.Name != tt.want.Name || string(got.Schema) != string(tt.want.Schema) {
				t.Errorf("got %q, %s, %v, want %q, %s", got.Name, got.Schema, err, tt.want.Name, tt.want.Schema)
			}
		})
	}
}
