package packagejson

import "testing"

func TestShared(t *testing.T) {
	of := func(text string) string {
		m, err := ParseManifest("package.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return m.Shared
	}
	const base = `{"name": "r", "workspaces": ["p/*"], "type": "module", "jest": {"bail": 1, "x": []}}`
	for text, same := range map[string]bool{
		`{"version": "9", "scripts": {"a": "b"}, "license": "MIT", ` + base[1:]: true,
		`{
			"name": "r", "workspaces": [ "p/*" ], "type": "module", "jest": {"bail": 1, "x": []}
		}`: true,
		`{"name": "r", "workspaces": ["p/*"], "type": "commonjs", "jest": {"bail": 1, "x": []}}`: false,
		`{"name": "r", "workspaces": ["p/*"], "type": "module", "jest": {"bail": 2, "x": []}}`:   false,
		`{"name": "r", "workspaces": ["p/*"], "type": "module", "jest": {"bail": 1, "x": {}}}`:   false,
		`{"engines": {"node": "20"}, ` + base[1:]:                                                false,
		`{"devDependencies": {"a": "1"}, ` + base[1:]:                                            false,
		`{"unheard": 1, ` + base[1:]:                                                             false,
	} {
		if got := of(text) == of(base); got != same {
			t.Errorf("%s: same %v, want %v", text, got, same)
		}
	}
}
