package tree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/tree/disk"
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

// runGit runs a command in dir without the user's configuration.
func runGit(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.excludesFile=/dev/null", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+os.TempDir(),
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func tempDir(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// newRepo makes an empty repository without starting git.
func newRepo(tb testing.TB) string {
	tb.Helper()
	dir := tempDir(tb)
	makeRepo(tb, dir)
	return dir
}

func makeRepo(tb testing.TB, dir string) {
	tb.Helper()
	for _, sub := range []string{"objects", "refs", "info"} {
		mkdir(tb, dir, ".git/"+sub)
	}
	write(tb, dir, ".git/HEAD", "ref: refs/heads/main\n")
	write(tb, dir, ".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
}

func mkdir(tb testing.TB, dir, name string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		tb.Fatal(err)
	}
}

func write(tb testing.TB, dir, name, text string) {
	tb.Helper()
	path := filepath.Join(dir, name)
	mkdir(tb, dir, filepath.Dir(name))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func symlink(tb testing.TB, dir, name, target string) {
	tb.Helper()
	mkdir(tb, dir, filepath.Dir(name))
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		tb.Fatal(err)
	}
}

func walk(tb testing.TB, root string) *Tree {
	tb.Helper()
	t, err := Walk(context.Background(), root, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func paths(entries []Entry) []string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Path)
	}
	return list
}

func TestWalk(t *testing.T) {
	dir := tempDir(t)
	for _, name := range []string{"a/b", "a.txt", "a-b/x", "a/c/d", "ab", "new\nline", "\xff\xfe", "a/.hidden", "z/build/y", ".bento/index", "sub/.bento/x", "sub/.git/HEAD", "é"} {
		write(t, dir, name, name)
	}
	symlink(t, dir, "a/loop", "..")
	symlink(t, dir, "dangling", "nowhere")
	mkdir(t, dir, "empty/dir")
	tr := walk(t, dir)
	want := []string{"\xff\xfe", "a-b/x", "a.txt", "a/.hidden", "a/b", "a/c/d", "a/loop", "ab", "dangling", "new\nline", "sub/.bento/x", "z/build/y", "é"}
	slices.Sort(want)
	if diff := cmp.Diff(want, paths(tr.Entries())); diff != "" {
		t.Errorf("Entries (-want +got):\n%s", diff)
	}
	wantDirs := []string{"", "a", "a-b", "a/c", "empty", "empty/dir", "sub", "sub/.bento", "z", "z/build"}
	if diff := cmp.Diff(wantDirs, tr.Dirs()); diff != "" {
		t.Errorf("Dirs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/.hidden", "a/b", "a/c/d", "a/loop"}, paths(tr.Under("a"))); diff != "" {
		t.Errorf("Under(a) (-want +got):\n%s", diff)
	}
	if len(tr.Under(".")) != len(want) || tr.Under("a.txt") != nil || tr.Under("a/x") != nil || len(tr.Under("empty")) != 0 {
		t.Error("Under is wrong")
	}
	for _, p := range want {
		e, ok := tr.Lookup(p)
		ref, err := Stat(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		if !ok || !e.Same(&ref) {
			t.Errorf("Lookup(%q) = %+v, %v; lstat says %+v", p, e, ok, ref)
		}
	}
	for _, p := range []string{"", "a", "a/", "nope", "a/nope", "a.txt/x"} {
		if _, ok := tr.Lookup(p); ok {
			t.Errorf("Lookup(%q) found something", p)
		}
	}
	if p := tr.Problems(); len(p) > 0 {
		t.Errorf("Problems: %v", p)
	}
}

func TestSorted(t *testing.T) {
	dir := tempDir(t)
	for i := range 300 {
		write(t, dir, fmt.Sprintf("%c/%c.d/%d", 'a'+i%7, 'a'+i%5, i), "")
		write(t, dir, fmt.Sprintf("%c/%d", 'a'+i%7, i), "")
	}
	tr := walk(t, dir)
	if !slices.IsSorted(paths(tr.Entries())) {
		t.Error("not sorted")
	}
	for _, e := range tr.Entries() {
		if got, ok := tr.Lookup(e.Path); !ok || !got.Same(&e) {
			t.Fatalf("%q: Lookup gives %v, %v", e.Path, got, ok)
		}
	}
}

func TestNoSuchRoot(t *testing.T) {
	if _, err := Walk(context.Background(), filepath.Join(t.TempDir(), "no"), nil); !os.IsNotExist(err) {
		t.Errorf("Walk: %v, want one that says it does not exist", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Walk(ctx, t.TempDir(), nil); err != context.Canceled {
		t.Errorf("Walk: %v, want canceled", err)
	}
}

// TestLongPath walks to paths that are too long for one system call.
func TestLongPath(t *testing.T) {
	dir := tempDir(t)
	old, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chdir(old) }()
	if err := os.Chdir(dir); err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("n", 250)
	for range 40 {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chdir(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("f", []byte("deep"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(".gitignore", []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tr := walk(t, dir)
	want := strings.Repeat(name+"/", 40) + "f"
	if e, ok := tr.Lookup(want); !ok || e.Size != 4 || len(tr.Problems()) > 0 {
		t.Errorf("Lookup of a path of %d bytes: %v; %v", len(want), ok, tr.Problems())
	}
}

func TestManyFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 20,000 files")
	}
	dir := tempDir(t)
	const n = 20_000
	for i := range n {
		f, err := os.Create(fmt.Sprintf("%s/%05d", dir, i*7919%n))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	tr := walk(t, dir)
	if all := tr.Entries(); len(all) != n || all[0].Path != "00000" || all[n-1].Path != "19999" {
		t.Errorf("%d entries", len(all))
	}
}

// TestAgainstGit makes random repositories, with nested ignore files, tracked files
// that would be ignored, and workspaces below the top level, and compares with
// what git lists as tracked or not ignored.
func TestAgainstGit(t *testing.T) {
	needGit(t)
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "a.go", "build", "x y", "dist", "é"}
	rules := []string{"a", "/a", "a/", "*.go", "!a.go", "a/b", "a/**", "**/b/", "*", "!*/", "/*", "build/", "!build/", "dist", "b/*", "!b", "/dist/a", "**/a.go"}
	for round := range 40 {
		dir := newRepo(t)
		text := func() string {
			var b strings.Builder
			for range 1 + r.IntN(3) {
				b.WriteString(rules[r.IntN(len(rules))] + "\n")
			}
			return b.String()
		}
		var files []string
		for range 40 {
			var parts []string
			for range 1 + r.IntN(4) {
				parts = append(parts, names[r.IntN(len(names))])
			}
			name := strings.Join(parts, "/")
			if os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755) != nil {
				continue
			}
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				continue
			}
			write(t, dir, name, "")
			files = append(files, name)
			if r.IntN(8) == 0 {
				write(t, dir, filepath.Join(filepath.Dir(name), ".gitignore"), text())
			}
		}
		write(t, dir, ".git/info/exclude", []string{"", "b\n", "/a/build\n"}[r.IntN(3)])
		if r.IntN(3) > 0 {
			for range 4 {
				runGit(t, dir, "add", "-f", "--", files[r.IntN(len(files))])
			}
		}
		for _, sub := range []string{"", "a", "a/b", "build"} {
			compareWithGit(t, dir, sub, round)
		}
	}
}

func compareWithGit(t *testing.T, top, sub string, round int) {
	t.Helper()
	root := filepath.Join(top, sub)
	if fi, err := os.Stat(root); err != nil || !fi.IsDir() {
		return
	}
	whole := walk(t, top)
	if sub != "" && whole.Ignored(sub, true) || slices.Contains(ignoredAbove(whole, sub), true) {
		return // git ignores all of it, which is impossible for a workspace
	}
	out := runGit(t, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	var want []string
	for _, p := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		if p != "" {
			want = append(want, p)
		}
	}
	slices.Sort(want)
	tr := walk(t, root)
	if diff := cmp.Diff(slices.Compact(want), paths(tr.Entries())); diff != "" {
		t.Errorf("round %d, root %q: git and Walk differ (-git +ours):\n%s", round, sub, diff)
	}
	for _, p := range want {
		if tr.Ignored(p, false) {
			t.Errorf("round %d, root %q: Ignored(%q) of a file that is there", round, sub, p)
		}
	}
	for _, d := range tr.Dirs() {
		if tr.Ignored(d, true) {
			t.Errorf("round %d, root %q: Ignored(%q) of a directory that was walked", round, sub, d)
		}
	}
	checkIgnored(t, tr, root)
}

// checkIgnored checks all paths on disk: a path that is not in the tree is ignored.
func checkIgnored(t *testing.T, tr *Tree, root string) {
	t.Helper()
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		if d.IsDir() {
			return nil
		}
		if _, ok := tr.Lookup(rel); ok == tr.Ignored(rel, false) {
			t.Errorf("%q: in the tree: %v, ignored: %v", rel, ok, !ok)
		}
		return nil
	})
}

func ignoredAbove(tr *Tree, sub string) (each []bool) {
	for at := range disk.Ends(sub) {
		each = append(each, tr.ruledOut(sub[:at], true))
	}
	return each
}

// TestWorkTrees walks a linked work tree, a submodule and a clone in a directory.
func TestWorkTrees(t *testing.T) {
	needGit(t)
	lib, top := newRepo(t), newRepo(t)
	write(t, lib, "x.go", "")
	write(t, lib, ".gitignore", "*.tmp\n")
	runGit(t, lib, "add", ".")
	runGit(t, lib, "commit", "-qm", "one")
	write(t, top, ".gitignore", "libs\n*.log\n")
	write(t, top, ".git/info/exclude", "*.bak\n")
	runGit(t, top, "submodule", "--quiet", "add", "-f", lib, "libs/one")
	runGit(t, top, "clone", "-q", lib, "cloned")
	write(t, top, "a", "")
	runGit(t, top, "add", "a", ".gitignore")
	runGit(t, top, "commit", "-qm", "one")
	write(t, top, "cloned/b.log", "")
	write(t, top, "cloned/b.tmp", "")
	write(t, top, "cloned/b", "")
	write(t, top, "libs/two/x", "")
	write(t, top, "libs/one/y.tmp", "")
	want := []string{".gitignore", ".gitmodules", "a", "cloned/.gitignore", "cloned/b", "cloned/x.go", "libs/one/.gitignore", "libs/one/x.go"}
	if diff := cmp.Diff(want, paths(walk(t, top).Entries())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	linked := filepath.Join(tempDir(t), "linked")
	runGit(t, top, "worktree", "add", "-q", "--detach", linked)
	write(t, linked, "b.bak", "")
	write(t, linked, "c.log", "")
	tr := walk(t, linked)
	if diff := cmp.Diff([]string{".gitignore", ".gitmodules", "a"}, paths(tr.Entries())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !tr.Tracked("a") || tr.Tracked("b.bak") {
		t.Error("Tracked is wrong in a linked work tree")
	}
}

func TestNoRepository(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, ".gitignore", "out/\n*.o\n")
	write(t, dir, "sub/.gitignore", "!keep.o\n")
	for _, name := range []string{"a.o", "out/x", "sub/keep.o", "sub/a.o", "sub/out"} {
		write(t, dir, name, "")
	}
	tr := walk(t, dir)
	if diff := cmp.Diff([]string{".gitignore", "sub/.gitignore", "sub/keep.o", "sub/out"}, paths(tr.Entries())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for path, want := range map[string]bool{"a.o": true, "out/x/y": true, "sub/keep.o": false, "nope/x.o": true, "nope/x": false, ".git/x": true, "sub/.git": true, ".bento": true, "sub/.bento": false} {
		if tr.Ignored(path, false) != want {
			t.Errorf("Ignored(%q) = %v", path, !want)
		}
	}
}

func TestDamagedGit(t *testing.T) {
	dir := newRepo(t)
	write(t, dir, ".git/index", "garbage")
	write(t, dir, "a", "")
	tr := walk(t, dir)
	if p := tr.Problems(); len(p) != 1 || p[0].Severity != "warning" || len(tr.Entries()) != 1 {
		t.Errorf("Problems = %v, entries %q", p, paths(tr.Entries()))
	}
}

// TestForeignIndex: git is asked about an index that only git can read.
func TestForeignIndex(t *testing.T) {
	needGit(t)
	dir := newRepo(t)
	write(t, dir, ".gitignore", "dist\n")
	write(t, dir, "dist/kept", "")
	runGit(t, dir, "add", "-f", ".gitignore", "dist/kept")
	runGit(t, dir, "update-index", "--split-index")
	want := []string{".gitignore", "dist/kept"}
	if diff := cmp.Diff(want, paths(walkWithState(t, dir).Entries())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	write(t, dir, "dist/other", "")
	runGit(t, dir, "add", "-f", "dist/other")
	want = []string{".gitignore", "dist/kept", "dist/other"}
	if diff := cmp.Diff(want, paths(walkWithState(t, dir).Entries())); diff != "" {
		t.Errorf("what git said of another index is used (-want +got):\n%s", diff)
	}
}
