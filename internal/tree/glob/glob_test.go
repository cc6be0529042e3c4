package glob

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func compile(tb testing.TB, base string, globs ...string) *Set {
	tb.Helper()
	s, err := Compile(base, globs)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		base  string
		globs string // space separated
		yes   string
		no    string
	}{
		{"", "**", "a a/b .x", ""},
		{"", ".", "a a/b", ""},
		{"d", ".", "d/a", "a e/a"},
		{"d", "./x/./y", "d/x/y d/x/y/z", "d/x x/y"},
		{"d", "src", "d/src d/src/a/b", "src d/srcs d/a/src"},
		{"d", "src/", "d/src/a d/src/a/b", "d/srcs/a"},
		{"d", "*", "d/a d/.x", "d d/a/b"},
		{"d", "*.go", "d/a.go d/.go", "d/a/b.go a.go d/a.gox"},
		{"d", "**/*.go", "d/a.go d/x/y/b.go d/.go", "a.go d/a.gox d/go"},
		{"d", "**/x", "d/x d/a/x", "d/ax d/x/b x"},
		{"d", "a/**/b", "d/a/b d/a/x/y/b", "d/a/bb d/ab"},
		{"d", "a/**", "d/a d/a/b d/a/b/c", "d/ab"},
		{"d", "a*/**", "d/a d/ab d/ab/c", "d/b d/b/a"},
		{"d", "?/*c", "d/a/bc", "d/bc d/a/b/c"},
		{"d", "**/**/b", "d/b d/a/b", "b"},
		{"d", "**/a/*", "d/a/b d/x/a/b", "d/a/b/c"},
		{"d", "{a,b/**}/*.{go,c}", "d/a/x.go d/b/x.c d/b/y/z.go", "d/c/x.go d/a/y/x.go"},
		{"d", "{//t.json,u.json}", "t.json d/u.json", "d/t.json u.json"},
		{"d", "//go.work //lib/*.c", "go.work lib/a.c", "d/go.work d/lib/a.c"},
		{"d/e", "** !gen !**/*_test.go gen/keep", "d/e/a d/e/gen/keep d/e/gen/keep/x", "d/e/gen/x d/e/a_test.go d/a"},
		{"", "!a **", "a b", ""},
		{"", "!a", "", "a b"},
		{"", `\*.go \!x a\{b`, "*.go !x a{b", "a.go x ab"},
		{"a[b", "*.go", "a[b/x.go", "ab/x.go"},
		{"", "[ab]/[!c]?", "a/xy b/aa", "a/cy c/xy a/x a/x/y"},
		{"", "a?c", "abc aéc", "a/c ac"},
		{"", "**/.env", ".env a/.env", "a.env"},
		{"", "**/*/x", "a/x a/b/x", "x"},
	} {
		s := compile(t, c.base, strings.Fields(c.globs)...)
		for _, p := range strings.Fields(c.yes) {
			if !s.Match(p) {
				t.Errorf("%q in %q: does not match %q", c.globs, c.base, p)
			}
			for dir := filepath.Dir(p); dir != "."; dir = filepath.Dir(dir) {
				if !s.Enters(dir) {
					t.Errorf("%q in %q: matches %q but does not enter %q", c.globs, c.base, p, dir)
				}
			}
		}
		for _, p := range strings.Fields(c.no) {
			if s.Match(p) {
				t.Errorf("%q in %q: matches %q", c.globs, c.base, p)
			}
		}
	}
}

func TestBadGlobs(t *testing.T) {
	bad := []string{
		"", "!", "/abs", "///abs", "..", "a/../b", "{a,..}/b", `\.\./x`, "a[", "a{b", `a\`, `a\/b`, ".git", "!.git/x", "sub/.git/HEAD", "//.bento/index",
		strings.Repeat("{a,b}", 9), strings.Repeat("a", 4097), "a\x00b", "{a,{b,c}", "[]", "\xff", "[a/b]",
	}
	_, err := Compile("", append([]string{"fine"}, bad...))
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("Compile: %v, want a list", err)
	}
	var got []string
	for i, e := range list.Unwrap() {
		var ge *Error
		reserved := strings.Contains(bad[i], ".git") || strings.Contains(bad[i], ".bento")
		if !errors.As(e, &ge) || ge.Index != i+1 || ge.Reason == "" || (ge.Hint != "") != reserved {
			t.Fatalf("error %d is %#v", i, e)
		}
		got = append(got, ge.Glob)
	}
	if diff := cmp.Diff(bad, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPlainAndUnmatched(t *testing.T) {
	s := compile(t, "d", "dist", "*.jar", "!x", "//top/", "gen/a")
	plain := []string{}
	for i := range 5 {
		if p, ok := s.Plain(i); ok {
			plain = append(plain, p)
		}
	}
	if diff := cmp.Diff([]string{"d/dist", "d/gen/a"}, plain); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 4}, s.Unmatched(slices.Values([]string{"d/dist/x", "top/y"}))); diff != "" {
		t.Error(diff)
	}
}

// TestGlobBombs checks that no glob is expensive.
func TestGlobBombs(t *testing.T) {
	start := time.Now()
	deep := strings.Repeat("a/", 1000) + "b"
	for _, glob := range []string{
		strings.Repeat("**/", 1000) + "x",
		strings.Repeat("**/a/", 500) + "x",
		strings.Repeat("*a", 1000) + "x",
		"**/" + strings.Repeat("*a", 1000) + "x",
		strings.Repeat("{a,b}", 8) + strings.Repeat("{", 1000) + strings.Repeat("}", 1000),
		strings.Repeat("{", 2000) + strings.Repeat("}", 2000),
		strings.Repeat("{a,b}", 800),
		strings.Repeat("{**/,a}", 8) + "x",
	} {
		s, err := Compile("", []string{glob})
		if err != nil {
			continue
		}
		s.Match(deep)
		s.Match(strings.Repeat("a", 4000))
		s.Enters(deep)
	}
	if d := time.Since(start); d > 2*time.Minute {
		t.Errorf("took %v", d)
	}
}

// naive is the plainest implementation of a glob: it tries the components of the pattern in every
// way.
func naive(pattern, path string) bool {
	if from := strings.IndexByte(pattern, '{'); from >= 0 {
		for _, choice := range strings.Split(pattern[from+1:strings.IndexByte(pattern, '}')], ",") {
			if naive(pattern[:from]+choice+pattern[strings.IndexByte(pattern, '}')+1:], path) {
				return true
			}
		}
		return false
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	pattern = strings.Join(slices.DeleteFunc(strings.Split(pattern, "/"), func(p string) bool { return p == "" || p == "." }), "/")
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == "" || path == pattern || strings.HasPrefix(path, pattern+"/")
	}
	return naiveParts(strings.Split(pattern, "/"), strings.Split(path, "/"))
}

func naiveParts(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] == "**":
		return naiveParts(pattern[1:], path) || len(path) > 0 && naiveParts(pattern, path[1:])
	}
	return len(path) > 0 && naivePart(pattern[0], path[0]) && naiveParts(pattern[1:], path[1:])
}

func naivePart(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	if pattern[0] == '*' {
		return naivePart(pattern[1:], name) || name != "" && naivePart(pattern, name[1:])
	}
	if name == "" {
		return false
	}
	if pattern[0] == '[' {
		end := strings.IndexByte(pattern, ']')
		class, not := strings.CutPrefix(pattern[1:end], "!")
		return strings.Contains(class, name[:1]) != not && naivePart(pattern[end+1:], name[1:])
	}
	return (pattern[0] == '?' || pattern[0] == name[0]) && naivePart(pattern[1:], name[1:])
}

// TestMatchAgainstNaive compares Match, and the pruning of walks, with the naive
// matcher.
func TestMatchAgainstNaive(t *testing.T) {
	token := rapid.SampledFrom([]string{"a", "b", ".", "*", "?", "**", "/", "/", "/", "[ab]", "[!a]", "{a,b}", "{a/b,*}", "{,a}", "ab", "*.a"})
	name := rapid.StringMatching(`[ab.]{1,3}(/[ab.]{1,3}){0,3}`).Filter(func(p string) bool { return filepath.Clean("/"+p) == "/"+p })
	rapid.Check(t, func(rt *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(token, 1, 7).Draw(rt, "pattern"), "")
		s, err := Compile("", []string{pattern})
		if err != nil {
			rt.Skip(err)
		}
		for _, p := range rapid.SliceOfN(name, 1, 10).Draw(rt, "paths") {
			want := naive(pattern, p)
			if got := s.Match(p); got != want {
				rt.Fatalf("%q matches %q: %v, naive says %v", pattern, p, got, want)
			}
			for dir := filepath.Dir(p); want && dir != "."; dir = filepath.Dir(dir) {
				if !s.Enters(dir) {
					rt.Fatalf("%q matches %q but %q is not entered", pattern, p, dir)
				}
			}
			if want && !slices.ContainsFunc(s.Roots(), func(r string) bool { return Inside(p, r) }) {
				rt.Fatalf("%q matches %q, which is in none of %q", pattern, p, s.Roots())
			}
		}
	})
}

// TestSetAgainstNaive checks that the last glob that matches decides.
func TestSetAgainstNaive(t *testing.T) {
	glob := rapid.SampledFrom([]string{"a", "a/b", "**", "*.a", "**/b", "a/**", "*/b", "**/*.a", "{a,b}/*", "b/"})
	name := rapid.StringMatching(`(a|b|ab|x\.a)(/(a|b|x\.a)){0,2}`)
	rapid.Check(t, func(rt *rapid.T) {
		type one struct {
			Not  bool
			Glob string
		}
		var globs []string
		list := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) one { return one{rapid.Bool().Draw(rt, "not"), glob.Draw(rt, "glob")} }), 1, 5).Draw(rt, "globs")
		for _, g := range list {
			globs = append(globs, map[bool]string{true: "!"}[g.Not]+g.Glob)
		}
		s := compile(t, "", globs...)
		p := name.Draw(rt, "path")
		want := false
		for _, g := range list {
			if naive(g.Glob, p) {
				want = !g.Not
			}
		}
		if got := s.Match(p); got != want {
			rt.Fatalf("%q matches %q: %v, want %v", globs, p, got, want)
		}
	})
}

// FuzzGlob checks, for any bytes, that a glob is refused or matches the same paths as with
// doublestar.
func FuzzGlob(f *testing.F) {
	for _, p := range []string{"a/**/b", "{a,b}*", "[a-c]/?", `\{x`, "**/*.go", "a{b,{c,d}}", "[{]", "{[,]}", "a**b", "*.*", "\xff*", "}", "]"} {
		f.Add(p, "a/x/b.go")
		f.Add(p, "\xffa")
	}
	f.Add("{{0}*/}", "0")
	f.Add("[!0[]", "0")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		s, err := Compile("", []string{pattern})
		if err != nil || path == "" || filepath.Clean("/"+path) != "/"+path || len(path) > 200 || len(pattern) > 200 {
			t.Skip("refused")
		}
		if strings.Contains(pattern, "\uFFFD") || strings.Contains(pattern, "*/**") || strings.Contains(pattern, "***") {
			t.Skip("doublestar is wrong about these")
		}
		got := s.Match(path)
		for i := range s.globs[0].list {
			a := &s.globs[0].list[i]
			whole := escape(a.Prefix)
			if a.shape != plain && whole != "" {
				whole += "/"
			}
			if a.shape == plain {
				whole = strings.TrimPrefix(whole+"/**", "/")
			}
			if strings.Contains(whole+a.Rest, "*/**") {
				continue // even if the pattern has "*/"
			}
			// Its error is not asked for: "[!0[]" is valid, and not when "0" does not match it.
			if want, _ := doublestar.Match(whole+a.Rest, path); want != a.match(path) {
				t.Errorf("%q, part %q of it, and %q: %v; doublestar says %v", pattern, whole+a.Rest, path, a.match(path), want)
			}
		}
		if strings.ContainsAny(pattern, `!/\`) || strings.Contains(pattern, "..") || pattern == "." {
			return // doublestar does not know this syntax
		}
		if _, isPlain := s.Plain(0); isPlain || strings.ContainsAny(pattern, "{") {
			return
		}
		if want, _ := doublestar.Match(pattern, path); got != want {
			t.Errorf("%q and %q: %v; doublestar says %v", pattern, path, got, want)
		}
	})
}

func escape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if strings.IndexByte(`*?[]{}\!^-,`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// TestManyGlobs checks that a long list matches like its globs one by one, and that its roots are the
// shortest list of paths that contain all matches.
func TestManyGlobs(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "a-b", "a/b", "a/b/c", "b", "b/*", "a/**/c", "c/", "./a", "a b/c", "{x,a}/y", "d\\*"})
	rapid.Check(t, func(rt *rapid.T) {
		base := rapid.SampledFrom([]string{"", "a", "a/b"}).Draw(rt, "base")
		globs := rapid.SliceOfN(names, manyPlain, 3*manyPlain).Draw(rt, "globs")
		all, err := Compile(base, globs)
		if err != nil {
			rt.Fatal(err)
		}
		for _, path := range []string{"a", "a-b", "a/b", "a/b/c", "a/b/c/a", "a/a", "b/x", "c/x/y", "c", "a b/c", "a/y", "x/y/z", "d*", "a/b/b/x"} {
			want := false
			for _, g := range globs {
				one, err := Compile(base, []string{g})
				if err != nil {
					rt.Fatal(err)
				}
				want = want || one.Match(path)
			}
			if got := all.Match(path); got != want {
				rt.Fatalf("%q in %q matches %q: %v", globs, base, path, got)
			}
		}
		for p := range all.Patterns() {
			if n := len(slices.DeleteFunc(slices.Clone(all.Roots()), func(r string) bool { return !Inside(p.Prefix, r) })); n != 1 {
				rt.Fatalf("%q lies in %d of the roots %q", p.Prefix, n, all.Roots())
			}
		}
	})
}

// TestAround: a path that matches is in a root, or beside the dish with a name, or a pattern is deep.
func TestAround(t *testing.T) {
	t.Parallel()
	for globs, want := range map[string]string{
		"dist/** app *.o": "roots [d/app d/dist], names [d/*.o], deep false",
		"out out/x":       "roots [d/out], names [], deep false",
		"//*.log":         "roots [], names [*.log], deep false",
		"//other/*":       "roots [other], names [], deep false",
		"**/*.o":          "roots [], names [], deep true",
		"*/x":             "roots [], names [], deep true",
		"**":              "roots [], names [], deep true",
		".":               "roots [], names [], deep true",
		"* !a":            "roots [], names [d/*], deep false",
	} {
		s, err := Compile("d", strings.Fields(globs))
		if err != nil {
			t.Fatal(err)
		}
		roots, names, deep := s.Around("d")
		texts := []string{}
		for _, p := range names {
			texts = append(texts, strings.TrimPrefix(p.Prefix+"/"+p.Rest, "/"))
		}
		if got := fmt.Sprintf("roots %v, names %v, deep %t", roots, texts, deep != nil); got != want {
			t.Errorf("%s: %s, want %s", globs, got, want)
		}
	}
}
