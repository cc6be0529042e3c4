package python

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
)

func TestPoetryLinks(t *testing.T) {
	root := tree(t, "app/poetry.lock", "", "app/pyproject.toml", `[project]
dependencies = ["core"]
[tool.poetry.dependencies]
python = "^3.9"
core = {path = "../core", develop = true}
other = [{version = "1", python = "<3.9"}, {path = "../other", python = ">=3.9"}]
[tool.poetry.group.dev.dependencies]
testing = {path = "../testing"}
`)
	ans, err := newPip().Links(t.Context(), filepath.Join(root, "app"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(root, "app/pyproject.toml")
	want := []adapters.Link{
		{Dir: filepath.Join(root, "core"), File: manifest, Line: 5},
		{Dir: filepath.Join(root, "other"), File: manifest, Line: 6},
		{Dir: filepath.Join(root, "testing"), File: manifest, Line: 8, Dev: true},
	}
	if diff := cmp.Diff(want, ans.Links); diff != "" {
		t.Error(diff)
	}
}

func TestPoetryLockDigest(t *testing.T) {
	const lock = "[[package]]\nname = 'six'\nversion = '1'\nfiles = []\n[metadata]\nlock-version = '2.1'\n"
	root := tree(t, "app/poetry.lock", lock, "app/pyproject.toml", "[project]\n", "pip/requirements.txt", "", "lone/poetry.lock", lock)
	ask := func(dir string) adapters.LockAnswer {
		t.Helper()
		ans, err := newPip().LockDigest(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if len(ans.Reads) == 0 {
			t.Errorf("%s: no reads", dir)
		}
		return ans
	}
	before := ask("app")
	if before.Digest == "" || before.File != filepath.Join(root, "app/poetry.lock") || before.Whole != "" {
		t.Errorf("%+v", before)
	}
	put(t, root, "app/poetry.lock", "# a comment\n"+strings.Replace(lock, "lock-version", "content-hash = 'x'\nlock-version", 1))
	if got := ask("app"); got.Digest != before.Digest {
		t.Error("what is not resolved to counts")
	}
	put(t, root, "app/poetry.lock", strings.Replace(lock, "'1'", "'2'", 1))
	if got := ask("app"); got.Digest == before.Digest {
		t.Error("a new version does not count")
	}
	for text, want := range map[string]string{
		"[[package]\n":                         root + "/app/poetry.lock:1:10:",
		strings.Replace(lock, "2.1", "7.0", 1): `lock-version "7.0" of poetry.lock is not known, only 1 and 2 are`,
		"":                                     `lock-version "" of poetry.lock`,
	} {
		put(t, root, "app/poetry.lock", text)
		if got := ask("app"); got.Digest != "" || got.File == "" || !strings.HasPrefix(got.Whole, want) || strings.Contains(got.Whole, "\n") {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, dir := range []string{"pip", "lone"} {
		if got := ask(dir); got.File != "" || got.Digest != "" {
			t.Errorf("%s: %+v", dir, got)
		}
	}
}
