package node

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkWorkspace asks everything about each of 1,000 members of a workspace.
func BenchmarkWorkspace(b *testing.B) {
	root := b.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write(".git/HEAD", "")
	write("package.json", `{"workspaces": ["packages/*"], "engines": {"node": ">=18"}}`)
	write("package-lock.json", "{}")
	dirs := make([]string, 1000)
	for i := range dirs {
		name := fmt.Sprintf("packages/p%04d", i)
		write(name+"/package.json", fmt.Sprintf(`{"name": "p%d", "scripts": {"build": "x", "test": "x", "lint": "x"},
			"dependencies": {"p%d": "*", "react": "18", "lodash": "4"}, "devDependencies": {"typescript": "5"}}`, i, i/2))
		dirs[i] = filepath.Join(root, name)
	}
	for b.Loop() {
		a := newNPM()
		for _, dir := range dirs {
			for name, ask := range asks(a) {
				if err := ask(b.Context(), dir); err != nil {
					b.Fatal(name, err)
				}
			}
			if ok, err := a.Detect(b.Context(), dir); !ok || err != nil {
				b.Fatal(err)
			}
			if _, err := a.ToolchainBasis(b.Context(), dir); err != nil {
				b.Fatal(err)
			}
		}
	}
}
