package tree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/state"
)

// Every walk reports an ignore file whose patterns cost too much once. A path that it has not decided
// is part of the workspace.
func TestCostlyIgnoresAreNamed(t *testing.T) {
	root := newRepo(t)
	file := strings.Repeat("a", 200) + "x"
	patterns := strings.Repeat(strings.Repeat("*a", 20)+"*[yz]\n", 5000)
	for name, text := range map[string]string{"d/" + file + "b": "", "d/e/" + file + "b": "", "d/.gitignore": "*x\n" + patterns, "plain": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		tr, err := Walk(context.Background(), root, &Options{State: state.Open(root)})
		if err != nil {
			t.Fatal(err)
		}
		problems := tr.Problems()
		if len(problems) != 1 || problems[0].Rule != "costly_ignores" || problems[0].File != "d/.gitignore" || problems[0].Hint == "" {
			t.Errorf("%v", problems)
		}
		if tr.Ignored("d/"+file+"b", false) {
			t.Error("what was not decided is ignored")
		}
		if err := tr.Index().Save(); err != nil {
			t.Fatal(err)
		}
	}
}
