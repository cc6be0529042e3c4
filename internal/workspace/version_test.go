package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
)

// TestWrongVersion compares versions of bento with what workspaces ask for.
func TestWrongVersion(t *testing.T) {
	for _, tt := range []struct{ about, bento, toml, file, want string }{
		{"nothing asked", "0.2.0", "", "", ""},
		{"in the range", "0.2.7", `">=0.2"`, "", ""},
		{"with v", "v0.2.7", `">=0.2"`, "0.2.7\n", ""},
		{"too old", "0.1.9", `">=0.2"`, "", "other_version"},
		{"too new for the file", "0.3.0", "", "0.2.7\n", "other_version"},
		{"one of two", "0.2.8", `">=0.2"`, "0.2.7\n", "other_version"},
		{"a development build", "0.1.0-dev", `">=7"`, "8.0.0\n", ""},
		{"a build of a commit", "v0.1.1-0.20261101000000-abcdefabcdef", `">=7"`, "", ""},
		{"no range", "0.2.0", `"newest"`, "", "invalid_version"},
		{"no version, in a development build", "0.1.0-dev", "", "\n", "invalid_version"},
	} {
		t.Run(tt.about, func(t *testing.T) {
			root := t.TempDir()
			if tt.toml != "" {
				put(t, filepath.Join(root, "bento.toml"), "[workspace]\nversion = "+tt.toml+"\n")
			}
			if tt.file != "" {
				put(t, filepath.Join(root, ".bento-version"), tt.file)
			}
			cfg, _ := config.Load(root, "")
			err := (&Host{Version: tt.bento}).wrongVersion(root, cfg)
			var problems diagnostics.Problems
			if errors.As(err, &problems); len(problems) > 1 || (tt.want != "") != (len(problems) == 1) {
				t.Fatalf("the problems are %v, want one of %q", err, tt.want)
			}
			if tt.want != "" && (problems[0].Rule != tt.want || problems[0].File == "" || problems[0].Line == 0 || problems[0].Hint == "") {
				t.Errorf("the problem is %+v, want %s with a place and a hint", problems[0], tt.want)
			}
		})
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
