package companion

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecrets: variables take precedence over the file, and a workspace gets only its own secrets.
func TestSecrets(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".config", "bento", "secrets.json")
	put := func(text string, mode os.FileMode) {
		t.Helper()
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			os.Remove(path)
			err = os.WriteFile(path, []byte(text), mode)
		}
		if err == nil {
			err = os.Chmod(path, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": home, "BENTO_SECRET_API_TOKEN": "from env"}
	s := &secrets{getenv: func(name string) string { return env[name] }, root: "/ws"}
	check := func(scope, workspace, key, want string) {
		t.Helper()
		value, ok, err := s.find(t.Context(), scope, workspace, key)
		if got := string(value); err != nil || ok != (want != "") || got != want {
			t.Errorf("%s %s %s: got %q %t, %v, want %q", scope, workspace, key, got, ok, err, want)
		}
	}
	check("user", "", "api-token", "from env")
	check("user", "", "other", "")
	put(`{"scopes":{"user":{"api-token":"from file","other":"o"}},"workspaces":{"/ws":{"api-token":"of ws"},"/else":{"api-token":"of else"}}}`, 0o600)
	check("user", "", "api-token", "from env")
	check("user", "", "other", "o")
	check("global", "", "other", "")
	check("workspace", "", "api-token", "of ws")
	check("workspace", "/ws", "api-token", "of ws")
	check("workspace", "/else", "api-token", "")
	check("workspace", "", "other", "")
	for text, mode := range map[string]os.FileMode{`{"scopes":{}}`: 0o644, `{"scopes":7, "x":"hidden"}`: 0o600, "hidden": 0o600} {
		put(text, mode)
		_, _, err := s.find(t.Context(), "user", "", "other")
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", text, err)
		}
	}
	os.Remove(path)
	if err := os.Symlink("/etc/passwd", path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.find(t.Context(), "user", "", "other"); err == nil {
		t.Error("a link was followed")
	}
	env["HOME"] = "relative"
	check("user", "", "other", "")
}
