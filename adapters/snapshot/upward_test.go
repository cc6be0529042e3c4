package snapshot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUpwardPaths(t *testing.T) {
	text := `readme = "../README.md"
include = ['../shared/**/*.txt', "../a/b.txt", "./own", "x/../y"]
# comment = "../commented"
dep = { path = "../dep" }
open = "../open
inside = "../p/inside"
up = "../../far" ../bare`
	var got []string
	skip := func(line string) bool { return strings.Contains(line, "path =") }
	for _, e := range UpwardPaths("/w/p", "/w/p/m.toml", []byte(text), skip, "#") {
		got = append(got, fmt.Sprint(e.Line, " ", e.Path, " ", e.Named))
	}
	want := []string{"1 /w/README.md true", "2 /w/shared true", "2 /w/a/b.txt true", "7 /far true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := UpwardPaths("/w/p", "/w/p/sub/m.toml", []byte(text), skip); got != nil {
		t.Errorf("a file of another directory: %v", got)
	}
}

func FuzzUpwardPaths(f *testing.F) {
	f.Add([]byte("a = \"../b\" '../c*'\n# \"../d"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range UpwardPaths("/w/p", "/w/p/m", data, func(string) bool { return false }, "#") {
			if e.Path == "/w/p" || strings.HasPrefix(e.Path, "/w/p/") || e.Line < 1 {
				t.Errorf("%q: %+v", data, e)
			}
		}
	})
}
