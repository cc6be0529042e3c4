package golang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// bigWorkspace writes a go.work of 200 modules, each of which imports the three before it,
// and returns their directories.
func bigWorkspace(tb testing.TB) []string {
	root, old := tb.TempDir(), time.Now().Add(-time.Hour)
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			tb.Fatal(err)
		}
	}
	write("bento.toml", "")
	dirs := make([]string, 200)
	var work, sums strings.Builder
	work.WriteString("go 1.24\n")
	for i := range dirs {
		name := fmt.Sprintf("m%03d", i)
		fmt.Fprintf(&work, "use ./%s\n", name)
		fmt.Fprintf(&sums, "example.com/x%d v1.0.0 h1:%s=\n", i, strings.Repeat("A", 43))
		write(name+"/go.mod", "module example.org/"+name+"\n\ngo 1.24\n")
		text := "package " + name + "\n"
		for j := max(0, i-3); j < i; j++ {
			text += fmt.Sprintf("import _ \"example.org/m%03d\"\n", j)
		}
		write(name+"/a.go", text)
		dirs[i] = filepath.Join(root, name)
	}
	write("go.work", work.String())
	write("go.work.sum", sums.String())
	return dirs
}

// BenchmarkBigWorkspace asks all that discovery asks of each module of a workspace.
func BenchmarkBigWorkspace(b *testing.B) {
	dirs := bigWorkspace(b)
	for b.Loop() {
		a := New(snapshot.Options{Env: adapters.NewEnviron(os.Environ())})
		for _, dir := range dirs {
			if _, err := a.Tasks(b.Context(), dir); err != nil {
				b.Fatal(err)
			}
			if _, err := a.Links(b.Context(), dir); err != nil {
				b.Fatal(err)
			}
			if _, err := a.InstallScope(b.Context(), dir); err != nil {
				b.Fatal(err)
			}
			if _, err := a.LockDigest(b.Context(), dir); err != nil {
				b.Fatal(err)
			}
		}
	}
}
