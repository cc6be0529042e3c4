package companion

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
)

// TestNamespacesOfScreens: the namespace of an extension that has only screens is its id. Any other extension has only
// the namespaces of its manifest.
func TestNamespacesOfScreens(t *testing.T) {
	t.Parallel()
	for provides, want := range map[string][]string{
		"":                            nil,
		"screens = ['a', 'b']":        {"k"},
		"cli_namespaces = ['n', 'm']": {"m", "n"},
		"screens = ['a']\ncli_namespaces = ['n']": {"n"},
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "k")
		write(t, filepath.Join(dir, "manifest.toml"), fmt.Sprintf("[plugin]\nname = 'k'\nversion = '1.0.0'\nabi_version = 2\n[provides]\n%s\n", provides))
		write(t, filepath.Join(dir, "k"), "#!/bin/sh\n")
		cfg := &config.Workspace{Root: root, Extensions: map[string]config.Extension{"k": {Own: true, Path: dish.Text{Text: dir}}}}
		e := Find(cfg, Places{Root: root})[0]
		if got := e.Namespaces(); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", provides, got, want)
		}
		if screen, ok := e.Screen("k"); ok && screen != "a" {
			t.Errorf("%q: the screen is %q", provides, screen)
		}
	}
}
