package project

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// FuzzOpen reads a workspace of whatever manager, and a package below it.
func FuzzOpen(f *testing.F) {
	for _, seed := range []struct{ manifest, config, lock string }{
		{`{"workspaces": ["packages/*"], "packageManager": "yarn@1.22.0"}`, "", "# yarn lockfile v1\n"},
		{`{"workspaces": {"packages": ["**", "!packages/b", "."]}}`, "nodeLinker: pnp\n", "__metadata:\n  version: 8\n"},
		{`{"packageManager": "pnpm@9"}`, "packages:\n  - '*/*'\n  - '!**/b'\n", ""},
		{`{"workspaces": ["../*", "/", "{a,packages}/[b]"]}`, "packages: x", "x"},
	} {
		f.Add(seed.manifest, seed.config, seed.lock)
	}
	f.Fuzz(func(t *testing.T, manifest, config, lock string) {
		dir := t.TempDir()
		below := filepath.Join(dir, "packages", "b")
		adaptertest.Write(t, filepath.Join(dir, "bento.toml"), "")
		adaptertest.Write(t, filepath.Join(below, "package.json"), `{"name": "b"}`)
		for name, text := range map[string]string{
			"package.json": manifest, "pnpm-workspace.yaml": config, ".yarnrc.yml": config, "yarn.lock": lock,
		} {
			if text != "" {
				adaptertest.Write(t, filepath.Join(dir, name), text)
			}
		}
		s := NewShelf(snapshot.Options{Env: adaptertest.Env()}, func(string) bool { return false })
		for _, at := range []string{dir, below} {
			open(t, s, dir, at)
		}
	})
}

// open holds the answers about the project in at against one another.
func open(t *testing.T, s *Shelf, root, at string) {
	t.Helper()
	files := snapshot.NewFiles(at)
	s.Decide(files)
	if _, err := s.Generation(files, root); err == nil {
		_, _ = s.YarnSettings(files, root)
	}
	p, err := s.Open(files)
	if err != nil {
		return
	}
	if p.Scope() != root && p.Scope() != at {
		t.Fatalf("the scope of %s is %s", at, p.Scope())
	}
	if p.IsMember() != (p.Scope() != at) {
		t.Fatalf("%s: %+v", at, p)
	}
	if sp := p.Aggregate(); sp != nil {
		for _, dir := range s.Members(files, sp) {
			if !filepath.IsAbs(dir) || dir != filepath.Clean(dir) || !strings.HasPrefix(dir, root+"/") && !sp.has(dir) {
				t.Fatalf("the member %q of %s", dir, sp.Dir)
			}
		}
	}
}
