package key

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
)

// A dish that pins two tools has two ingredients of one name.
func TestIngredientsOfOneName(t *testing.T) {
	pin := func(value string) ingredient {
		return ingredient{Kind: kindText, Name: "required toolchain", Value: value}
	}
	node, pnpm := pin("node v24"), pin("pnpm 11")
	changed := func(how, before, after string) []Change {
		return []Change{{Kind: "text", Name: "required toolchain", How: how, Before: before, After: after}}
	}
	for name, tt := range map[string]struct {
		old, now []ingredient
		want     []Change
	}{
		"same":         {[]ingredient{node, pnpm}, []ingredient{node, pnpm}, nil},
		"other order":  {[]ingredient{node, pnpm}, []ingredient{pnpm, node}, nil},
		"first":        {[]ingredient{node, pnpm}, []ingredient{pin("node v26"), pnpm}, changed("changed", "node v24", "node v26")},
		"second":       {[]ingredient{node, pnpm}, []ingredient{node, pin("pnpm 12")}, changed("changed", "pnpm 11", "pnpm 12")},
		"one more":     {[]ingredient{node}, []ingredient{node, pnpm}, changed("added", "", "pnpm 11")},
		"one less":     {[]ingredient{node, pnpm}, []ingredient{pnpm}, changed("removed", "node v24", "")},
		"from nothing": {nil, []ingredient{node}, changed("added", "", "node v24")},
	} {
		if d := cmp.Diff(tt.want, differences(tt.old, tt.now, nil, nil)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A workspace whose state was removed has another secret, and so has who else fills a shared cache.
func TestVariablesOfOtherSecrets(t *testing.T) {
	env := func(secret byte, value string, set bool) ingredient {
		b := (&builderPool{Secret: [32]byte{secret}}).New()
		b.Env("A", value, set)
		return b.Ingredients()[0]
	}
	text := func(value string) ingredient { return ingredient{Kind: kindText, Name: "command", Value: value} }
	variable := func(how string) Change { return Change{Kind: "env", Name: "A", How: how} }
	command := Change{Kind: "text", Name: "command", How: "changed", Before: "x", After: "y"}
	for name, tt := range map[string]struct {
		old, now []ingredient
		want     []Change
	}{
		"another secret alone":     {[]ingredient{env(1, "v", true)}, []ingredient{env(2, "v", true)}, []Change{variable("changed")}},
		"another secret and text":  {[]ingredient{env(1, "v", true), text("x")}, []ingredient{env(2, "v", true), text("y")}, []Change{command}},
		"the same secret and text": {[]ingredient{env(1, "v", true), text("x")}, []ingredient{env(1, "w", true), text("y")}, []Change{variable("changed"), command}},
		"unset there":              {[]ingredient{env(1, "", false), text("x")}, []ingredient{env(2, "v", true), text("y")}, []Change{variable("changed"), command}},
		"unset here":               {[]ingredient{env(1, "v", true), text("x")}, []ingredient{env(2, "", false), text("y")}, []Change{variable("changed"), command}},
		"the same":                 {[]ingredient{env(1, "v", true)}, []ingredient{env(1, "v", true)}, nil},
		"gone":                     {[]ingredient{env(1, "v", true), text("x")}, []ingredient{text("y")}, []Change{command, variable("removed")}},
	} {
		if d := cmp.Diff(tt.want, differences(tt.old, tt.now, nil, nil)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestChangeOfLines: the change of a long value shows the first line that differs.
func TestChangeOfLines(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"a", "b", "a → b"},
		{"", "b\nc", "nothing → b, c"},
		{"a\nb", "", "a, b → nothing"},
		{"rustc 1\nhost: x\nrelease: 1", "rustc 2\nhost: x\nrelease: 2", "rustc 1 and 1 more line → rustc 2 and 1 more line"},
		{"same\na\nend", "same\nb\nc\nd\nend", "a → b and 2 more lines"},
		{"a\nb", "a", "a, b → a"},
		{"a\nb", "b\na", "a, b → b, a"},
	} {
		c := Change{Kind: "text", Name: "toolchain", How: "changed", Before: tt.before, After: tt.after}
		if got := c.String(); got != "toolchain changed: "+tt.want {
			t.Errorf("%q, %q: %s", tt.before, tt.after, got)
		}
	}
}

// TestDifferenceOfManyWays: from a dish to another there may be very many ways along links. What differs there
// is looked for once, and found.
func TestDifferenceOfManyWays(t *testing.T) {
	const levels = 32
	made, asked := make(map[cache.Digest][]byte), 0
	add := func(data []byte) string {
		made[cache.Sum(data)] = data
		return cache.Sum(data).String()
	}
	ladder := func(leaf string) []ingredient {
		of := []ingredient{{kindText, "command", leaf}}
		for level := range levels {
			below := add(encodeIngredients(of))
			of = []ingredient{{KindSources, fmt.Sprint("a", level), below}, {KindSources, fmt.Sprint("b", level), below}}
		}
		return of
	}
	old, now := ladder("x"), ladder("y")
	got := differences(old, now, func(d cache.Digest) []byte {
		if asked++; asked > 100*levels {
			t.Fatalf("the blobs of %d dishes were asked for %d times", 2*levels, asked)
		}
		return made[d]
	}, func(d cache.Digest) []byte { return made[d] })
	want := []Change{{Kind: "text", Name: "command", How: "changed", Before: "x", After: "y"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
