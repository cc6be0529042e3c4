package sep

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/plugin/sep/manifest"
)

func TestPolicy(t *testing.T) {
	got, err := ParsePolicy("policy.json", []byte(`{"acme.lint":{"enabled":true,"approved":true,"grant":["messages.read"]},"acme.x":{"enabled":false},"acme.y":{"grant":[]}}`))
	want := Policy{
		"acme.lint": {Enabled: true, Approved: true, Grant: []string{manifest.MessagesRead}},
		"acme.x":    {},
		"acme.y":    {Enabled: true, Grant: []string{}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for text, want := range map[string]string{
		`[]`:                                  "policy.json:1:1: the policy is a list, required an object",
		`{"acme":{}}`:                         `"acme" is no id of an extension`,
		`{"acme.x":true}`:                     `"acme.x" is true or false, required an object`,
		`{"acme.x":{"enable":true}}`:          `"acme.x" has an unknown member "enable"`,
		`{"acme.x":{"enabled":"yes"}}`:        `"acme.x.enabled" is a string, required true or false`,
		`{"acme.x":{"approved":1}}`:           `"acme.x.approved" is a number, required true or false`,
		`{"acme.x":{"grant":{}}}`:             `"acme.x.grant" is an object, required a list`,
		`{"acme.x":{"grant":["all"]}}`:        `"acme.x.grant" has "all", required permissions`,
		`{"acme.x":{"grant":[1]}}`:            `"acme.x.grant" has a number, required permissions`,
		`{"acme.x":{},"acme.x":{}}`:           `a second member "acme.x"`,
		`{`:                                   `JSON`,
		`{}` + strings.Repeat(" ", 1<<20):     `the policy has 1048578 bytes, required at most 1048576`,
		`{"acme.x":{"grant":["` + "\xff\"]}}": `UTF-8`,
	} {
		if _, err := ParsePolicy("policy.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`{"acme.lint":{"enabled":true,"approved":true,"grant":["messages.read"]}}`))
	m, err := manifest.Parse("manifest.json", []byte(minimal))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy("policy.json", data)
		if (p == nil) != (err != nil) {
			t.Fatalf("%v with %v", p, err)
		}
		for _, e := range p {
			terms := Settle(m, &e)
			if n := len(terms.Granted) + len(terms.Denied); n != len(m.Permissions) || !e.Enabled && len(terms.Granted) > 0 {
				t.Fatalf("%+v has the terms %+v", e, terms)
			}
		}
	})
}
