package codeowners

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	tests := []struct {
		text string
		want map[string]string // owners by path, "-" for no rule
	}{
		// The examples of GitHub's documentation.
		{"* @global1 @global2\n", map[string]string{"a": "@global1 @global2", "a/b/c": "@global1 @global2", "/": "@global1 @global2", "a/": "@global1 @global2"}},
		{"*.js @js #inline", map[string]string{"a.js": "@js", "x/y/a.js": "@js", "a.jsx": "-", "a.js/b": "@js", "x/": "-"}},
		{"/build/logs/ @doc", map[string]string{"build/logs/a": "@doc", "build/logs/x/a": "@doc", "build/logs/": "@doc", "x/build/logs/a": "-", "build/logs": "-"}},
		{"docs/* docs@example.com", map[string]string{"docs/a.md": "docs@example.com", "docs/x/a.md": "-", "x/docs/a.md": "-", "docs/": "docs@example.com", "docs/x/": "-"}},
		{"apps/ @o", map[string]string{"apps/a": "@o", "x/apps/y/a": "@o", "apps": "-", "apps/web/": "@o"}},
		{"/docs/ @d", map[string]string{"docs/x/a": "@d", "x/docs/a": "-"}},
		{"/scripts/ @d @o", map[string]string{"scripts/a": "@d @o"}},
		{"**/logs @o", map[string]string{"logs/a": "@o", "build/logs": "@o", "deeply/nested/logs/a/b": "@o", "logsx": "-"}},
		{"/apps/ @o\n/apps/github", map[string]string{"apps/x": "@o", "apps/github": "", "apps/github/a": "", "apps/": "@o", "apps/github/": ""}},
		{"* @a\n/x/ @b", map[string]string{"x/y": "@b", "y": "@a"}}, // the last match counts
		// Others.
		{"/* @top", map[string]string{"a": "@top", "a/b": "-", "/": "@top", "a/": "-"}},
		{"a/**/b @o", map[string]string{"a/b": "@o", "a/x/y/b": "@o", "a/x": "-", "b": "-"}},
		{"a/** @o", map[string]string{"a/b": "@o", "a": "-", "a/x/y": "@o"}},
		{"a/b @o", map[string]string{"a/b": "@o", "a/b/c": "@o", "x/a/b": "-"}},
		{"file\\ one.txt @o\n\\#a @p", map[string]string{"file one.txt": "@o", "#a": "@p"}},
		{"?.go @o", map[string]string{"a.go": "@o", "ab.go": "-"}},
		{"a*b*c @o", map[string]string{"abc": "@o", "axxbyyc": "@o", "axxbyy": "-"}},
		{"\ufeff* @a\r\n", map[string]string{"a": "@a"}},
		// Lines that GitHub skips.
		{"* @a\n!x @b\n[Section] @c\nx[ab] @d\n/y nobody\n# * @e\n/ @f\n\t\n// @g", map[string]string{"x": "@a", "xa": "@a", "y": "@a"}},
		{"", map[string]string{"a": "-"}},
	}
	for _, tt := range tests {
		r, err := Parse([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range tt.want {
			got := "-"
			if rule, err := r.Of(path); err != nil {
				t.Error(err)
			} else if rule != nil {
				got = strings.Join(rule.Owners, " ")
			}
			if got != want {
				t.Errorf("%q: the owners of %s are %q, want %q", tt.text, path, got, want)
			}
		}
	}
}

// TestHuge: a file with too many rules is an error, and one with costly patterns stops soon and for good.
func TestHuge(t *testing.T) {
	if _, err := Parse([]byte(strings.Repeat("a @b\n", maxRules+1))); err == nil {
		t.Error("too many rules are no error")
	}
	line := strings.Repeat("a*", 60) + "b @o\n"
	r, err := Parse([]byte(strings.Repeat(line, maxRules)))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for range 1000 {
		if _, err = r.Of(strings.Repeat(strings.Repeat("a", 250)+"/", 15)); !errors.Is(err, ErrCostly) {
			t.Fatalf("got %v, want %v", err, ErrCostly)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("1000 refusals took %v", took)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"* @a\n/x/ @b", "docs/*  a@b.c # x", "a\\ b\\", "**/**/x** @o", "/\n//\n/** @o", "\\", "a/\\* @o"} {
		f.Add([]byte(text), "docs/a b/x")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		r, err := Parse(text)
		if err != nil {
			return
		}
		rule, err := r.Of(path)
		if err != nil {
			return
		}
		if rule != nil && (rule.Line < 1 || rule.Pattern == "") {
			t.Errorf("the rule %v of %q has no place", rule, path)
		}
	})
}
