package ignore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func needGit(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("git"); err == nil {
		return
	}
	if os.Getenv("BENTO_REQUIRE_TOOLS") == "1" {
		tb.Fatal("git is not installed")
	}
	tb.Skip("git is not installed")
}

// newRepo makes an empty repository without starting git.
func newRepo(tb testing.TB) string {
	dir := tb.TempDir()
	for _, sub := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", sub), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	write(tb, dir, ".git/HEAD", "ref: refs/heads/main\n")
	write(tb, dir, ".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
	return dir
}

func write(tb testing.TB, dir, name, text string) {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// askGit returns the set of the paths that git ignores.
func askGit(tb testing.TB, dir string, paths []string) map[string]bool {
	tb.Helper()
	cmd := exec.Command("git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "--stdin", "-z")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00"))
	out, err := cmd.Output()
	if ee, ok := err.(*exec.ExitError); err != nil && (!ok || ee.ExitCode() != 1) {
		tb.Fatalf("git check-ignore: %v", err)
	}
	set := map[string]bool{}
	for _, p := range bytes.Split(out, []byte{0}) {
		set[string(p)] = true
	}
	return set
}

// ignored walks down path as a caller does. rules maps a directory to the text of
// its ignore file.
func ignored(start *Rules, rules map[string]string, path string) bool {
	r := start
	for i := 0; i <= len(path); i++ {
		if i > 0 && i < len(path) && path[i] != '/' {
			continue
		}
		part := path[:i]
		if part != "" && r.Match(part, i < len(path)) == Ignored {
			return true
		}
		if text, ok := rules[part]; ok {
			r = r.With(part, text)
		}
	}
	return false
}

var (
	names = []string{"a", "b", "ab", "a.go", "b.txt", "build", ".env", "x y", "a[b", "A", "é", "a-b", "]", "a\\b", "\xff"}
	pats  = []string{"a", "/a", "a/", "/a/", "*.go", "!a.go", "!b", "a/b", "a/**", "**/a", "**/b/", "a/**/b", "[ab]", "[!a]", "a?", "*",
		"!*/", "/*", "!/a", "build/", "!build/", "b/*", "**", "a\\[b", "x y", "x\\ y", "a ", "#a", "\\#a", "\\!a", ".*", "*/a", "a*b", "**/a.go",
		"a/*/b", "!a/b", "***", "a**b", "[a-", "[]a]", "/**/b", "/", "//", "!", "a//", "a\\", "\\a", "[[:alpha:]]", "[[:alpha:]-z]*", "[[:foo:]]",
		"[[:x]", "[^a-b]*", "[a\\]]", "*a*b", "**a/b", "a/**b", "*/**/b", "**/**/a", "a/**/**/b", "**/", "/**", "a/**/", "?", "??", "*.*", "!*.go",
		"a \\ ", "a\\ ", "a\r", "[\\-a]", "*\\*", "a*/", "/a*/b", "**\\/b", "\xef\xbb\xbfa", "[--0]", "[]-a]", "é", "[é]", "a[b", "*y", "[!a]*/b", "[a-b]/", "[/]", "a[/]b", "?[b]"}
)

// letters are the letters of random patterns.
const letters = "ab*?/[]!-\\. ^y:"

func randomLine(r *rand.Rand) string {
	if r.IntN(3) > 0 {
		return pats[r.IntN(len(pats))]
	}
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return b.String()
}

func randomText(r *rand.Rand) string {
	var lines []string
	for range 1 + r.IntN(4) {
		lines = append(lines, randomLine(r))
	}
	return strings.Join(lines, "\n") + []string{"\n", "", "\r\n"}[r.IntN(3)]
}

func randomPath(r *rand.Rand) string {
	var parts []string
	for range 1 + r.IntN(4) {
		parts = append(parts, names[r.IntN(len(names))])
	}
	return strings.Join(parts, "/")
}

// TestAgainstGit compares some thousand random cases with git itself: nested
// files, .git/info/exclude, directories.
func TestAgainstGit(t *testing.T) {
	needGit(t)
	r := rand.New(rand.NewPCG(1, 2))
	cases, wrong := 0, 0
	for range 8 {
		dir := newRepo(t)
		exclude := randomText(r)
		if r.IntN(3) > 0 {
			exclude = ""
		}
		write(t, dir, ".git/info/exclude", exclude)
		start := (*Rules)(nil).With("", exclude)
		rules := map[string]string{}
		var paths []string
		for c := range 60 {
			top := fmt.Sprintf("c%02d", c)
			rules[top] = randomText(r)
			write(t, dir, top+"/.gitignore", rules[top])
			for range 12 {
				path := top + "/" + randomPath(r)
				if os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755) != nil {
					continue
				}
				if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
					continue
				}
				write(t, dir, path, "")
				paths = append(paths, path)
				if sub := filepath.Dir(path); sub != top && r.IntN(4) == 0 && rules[sub] == "" {
					rules[sub] = randomText(r)
					write(t, dir, sub+"/.gitignore", rules[sub])
				}
			}
		}
		want := askGit(t, dir, paths)
		for _, p := range paths {
			cases++
			if got := ignored(start, rules, p); got != want[p] {
				if wrong++; wrong < 20 {
					t.Errorf("%q: got %v, git says %v; rules %q", p, got, want[p], about(rules, p))
				}
			}
		}
	}
	t.Logf("%d cases, %d wrong", cases, wrong)
}

// Quotes, ranges and spaces at the end have the same meaning as in git.
func TestQuotesAgainstGit(t *testing.T) {
	needGit(t)
	dir := newRepo(t)
	rules := map[string]string{}
	var paths []string
	for i, c := range []struct {
		pattern string
		names   []string
	}{
		{`*a\bc`, []string{"xabc", "xac", "abc"}},
		{`*\a\b\c`, []string{"xabc", "xac"}},
		{`[\a]x`, []string{"ax", "bx"}},
		{`[\a-c]x`, []string{"ax", "bx", "cx", "-x"}},
		{`[a-c-e]x`, []string{"bx", "dx", "ex", "-x"}},
		{`[a-\c]x`, []string{"bx", "dx"}},
		{`x\y  `, []string{"xy", "xy  "}},
		{`x\ \y `, []string{"x y", "x y "}},
		{`x\  `, []string{"x ", "x"}},
		{`x  \`, []string{"x", "x  "}},
	} {
		top := fmt.Sprintf("c%02d", i)
		rules[top] = c.pattern + "\n"
		write(t, dir, top+"/.gitignore", rules[top])
		for _, name := range c.names {
			paths = append(paths, top+"/"+name)
		}
	}
	want := askGit(t, dir, paths)
	for _, p := range paths {
		if got := ignored(nil, rules, p); got != want[p] {
			t.Errorf("%q: got %v, git says %v; rules %q", p, got, want[p], about(rules, p))
		}
	}
}

func about(rules map[string]string, path string) []string {
	var list []string
	for dir, text := range rules {
		if strings.HasPrefix(path, dir+"/") {
			list = append(list, dir+": "+text)
		}
	}
	slices.Sort(list)
	return list
}

func TestAbove(t *testing.T) {
	r := (*Rules)(nil).WithAbove("sub/ws", "../../.gitignore", "/sub/ws/a\n*.log\nws/b\n**/c\n")
	for path, want := range map[string]Verdict{
		"a": Ignored, "x/a": Undecided, "x.log": Ignored, "b": Undecided, "c": Ignored, "x/c": Ignored,
	} {
		if got := r.Match(path, false); got != want {
			t.Errorf("Match(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestNoPatterns(t *testing.T) {
	if r := (*Rules)(nil).With("", "# nothing\n\n  \n"); r != nil {
		t.Errorf("With(no patterns) = %v, want nil", r)
	}
	if v := (*Rules)(nil).Match("a/b", false); v != Undecided {
		t.Errorf("nil rules decide %v", v)
	}
}

func TestHostilePatternIsBounded(t *testing.T) {
	start := time.Now()
	path := strings.Repeat("a/", 200) + "b"
	for _, p := range []string{
		strings.Repeat("**/", 500) + "x",
		strings.Repeat("*a", 500) + "x",
		strings.Repeat("**/*a*/", 50) + "x",
		strings.Repeat("*", 1<<20),
		strings.Repeat("[a", 1<<18),
	} {
		(*Rules)(nil).With("", p+"\nx/"+p).Match(path, false)
		(*Rules)(nil).With("", p).Match(strings.Repeat("a", 4096), false)
	}
	if d := time.Since(start); d > 2*time.Minute {
		t.Errorf("took %v", d)
	}
}

// FuzzAgainstGit lets git judge foreign patterns.
func FuzzAgainstGit(f *testing.F) {
	needGit(f)
	for i, p := range pats {
		f.Add(p, names[i%len(names)]+"/a/b")
	}
	dir := newRepo(f)
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) > 200 || len(path) > 100 || path == "" || strings.ContainsAny(path, "\x00") {
			t.Skip("not a case")
		}
		if filepath.Clean("/"+path) != "/"+path || strings.HasPrefix(path, ".git") || strings.Contains(strings.ToLower(path), ".git") {
			t.Skip("not a path")
		}
		top, err := os.MkdirTemp(dir, "f")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(top)
		base := filepath.Base(top)
		path = base + "/" + path
		write(t, dir, path, "")
		write(t, dir, base+"/.gitignore", text)
		got := ignored(nil, map[string]string{base: text}, path)
		if want := askGit(t, dir, []string{path})[path]; got != want {
			t.Errorf("%q under %q: got %v, git says %v", path, text, got, want)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	r := (*Rules)(nil).With("", "dist/\nnode_modules\n.turbo/\n*.log\n.nx/\n.ninja_*\n/packages/*/gen/**\nplz-out/\n")
	for b.Loop() {
		r.Match("packages/p0001/src/f01.txt", false)
	}
}
