package tsconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/snapshot"
)

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"extends": "../base", "references": [{"path": "../lib"}], "compilerOptions": {"outDir": "dist"},}`,
		`{"extends": ["./tsconfig.json", "x"], "include": ["src"], "compilerOptions": {"rootDirs": [1], "tsBuildInfoFile": "${configDir}/a"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "tsconfig.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c := Read(snapshot.NewFiles(dir))
		for _, glob := range c.Outputs {
			if filepath.IsAbs(glob) || strings.HasPrefix(glob, "..") {
				t.Fatalf("the output %q is not in the package", glob)
			}
		}
		for _, l := range c.Links {
			if !filepath.IsAbs(l.Dir) || l.Line < 1 {
				t.Fatalf("%+v", l)
			}
		}
	})
}
