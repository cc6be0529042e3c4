package shape

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// recipe has one of each kind of value that a shape can have.
type recipe struct {
	Name  string            `json:"name"`
	Links []string          `json:"links"`
	More  map[string]nested `json:"more"`
	Steps []nested          `json:"steps"`
	Data  json.RawMessage   `json:"data"`
	Own   string            // has no name in JSON
}

type nested struct {
	OK    *bool `json:"ok"`
	Count int   `json:"task_count"`
}

// TestCase: a member whose name differs in case is unknown, in any object and any notation.
func TestCase(t *testing.T) {
	sh := Of(reflect.TypeFor[recipe]())
	for text, want := range map[string]string{
		`{"name":"a","Name":"b"}`:                            `{"name":"a"}`,
		`{"NAME":"b","name":"a"}`:                            `{"name":"a"}`,
		`{"Name":"b"}`:                                       `{}`,
		`{"\u004eame":"b","n\u0061me":"a"}`:                  `{"name":"a"}`,
		`{"links":["a"],"lin\u212as":["b"],"linkſ":["c"]}`:   `{"links":["a"]}`,
		`{"name":"a","NAME":7,"Steps":{}}`:                   `{"name":"a"}`,
		`{"steps":[{"OK":true},{"ok":true,"Ok":false}]}`:     `{"steps":[{},{"ok":true}]}`,
		`{"more":{"x":{"Task_Count":1},"X":{"OK":1}}}`:       `{"more":{"x":{},"X":{}}}`,
		`{"data":{"Name":1,"name":2},"Data":3,"Name":"b"}`:   `{"data":{"Name":1,"name":2}}`,
		`{"Own":"a","own":"b","name":"a"}`:                   `{"name":"a"}`,
		` { "Name" : { "deep" : [ { } ] } , "name" : "a" } `: `{"name":"a"}`,
	} {
		raw := []byte(text)
		var got, expected recipe
		if err := Decode(raw, sh, &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if string(raw) != text {
			t.Errorf("%s: the caller's bytes are now %s", text, raw)
		}
		if err := Decode([]byte(want), sh, &expected); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, expected) {
			t.Errorf("%s:\n got %+v\nwant %+v", text, got, expected)
		}
	}
}

// FuzzCase: decoding has the same result without the unknown members.
func FuzzCase(f *testing.F) {
	f.Add(`{"name":"a","Name":"b","more":{"x":{"OK":true,"ok":false}},"steps":[{"Ok":1}],"data":{"A":1},"Data":2}`)
	f.Add(`{"lin\u212as":["b"],"links":null,"steps":[{"task_count":1,"TASK_COUNT":2}],"":{},"\"":0}`)
	sh := Of(reflect.TypeFor[recipe]())
	f.Fuzz(func(t *testing.T, text string) {
		raw := []byte(text)
		if !utf8.Valid(raw) || Check(raw, 1000) != nil {
			return
		}
		var got, want recipe
		err := Decode(raw, sh, &got)
		wantErr := Decode(without(t, raw, sh), sh, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: got %v, want %v", text, err, wantErr)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\n got %+v\nwant %+v", text, got, want)
		}
	})
}

// without returns JSON without the members that are not in a shape.
func without(t *testing.T, raw []byte, sh *Shape) []byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if sh == nil || raw[0] != '[' && raw[0] != '{' {
		return raw
	}
	var parts []string
	if raw[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(err)
		}
		for _, value := range list {
			parts = append(parts, string(without(t, value, sh.elem)))
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	err := Members(raw, 1000, func(name, value []byte) {
		of := sh.elem
		if i := slices.IndexFunc(sh.fields, func(f Field) bool { return f.Name == string(name) }); i >= 0 {
			of = sh.fields[i].Shape
		} else if !sh.table {
			return
		}
		quoted, err := json.Marshal(string(name))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(quoted)+":"+string(without(t, value, of)))
	})
	if err != nil {
		t.Fatal(err)
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}
