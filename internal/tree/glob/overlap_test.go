package glob

import (
	"testing"

	"pgregory.net/rapid"
)

func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		x, y string
		want bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a", "a/b", true}, {"a", "ab", false},
		{"gen/**", "gen/f", true}, {"gen/**", "gen", true}, {"gen/", "gen/x/y", true}, {"gen/**", "generated/f", false},
		{"*.jar", "*.war", false}, {"*.jar", "a*", true}, {"a*", "b*", false}, {"*.{jar,war}", "*.war", true},
		{"**/x", "a/b/x", true}, {"**/x", "a/b/y", true}, {"**/x", "a/b/y?", false}, {"*/x", "a/b/x", false}, {"a/*/c", "*/b/*", true},
		{"**/x/**", "a/**/b", true}, {`\*`, "*", true}, {`\*`, "a", false}, {`a\[`, "a[[]", true}, {"**/build/libs/**", "sub/build/libs/a.jar", true},
		{"a?c", "a/c", false}, {`*\é`, "*e", true}, {"//x/**", "x", true},
		{"*/?", "*/ab", false}, {"*/[ac]", "*/b", false}, {"*/[ab]", "*/b", true},
	} {
		x, y := compile(t, "", c.x), compile(t, "", c.y)
		if x.Overlaps(y) != c.want || y.Overlaps(x) != c.want {
			t.Errorf("%q and %q: overlap %v, want %v", c.x, c.y, x.Overlaps(y), c.want)
		}
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct {
		x, y []string
		want string
	}{
		{[]string{"a"}, []string{"b", "a"}, "a"},
		{[]string{"a"}, []string{"a/b"}, "a/b"},
		{[]string{"a/b"}, []string{"a"}, "a/b"},
		{[]string{"a", "!a/b"}, []string{"a/b"}, ""},
		{[]string{"a/"}, []string{"a/b"}, ""},
		{[]string{"a/**"}, []string{"a/b"}, ""},
	} {
		if got, ok := compile(t, "", c.x...).Shared(compile(t, "", c.y...)); got != c.want || ok != (c.want != "") {
			t.Errorf("%q and %q share %q %v, want %q", c.x, c.y, got, ok, c.want)
		}
	}
}

// Where two sets mean the same path among all short ones, they overlap.
func TestOverlapsMissesNothing(t *testing.T) {
	names := []string{"a", "b", "ab", "ba", "*", "[a]", "a]"}
	var paths []string
	for _, x := range names {
		paths = append(paths, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y)
			for _, z := range names {
				paths = append(paths, x+"/"+y+"/"+z)
			}
		}
	}
	part := rapid.SampledFrom([]string{"a", "b", "ab", "*", "**", "?", "a*", "*b", "[ab]", "[!a]", `\*`, `a\]`, "{a,b}", "{a,b/a}", "*a*", `*\b`, "[[]a]", "a?"})
	globs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		text := ""
		for i, p := range rapid.SliceOfN(part, 1, 3).Draw(t, "parts") {
			if i > 0 {
				text += "/"
			}
			text += p
		}
		return text + rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "end")
	}), 1, 2)
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		gx, gy := globs.Draw(t, "x"), globs.Draw(t, "y")
		x, xerr := Compile("", gx)
		y, yerr := Compile("", gy)
		if xerr != nil || yerr != nil {
			t.Skip("no globs")
		}
		for _, p := range paths {
			if x.Match(p) && y.Match(p) {
				met++
				if !x.Overlaps(y) || !y.Overlaps(x) {
					t.Fatalf("%q and %q both mean %q", gx, gy, p)
				}
				return
			}
		}
	})
	if met == 0 {
		t.Error("no two sets ever met")
	}
}
