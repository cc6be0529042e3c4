package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// armed returns a repository whose configuration names a program wherever git would
// start one, and a function that lists which of them have run. A command of git may
// come before.
func armed(t *testing.T, before ...string) (dir string, ran func() []string) {
	t.Helper()
	dir = newRepo(t)
	canary := t.TempDir()
	write(t, dir, "a.txt", "b.bin", "c.txt", "same.bin")
	write(t, dir, ".gitattributes")
	attributes := "*.bin filter=evil diff=evil\n*.txt filter=long diff=evil\n"
	if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte(attributes), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	if len(before) > 0 {
		git(t, dir, before...)
	}
	trap := func(name string) string { return fmt.Sprintf("touch '%s/%s'; cat", canary, name) }
	for key, name := range map[string]string{
		"core.fsmonitor": "fsmonitor", "filter.evil.clean": "clean", "filter.evil.smudge": "smudge", "filter.long.process": "process",
		"diff.evil.command": "diff", "diff.evil.textconv": "textconv", "diff.external": "external", "core.pager": "pager",
		"core.sshCommand": "ssh", "core.askPass": "askpass", "gpg.program": "gpg", "credential.helper": "credential",
		"core.alternateRefsCommand": "alternates", "core.editor": "editor", "alias.ls-files": "alias", "alias.diff-index": "alias",
		"pager.ls-files": "pager", "pager.diff-index": "pager",
	} {
		value := trap(name)
		if strings.HasPrefix(key, "alias.") || key == "credential.helper" {
			value = "!" + value
		}
		git(t, dir, "config", key, value)
	}
	git(t, dir, "config", "filter.evil.required", "true")
	git(t, dir, "config", "filter.long.required", "true")
	hooks := filepath.Join(dir, ".git", "my hooks")
	git(t, dir, "config", "core.hooksPath", hooks)
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "query-watchman", "post-checkout"} {
		if err := os.WriteFile(filepath.Join(hooks, hook), []byte("#!/bin/sh\n"+trap("hook "+hook)+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func() []string {
		var names []string
		entries, err := os.ReadDir(canary)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
}

// touch sets another time on files, so that git has to read their content.
func touch(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNothingOfTheRepositoryRuns: no query starts a program of a repository whose configuration names
// one in every possible setting.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	needGit(t)
	ctx := context.Background()
	for _, form := range []string{"--no-split-index", "--split-index"} {
		dir, ran := armed(t, "update-index", form)
		if err := os.WriteFile(filepath.Join(dir, "b.bin"), []byte("B.BIN"), 0o644); err != nil { // of the same length
			t.Fatal(err)
		}
		touch(t, dir, "same.bin", "c.txt")
		write(t, dir, "new")
		r := open(t, dir)
		paths, _, err := r.Changed(ctx, "HEAD")
		if diff := cmp.Diff([]string{"b.bin", "new"}, paths); diff != "" || err != nil {
			t.Errorf("%s: Changed: %v (-want +got):\n%s", form, err, diff)
		}
		if f := ask(t, r); f.Len() != 5 {
			t.Errorf("%s: AskTracked: %q", form, list(f))
		}
		if _, err := r.Shallow(ctx); err != nil {
			t.Error(err)
		}
		if names := ran(); len(names) > 0 {
			t.Errorf("%s: what the repository names was run: %q", form, names)
		}
	}
}

// TestSubmoduleRunsNothing: git starts itself in a submodule that it looks into, and
// that one obeys the submodule's configuration.
func TestSubmoduleRunsNothing(t *testing.T) {
	needGit(t)
	lib, ran := armed(t)
	top := newRepo(t)
	git(t, top, "clone", "-q", lib, "lib")
	config, err := os.ReadFile(filepath.Join(lib, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	git(t, top, "-c", "advice.addEmbeddedRepo=false", "add", "lib")
	git(t, top, "commit", "-qm", "one")
	if err := os.WriteFile(filepath.Join(top, "lib", ".git", "config"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, top, "lib/new")
	touch(t, top, "lib/same.bin")
	if err := os.WriteFile(filepath.Join(top, "lib", "a.txt"), []byte("A.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	paths, _, err := open(t, top).Changed(context.Background(), "HEAD")
	if diff := cmp.Diff([]string{"lib/a.txt", "lib/new"}, paths); diff != "" || err != nil {
		t.Errorf("Changed: %v (-want +got):\n%s", err, diff)
	}
	if names := ran(); len(names) > 0 {
		t.Errorf("what the submodule names was run: %q", names)
	}
}

// TestNothingIsFetched: no missing object of a partial clone is fetched with a program that its
// configuration names.
func TestNothingIsFetched(t *testing.T) {
	needGit(t)
	origin, ran := armed(t)
	git(t, origin, "config", "uploadpack.allowFilter", "true")
	canary := filepath.Join(t.TempDir(), "fetched")
	top := t.TempDir()
	git(t, top, "clone", "-q", "--no-checkout", "--filter=tree:0", "file://"+origin, "c")
	dir := filepath.Join(top, "c")
	git(t, dir, "config", "remote.origin.url", "ext::sh -c touch% '"+canary+"'")
	git(t, dir, "config", "remote.origin.uploadpack", "touch '"+canary+"';")
	git(t, dir, "config", "protocol.ext.allow", "always")
	before := ran()
	if _, _, err := open(t, dir).Changed(context.Background(), "HEAD"); err == nil || !strings.Contains(err.Error(), "partial clone") {
		t.Errorf("Changed of a clone without trees: %v", err)
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("the remote's program was run")
	}
	if names := ran(); !slices.Equal(names, before) {
		t.Errorf("what the repository names was run: %q", names)
	}
}

// TestWorkTreeOfTheConfiguration: core.worktree leads git to no other directory, and a
// directory that looks like a bare repository is none.
func TestWorkTreeOfTheConfiguration(t *testing.T) {
	needGit(t)
	dir, other := newRepo(t), t.TempDir()
	write(t, dir, "a")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	write(t, other, "b")
	git(t, dir, "config", "core.worktree", other)
	if paths, _, err := open(t, dir).Changed(context.Background(), "HEAD"); err != nil || len(paths) > 0 {
		t.Errorf("with core.worktree: Changed = %q, %v; want nothing", paths, err)
	}

	bare, ran := armed(t)
	entries, err := os.ReadDir(filepath.Join(bare, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(bare, ".git", e.Name()), filepath.Join(bare, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".git/objects/x", ".git/refs/x", ".git/HEAD"} {
		write(t, bare, name) // a .git that bento takes for one, and git does not
	}
	if paths, _, err := open(t, bare).Changed(context.Background(), "HEAD"); err == nil {
		t.Errorf("a bare repository is taken for a work tree: %q", paths)
	}
	if names := ran(); len(names) > 0 {
		t.Errorf("what it names was run: %q", names)
	}
}

func TestFindTakesNoRelativeEntry(t *testing.T) {
	needGit(t)
	want, err := Find("/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("PATH", strings.Join([]string{".", "", os.Getenv("PATH")}, string(filepath.ListSeparator)))
	if got, err := Find("/nowhere"); got != want || err != nil {
		t.Errorf("Find = %q, %v; want %q", got, err, want)
	}

	// The same for a path that leads into the work tree through links.
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	away := t.TempDir()
	for name, target := range map[string]string{"linked": top, "git": filepath.Join(top, "git")} {
		if err := os.Symlink(target, filepath.Join(away, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, entry := range []string{top, filepath.Join(away, "linked"), away, "/proc/self/cwd"} {
		t.Setenv("PATH", entry+string(filepath.ListSeparator)+filepath.Dir(want))
		if got, err := Find(top); got != want || err != nil {
			t.Errorf("PATH begins with %s: Find = %q, %v; want %q", entry, got, err, want)
		}
	}
}

// TestLoaderTakesNothingOfTheRepository: an empty entry of LD_LIBRARY_PATH, such as a
// colon at the end leaves, is the directory that git runs in.
func TestLoaderTakesNothingOfTheRepository(t *testing.T) {
	top := t.TempDir()
	for _, kv := range environ([]string{"LD_LIBRARY_PATH=/opt/lib:", "LD_PRELOAD=" + top + "/x.so", "PATH=" + top + ":/usr/bin"}, top) {
		name, value, _ := strings.Cut(kv, "=")
		if want := map[string]string{"LD_LIBRARY_PATH": "/opt/lib", "PATH": "/usr/bin"}[name]; (want != "" || name == "LD_PRELOAD") && value != want {
			t.Errorf("git would see %s", kv)
		}
	}
}
