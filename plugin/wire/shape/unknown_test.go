package shape

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnknown(t *testing.T) {
	task := Record(Must("name", Text(10)), May("env", Table(10, Text(10))))
	sh := Record(Must("tasks", List(10, task)), May("scope", Record(May("dir", Text(10)))))
	for _, c := range []struct {
		raw  string
		want []string
	}{
		{`{"tasks":[{"name":"a","env":{"X":"1"}}],"scope":null}`, nil},
		{`{"tasks":[],"Tasks":1,"scope":{"dirs":"a","dir":"b"}}`, []string{"Tasks of tasks scope", "scope.dirs of dir"}},
		{`{"tasks":[{"name":"a"},{"name":"b","output":[{"x":1}],"a b":2}]}`, []string{`tasks[1].a b of name env`, "tasks[1].output of name env"}},
		{`[]`, nil},
		{`{`, nil},
	} {
		var got []string
		for _, s := range Unknown(json.RawMessage(c.raw), sh) {
			got = append(got, s.Path+" of "+strings.Join(s.Known, " "))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.raw, diff)
		}
	}
	many := `{"tasks":[` + strings.Repeat(`{"name":"a","x":1},`, 50) + `{"name":"a"}]}`
	if got := len(Unknown(json.RawMessage(many), sh)); got != maxStrangers {
		t.Errorf("got %d strangers, want %d", got, maxStrangers)
	}
}
