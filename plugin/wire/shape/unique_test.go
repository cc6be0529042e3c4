package shape

import "testing"

func TestUnique(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}`: "",
		`[1,"a","a"]`:                  "",
		`{"a":1,"a":2}`:                "a: expected one value, got two",
		`{"x":[0,{"b":1,"\u0062":2}]}`: "x[1].b: expected one value, got two",
		`{"":1,"":2}`:                  `"": expected one value, got two`,
		`[[[[1]]]]`:                    "JSON nested too deep",
		`{"a":1`:                       "the JSON ends where ',' or '}' was expected",
		`{} {}`:                        `no JSON at byte 3: expected the end, got "{}"`,
	} {
		got := ""
		if err := Unique([]byte(text), 3); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
