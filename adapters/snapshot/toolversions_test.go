package snapshot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestToolVersions(t *testing.T) {
	root := t.TempDir()
	write(t, root, ".git/HEAD", "")
	write(t, root, ".tool-versions", "# tools\nnodejs 20.1.0 # exact\r\ngolang\tsystem\npython # 3.9\n")
	write(t, root, "a/.tool-versions", "go 1.22.1 1.21\n")
	write(t, root, "a/b/x", "")
	top := filepath.Join(root, ".tool-versions")
	for _, tt := range []struct {
		dir   string
		names []string
		want  *adapters.Toolchain
	}{
		{"a/b", []string{"golang", "go"}, &adapters.Toolchain{Tool: "t", Version: "1.22.1", File: filepath.Join(root, "a", ".tool-versions"), Line: 1}},
		{"a/b", []string{"node", "nodejs"}, &adapters.Toolchain{Tool: "t", Version: "20.1.0", File: top, Line: 2}},
		{".", []string{"golang", "go"}, nil},
		{".", []string{"python"}, nil},
		{".", []string{"ruby"}, nil},
	} {
		got, err := snapshot.NewFiles(filepath.Join(root, tt.dir)).ToolVersions("t", tt.names...)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s %v: %s", tt.dir, tt.names, d)
		}
	}
}

func TestPackagesHint(t *testing.T) {
	bin := t.TempDir()
	write(t, bin, "apt-get", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(bin, "apt-get"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := adapters.Packages{Apt: "golang-go", Brew: "go", Else: "see https://go.dev/doc/install"}
	for path, want := range map[string]string{bin: `install it with "apt-get install golang-go"`, "/nowhere": p.Else} {
		if got := p.Hint(adapters.Environ{"PATH=" + path}); got != want {
			t.Errorf("PATH=%s: %q, want %q", path, got, want)
		}
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
