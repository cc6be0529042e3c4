package discovery

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
)

// write makes files under a directory that is free of links. A name that ends in
// "/" is a directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindRoot(t *testing.T) {
	base := write(t, map[string]string{
		"git/.git/":           "",
		"git/ws/bento.toml":   "",
		"git/ws/sub/deep/":    "",
		"git/other/deep/":     "",
		"git/file":            "",
		"boxes/bentos/a.toml": "",
		"boxes/x/":            "",
		"odd/.git":            "gitdir: elsewhere",
		"odd/bentos":          "a file",
		"odd/bento.toml/":     "",
		"odd/x/":              "",
	})
	if err := os.Symlink(filepath.Join(base, "git/ws/sub"), filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, dir, env, cwd, want string }{
		{"nearest bento.toml", "", "", "git/ws/sub/deep", "git/ws"},
		{"here", "", "", "git/ws", "git/ws"},
		{"bentos", "", "", "boxes/x", "boxes"},
		{"git top level", "", "", "git/other/deep", "git"},
		{"git worktree, and no config", "", "", "odd/x", "odd"},
		{"flag", "git/ws/sub", "boxes", "git", "git/ws"},
		{"flag from cwd", "../boxes/x", "", "git", "boxes"},
		{"variable", "", "boxes", "git", "boxes"},
		{"link", "", "", "link", "git/ws"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := RootOptions{Cwd: filepath.Join(base, tt.cwd)}
			if o.Dir = tt.dir; o.Dir != "" && !strings.HasPrefix(o.Dir, "..") {
				o.Dir = filepath.Join(base, o.Dir)
			}
			if tt.env != "" {
				o.Env = filepath.Join(base, tt.env)
			}
			got, err := FindRoot(o)
			if err != nil || got != filepath.Join(base, tt.want) {
				t.Errorf("FindRoot = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestFindRootRefuses(t *testing.T) {
	base := write(t, map[string]string{"x/": "", "file": ""})
	tests := []struct {
		o    RootOptions
		want string
	}{
		{RootOptions{Cwd: filepath.Join(base, "x")}, "looked for bento.toml, bentos/ and .git"},
		{RootOptions{Dir: "nowhere", Cwd: base}, `nowhere" (of -C): no such file or directory`},
		{RootOptions{Env: filepath.Join(base, "file"), Cwd: base}, `file" (of $BENTO_WORKSPACE_ROOT) is not a directory`},
	}
	for _, tt := range tests {
		_, err := FindRoot(tt.o)
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), tt.want) || problems[0].Rule != RuleNoWorkspace {
			t.Errorf("FindRoot(%+v): %v, want %q", tt.o, err, tt.want)
		}
	}
}
