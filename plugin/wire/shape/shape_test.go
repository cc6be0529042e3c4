package shape

import (
	"fmt"
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	sh := Record(
		Must("name", Text(8).That("a short name", func(s string) bool { return s != "" })),
		May("count", Int(0)),
		May("list", List(2, Text(4))),
		May("more", Table(2, Record(Must("ok", Bool())))),
	)
	var into struct {
		Name  string
		Count int
		List  []string
		More  map[string]struct{ OK bool }
	}
	for text, want := range map[string]string{
		`{"name":"a","count":3,"list":["b"],"more":{"x":{"ok":true}},"other":{"list":[1,2,3]}}`: "",
		`{"name":"a","count":null,"list":null,"more":null}`:                                     "",
		`[]`:                                   "expected an object with \"name\", got an array",
		`null`:                                 "expected an object with \"name\", got null",
		`{}`:                                   "name: expected a short name, got nothing",
		`{"name":null}`:                        "name: expected a short name, got null",
		`{"name":""}`:                          `name: expected a short name, got ""`,
		`{"name":"123456789"}`:                 "name: expected at most 8 bytes, got 9",
		`{"name":"\u0061\u0061"}`:              "",
		`{"name":"a","name":"b"}`:              "name: expected one value, got two",
		`{"name":"a","count":1.5}`:             "count: expected an integer from 0 to 2147483647, or null, got 1.5",
		`{"name":"a","count":-1}`:              "count: expected an integer from 0 to 2147483647, or null, got -1",
		`{"name":"a","count":"1"}`:             "count: expected an integer from 0 to 2147483647, or null, got a string",
		`{"name":"a","list":"b"}`:              "list: expected an array, or null, got a string",
		`{"name":"a","list":["b",7]}`:          "list[1]: expected a string, got a number",
		`{"name":"a","list":["b","c","d"]}`:    "list: expected at most 2 elements, got more",
		`{"name":"a","more":{"a b":{"ok":1}}}`: `more."a b".ok: expected true or false, got a number`,
		`{"name":"a","more":{"x":{}}}`:         "more.x.ok: expected true or false, got nothing",
		`{"name":"a","more":{"x":{"ok":true},"y":{"ok":true},"z":{}}}`: "more: expected at most 2 members, got more",
	} {
		got := ""
		if err := Decode([]byte(text), sh, &into); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestShapeBoundsAllValues(t *testing.T) {
	inner := "[" + strings.Repeat("0,", 999) + "0]"
	text := "[" + strings.Repeat(inner+",", 999) + inner + "]"
	var into [][]int
	err := Decode([]byte(text), List(1000, List(1000, Int(0))), &into)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(MaxValues)) {
		t.Errorf("a million values: got %v", err)
	}
	if into != nil {
		t.Errorf("they were decoded")
	}
}
