package main

import "testing"

func TestFormat(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1.0,"a":[1,{"c":"x\u00e9"}],"e":{},"f":[ ]}`: "{\n  \"b\": 1.0,\n  \"a\": [\n    1,\n    {\n      \"c\": \"x\\u00e9\"\n    }\n  ],\n  \"e\": {},\n  \"f\": []\n}\n",
		" 7 \n": "7\n",
	} {
		if got, err := format([]byte(in), 2); string(got) != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", in, got, err, want)
		}
	}
	if _, err := format([]byte(`{"a":}`), 2); err == nil {
		t.Error("a broken file is formatted")
	}
}
