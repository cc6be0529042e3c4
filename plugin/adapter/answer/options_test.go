package answer

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestOptionsSchema checks which schemas a manifest may have, and which values each schema refuses.
func TestOptionsSchema(t *testing.T) {
	for schema, fault := range map[string]string{
		`{"type":"object"}`: "",
		`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x",1]}}},"additionalProperties":false}`: "",
		`{"type":"string"}`:                `options_schema.type: expected "object", got "string"`,
		`{}`:                               `expected "object", got ""`,
		`7`:                                "expected an object",
		`{"type":"object","propertis":{}}`: `no keyword "propertis"; did you mean "properties"?`,
		`{"type":"object","properties":{"a":{"pattern":"x"}}}`:                                        `options_schema.properties.a: bento knows no keyword "pattern"`,
		`{"type":"object","properties":{"a":{"type":"text"}}}`:                                        `options_schema.properties.a.type: expected object,`,
		`{"type":"object","items":` + strings.Repeat(`{"items":`, 9) + "{}" + strings.Repeat("}", 10): "at most 8 levels",
	} {
		_, err := ReadOptionsSchema(json.RawMessage(schema))
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: got %v, want %q", schema, err, fault)
		}
	}
	s, err := ReadOptionsSchema(json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
		"size":{"enum":["large","small"]},"cups":{"type":"integer","minimum":1,"maximum":9},"on":{"type":"boolean"},"list":{"type":"array","items":{"type":"number"}},"deep":{"type":"object","properties":{"a":{"type":"string"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for options, want := range map[string]string{
		`{}`: "", `{"size":"large","cups":9,"on":false,"list":[1,1.5],"deep":{"a":"x","b":1}}`: "",
		`{"size":"larg"}`:  `size: expected one of "large", "small" (did you mean "large"?)`,
		`{"cups":0}`:       "cups: expected at least 1, got 0",
		`{"cups":10}`:      "cups: expected at most 9, got 10",
		`{"cups":1.5}`:     "cups: expected an integer, got a number",
		`{"on":"yes"}`:     "on: expected true or false, got a string",
		`{"list":["a"]}`:   "list[0]: expected a number, got a string",
		`{"deep":{"a":1}}`: "deep.a: expected a string, got an integer",
		`{"cps":1}`:        `cps: the plugin has no option "cps" (did you mean "cups"?)`,
		`[]`:               ": expected a table, got an array",
	} {
		got := ""
		for _, f := range s.Check(json.RawMessage(options)) {
			got += f.Path + ": " + f.Message
			if f.Hint != "" {
				got += " (" + f.Hint + ")"
			}
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", options, got, want)
		}
	}
}
