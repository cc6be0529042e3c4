package discovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBoundaries(t *testing.T) {
	const rules = "[boundaries]\nui = { may = [\"lib\", \"ui\"] }\nlib = { may = [] }\nserver = { may = [\"lib\", \"data\"] }\n"
	tags := func(list string) string { return "tags = [" + list + "]\n" }
	tests := []struct {
		name  string
		files map[string]string
		told  []string
	}{
		{
			name: "declared, inferred, and both rules of two tags",
			files: map[string]string{
				"bento.toml":  rules,
				"a/dish.toml": tags(`"ui"`) + `depends_on = ["b", "l"]`, "b/dish.toml": tags(`"ui"`),
				"c/dish.toml": tags(`"ui", "server"`), "c/aa.toy": "link ../d\nlink ../l",
				"d/dish.toml": tags(`"data"`), "d/aa.toy": "dev ../n", "l/dish.toml": tags(`"lib"`) + `depends_on = ["n"]`, "n/dish.toml": "",
			},
			told: []string{
				`error boundary c/aa.toy:1: dish "c" with the tag "ui" links to "d", which has the tag "data", and boundaries.ui at bento.toml:2:1 allows only dishes with "lib" or "ui" (remove the link, or change the tags of one of the dishes or the rule)`,
				`error boundary l/dish.toml:2:15: dish "l" with the tag "lib" links to "n", which has no tags, and boundaries.lib at bento.toml:3:1 allows no links (remove the link, or change the tags of one of the dishes or the rule)`,
			},
		},
		{
			name: "rules in a cycle, and unknown tags",
			files: map[string]string{
				"bento.toml":  "[boundaries]\na = { may = [\"b\"] }\nb = { may = [\"a\", \"aa\"] }\nold = { may = [] }",
				"a/dish.toml": tags(`"a"`), "a/aa.toy": "link ../b", "b/dish.toml": tags(`"b"`), "b/aa.toy": "link ../a",
			},
			told: []string{
				`warning dependency_cycle b/aa.toy:1: b depends on a in a cycle: b → a → b; this link orders no tasks`,
				`warning unknown_tag bento.toml:3:19: boundaries.b: no dish has the tag "aa" (known: a, b)`,
				`warning unknown_tag bento.toml:4:1: boundaries.old: no dish has the tag "old" (known: a, b)`,
			},
		},
		{
			name: "visibility",
			files: map[string]string{
				"dish.toml":      `depends_on = ["open", "shut"]`,
				"open/dish.toml": `visibility = ["//"]`, "shut/dish.toml": "visibility = []",
				"lib/dish.toml":    `visibility = ["//apps/*", "!//apps/z", "//x"]`,
				"apps/y/dish.toml": `depends_on = ["lib", "open"]`, "apps/z/dish.toml": "", "apps/z/aa.toy": "link ../../lib",
				"x/in/dish.toml": `depends_on = ["lib"]`, "w/dish.toml": `depends_on = ["lib"]`,
			},
			told: []string{
				`error visibility apps/z/aa.toy:1: dish "z" at "apps/z" links to "lib", whose visibility at lib/dish.toml:1:15 does not have it (remove the link, or add "//apps/z" to the visibility)`,
				`error visibility dish.toml:1:23: dish "root" at "." links to "shut", whose visibility at shut/dish.toml:1:1 does not have it (remove the link, or the visibility)`,
				`error visibility w/dish.toml:1:15: dish "w" at "w" links to "lib", whose visibility at lib/dish.toml:1:15 does not have it (remove the link, or add "//w" to the visibility)`,
			},
		},
		{
			name: "bad values",
			files: map[string]string{
				"bento.toml":  "[boundaries]\n\"a b\" = { may = [] }\nc = {}\n",
				"a/dish.toml": `tags = ["", "x*", "c", "c"]` + "\n" + `visibility = ["apps/*"]`,
			},
			told: []string{
				`error invalid_name bento.toml:2:1: "a b" cannot be a tag: it holds a space, a comma, a quote or a wildcard`,
				`error missing_key bento.toml:3:1: boundaries.c has no may, expected may = ["TAG"]`,
				`error invalid_name a/dish.toml:1:9: "" cannot be a tag: it is empty`,
				`error invalid_name a/dish.toml:1:13: "x*" cannot be a tag: it holds a space, a comma, a quote or a wildcard`,
				`warning duplicate_name a/dish.toml:1:24: tags lists "c" twice`,
				`error invalid_glob a/dish.toml:2:15: visibility "apps/*" is not relative to the workspace (start it with "//", as in "//apps/*")`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, told := find(t, tt.files, nil)
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Error(diff)
			}
		})
	}
}
