package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// git runs a command in dir without the user's configuration.
func git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(outside(os.Environ()), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t", "GIT_ALLOW_PROTOCOL=file")
	var said strings.Builder
	cmd.Stderr = &said // git writes hints there, even where it succeeds
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("git %v: %v\n%s%s", args, err, out, said.String())
	}
	return string(out)
}

func newRepo(tb testing.TB, args ...string) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	git(tb, dir, append([]string{"init", "-q"}, args...)...)
	return dir
}

func write(tb testing.TB, dir string, names ...string) {
	tb.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

func open(tb testing.TB, dir string) *Repo {
	tb.Helper()
	r, err := Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	if r == nil {
		tb.Fatalf("Open(%q): no repository", dir)
	}
	return r
}

func list(f *Files) []string {
	var all []string
	for i := range f.Len() {
		all = append(all, f.Path(i))
	}
	return all
}

func lsFiles(tb testing.TB, dir string) []string {
	out := strings.TrimSuffix(git(tb, dir, "ls-files", "-z"), "\x00")
	if out == "" {
		return nil
	}
	return slices.Compact(strings.Split(out, "\x00"))
}

var someNames = []string{"a", "a.b/c", "a-b", "ab", "d/e/f.txt", "d/e.f", "d/new\nline", "d/\xff\xfe", "é", strings.Repeat("long/", 60) + "x"}

// TestTracked reads each form of index that git writes.
func TestTracked(t *testing.T) {
	needGit(t)
	forms := map[string]func(t *testing.T) string{
		"version 2": func(t *testing.T) string {
			dir := newRepo(t)
			write(t, dir, someNames...)
			git(t, dir, "add", ".")
			return dir
		},
		"version 3": func(t *testing.T) string {
			dir := newRepo(t)
			write(t, dir, someNames...)
			git(t, dir, "add", "-N", "d")
			git(t, dir, "add", "a", "ab")
			return dir
		},
		"version 4": func(t *testing.T) string {
			dir := newRepo(t)
			write(t, dir, someNames...)
			git(t, dir, "add", ".")
			git(t, dir, "update-index", "--index-version=4", "--untracked-cache")
			return dir
		},
		"version 4, several blocks": func(t *testing.T) string {
			dir := newRepo(t)
			for i := range 300 {
				write(t, dir, "dir/"+strings.Repeat("n", i%7)+string(rune('a'+i%26))+"/f"+strings.Repeat("x", i%200))
			}
			git(t, dir, "-c", "index.threads=4", "-c", "index.version=4", "add", ".")
			return dir
		},
		"sha256": func(t *testing.T) string {
			dir := newRepo(t, "--object-format=sha256")
			write(t, dir, someNames...)
			git(t, dir, "add", ".")
			return dir
		},
		"none": func(t *testing.T) string { return newRepo(t) },
		"unmerged": func(t *testing.T) string {
			dir := newRepo(t)
			write(t, dir, "a", "b")
			git(t, dir, "add", ".")
			blob := strings.TrimSpace(git(t, dir, "hash-object", "-w", "a"))
			git(t, dir, "update-index", "--force-remove", "a")
			cmd := exec.Command("git", "-C", dir, "update-index", "--index-info")
			cmd.Stdin = strings.NewReader("100644 " + blob + " 1\ta\n100644 " + blob + " 2\ta\n100644 " + blob + " 3\ta\n")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return dir
		},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			dir := form(t)
			f, err := open(t, dir).Tracked()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(lsFiles(t, dir), list(f)); diff != "" {
				t.Errorf("git ls-files and Tracked differ (-git +ours):\n%s", diff)
			}
		})
	}
}

func ask(t *testing.T, r *Repo) *Files {
	t.Helper()
	out, err := r.AskTracked(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParseTracked(out)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestForeign asks git for an index that only git can read.
func TestForeign(t *testing.T) {
	needGit(t)
	split := newRepo(t)
	write(t, split, someNames...)
	git(t, split, "add", ".")
	git(t, split, "update-index", "--split-index")

	sparse := newRepo(t)
	write(t, sparse, "in/a", "out/b/c", "top")
	git(t, sparse, "add", ".")
	git(t, sparse, "commit", "-qm", "one")
	git(t, sparse, "sparse-checkout", "init", "--cone", "--sparse-index")
	git(t, sparse, "sparse-checkout", "set", "in")

	for _, dir := range []string{split, sparse} {
		r := open(t, dir)
		if _, err := r.Tracked(); !errors.Is(err, ErrUnread) {
			t.Errorf("Tracked: %v, want ErrUnread", err)
		}
		f := ask(t, r)
		if diff := cmp.Diff(lsFiles(t, dir), list(f)); diff != "" {
			t.Errorf("git ls-files and AskTracked differ (-git +ours):\n%s", diff)
		}
	}
}

func TestAskIgnoresTheEnvironment(t *testing.T) {
	needGit(t)
	dir, other := newRepo(t), newRepo(t)
	write(t, dir, "mine")
	git(t, dir, "add", ".")
	write(t, other, "other")
	git(t, other, "add", ".")
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, ".git", "index"))
	if f := ask(t, open(t, dir)); f.Len() != 1 || !f.Has("mine") {
		t.Errorf("AskTracked = %q", list(f))
	}
	var failed *Error
	if _, err := open(t, dir).run(context.Background(), queries{}.commit(), []string{"no-such"}); !errors.As(err, &failed) {
		t.Errorf("run: %v, want *Error", err)
	}
}

func TestFiles(t *testing.T) {
	var text []byte
	var at []span
	for _, name := range []string{"b/c", "a", "b.d", "b/sub", "b/c", "b-e", "b/a/x"} {
		at = append(at, span{off: uint32(len(text)), len: uint32(len(name)), link: name == "b/sub"})
		text = append(text, name...)
	}
	f := sorted(text, at)
	if diff := cmp.Diff([]string{"a", "b-e", "b.d", "b/a/x", "b/c", "b/sub"}, list(f)); diff != "" {
		t.Error(diff)
	}
	if !f.Has("a") || f.Has("b") || f.Has("b/sub") || !f.HasLink("b/sub") || !f.HasIn("b") || !f.HasIn("b/a") || f.HasIn("a") || f.HasIn("b/c") {
		t.Error("Has, HasLink or HasIn is wrong")
	}
	b := f.Below("b")
	if diff := cmp.Diff([]string{"a/x", "c", "sub"}, list(b)); diff != "" {
		t.Error(diff)
	}
	if !b.Has("c") || b.Has("b/c") || !b.HasIn("a") || !b.HasLink("sub") || b.Below("a").Path(0) != "x" {
		t.Error("Below is wrong")
	}
	var none *Files
	if none.Has("a") || none.HasIn("a") || none.Below("a").Len() != 0 {
		t.Error("nil Files has something")
	}
}

func TestOpen(t *testing.T) {
	needGit(t)
	main := newRepo(t)
	write(t, main, "a", "deep/er/b")
	git(t, main, "add", ".")
	git(t, main, "commit", "-qm", "one")
	outer := t.TempDir()
	outer, _ = filepath.EvalSymlinks(outer)
	linked := filepath.Join(outer, "linked")
	git(t, main, "worktree", "add", "-q", "--detach", linked)
	link := filepath.Join(outer, "link")
	if err := os.Symlink(filepath.Join(main, "deep"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(main, "deep", ".git"), 0o755); err != nil {
		t.Fatal(err) // an empty .git is no repository
	}
	for _, c := range []struct{ dir, top, prefix string }{
		{main, main, ""},
		{filepath.Join(main, "deep", "er"), main, "deep/er"},
		{filepath.Join(linked, "deep"), linked, "deep"},
		{link, main, "deep"},
	} {
		r := open(t, c.dir)
		prefix, err := r.Prefix(c.dir)
		if r.TopLevel() != c.top || prefix != c.prefix || err != nil {
			t.Errorf("Open(%q): top %q, prefix %q, %v; want %q, %q", c.dir, r.TopLevel(), prefix, err, c.top, c.prefix)
		}
		for what, file := range map[string]string{"index": r.IndexFile(), "info/exclude": r.ExcludeFile()} {
			want := strings.TrimSpace(git(t, c.dir, "rev-parse", "--path-format=absolute", "--git-path", what))
			if file != want {
				t.Errorf("%s of %q: %q, want %q", what, c.dir, file, want)
			}
		}
		if f, err := r.Tracked(); err != nil || !f.Has("a") || f.Len() != 2 {
			t.Errorf("Tracked in %q = %q, %v", c.dir, list(f), err)
		}
	}
	if r, err := Open(outer); r != nil || err != nil {
		t.Errorf("Open outside = %v, %v", r, err)
	}
	if _, err := open(t, main).Prefix(outer); err == nil {
		t.Error("Prefix of a directory outside: no error")
	}
	write(t, outer, "bad/.git")
	if _, err := Open(filepath.Join(outer, "bad")); err == nil {
		t.Error("a .git file that leads nowhere: no error")
	}
}

func TestSubmodule(t *testing.T) {
	needGit(t)
	lib, top := newRepo(t), newRepo(t)
	write(t, lib, "x")
	git(t, lib, "add", ".")
	git(t, lib, "commit", "-qm", "one")
	git(t, top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "libs/one")
	f, err := open(t, top).Tracked()
	if err != nil || !f.HasLink("libs/one") || f.Has("libs/one") {
		t.Errorf("Tracked = %q, %v", list(f), err)
	}
	sub := open(t, filepath.Join(top, "libs", "one"))
	if sub.TopLevel() != filepath.Join(top, "libs", "one") {
		t.Errorf("top of the submodule is %q", sub.TopLevel())
	}
	git(t, top, "commit", "-qm", "with a submodule")
	write(t, sub.TopLevel(), "new")
	for _, form := range []string{"--no-split-index", "--split-index"} {
		git(t, top, "update-index", form)
		paths, _, err := open(t, top).Changed(context.Background(), "HEAD")
		if err != nil || !slices.Contains(paths, "libs/one/new") {
			t.Errorf("%s: Changed = %q, %v; want what is new in the submodule", form, paths, err)
		}
	}
}

// FuzzIndex feeds the reader foreign bytes.
func FuzzIndex(f *testing.F) {
	needGit(f)
	for _, version := range []string{"2", "4"} {
		dir := newRepo(f)
		write(f, dir, someNames...)
		git(f, dir, "-c", "index.version="+version, "add", ".")
		data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := parseIndex(data, 20)
		if err != nil {
			return
		}
		if all := list(files); !slices.IsSorted(all) || slices.Contains(all, "") {
			t.Errorf("not sorted, or an empty path: %q", all)
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add([]byte("100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\ta\nb\x00160000 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\tsub\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if files, err := ParseTracked(data); err == nil && slices.Contains(list(files), "") {
			t.Errorf("an empty path in %q", list(files))
		}
	})
}

// outside drops the variables that lead git to another repository.
func outside(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
}
