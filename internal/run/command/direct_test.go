package command

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

func TestPlainWords(t *testing.T) {
	tests := []struct {
		run  string
		want []string
	}{
		{"cargo build --locked", []string{"cargo", "build", "--locked"}},
		{"\n\tmake  CC=gcc\tall \n", []string{"make", "CC=gcc", "all"}},
		{"./x.sh a,b:c@1.2+3 50%", []string{"./x.sh", "a,b:c@1.2+3", "50%"}},
		{"", nil},
		{" \n", nil},
		{"CC=gcc make", nil},
		{"go build\ngo vet", nil},
		{"echo x", nil},
		{"true", []string{"true"}},
		{". ./env", nil},
		{"ls *.go", nil},
		{"ls ~", nil},
		{"ls $HOME", nil},
		{"ls 'a b'", nil},
		{`ls "a"`, nil},
		{`ls a\ b`, nil},
		{"ls > out", nil},
		{"ls | cat", nil},
		{"ls && cat", nil},
		{"ls; cat", nil},
		{"ls & cat", nil},
		{"ls # all", nil},
		{"ls [ab]", nil},
		{"ls a?", nil},
		{"ls {a,b}", nil},
		{"! ls", nil},
		{"(ls)", nil},
		{"ls `pwd`", nil},
		{"ls \r\n", nil},
		{"ls \u00a0x", nil},
		{"ls !x", nil},
		{"ls ^x", nil},
	}
	for _, tt := range tests {
		got, ok := plainWords(tt.run)
		if !slices.Equal(got, tt.want) || ok != (tt.want != nil) {
			t.Errorf("%q: %q, %v, want %q", tt.run, got, ok, tt.want)
		}
	}
}

func TestDirectNeedsAProgram(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"script": "#!/bin/sh\n", "plain": "echo x\n", "binary": "\x7fELF..", "empty": "", "lost": "#!/no/such/program -x\n", "nobody": "#! \n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "unmarked"), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, run, want string // want is "" for the shell
	}{
		{dir, "script a", filepath.Join(dir, "script")},
		{dir, "./script a", "./script"},
		{dir, dir + "/script", dir + "/script"},
		{dir, "binary", filepath.Join(dir, "binary")},
		{dir, "plain", ""},
		{dir, "empty", ""},
		{dir, "unmarked", ""},
		{dir, "./lost", ""},
		{dir, "nobody", ""},
		{dir, "nothing", ""},
		{dir, "./nothing", ""},
		{"bin:" + dir, "script", ""},
		{":" + dir, "script", ""},
		{"", "script", ""},
	}
	for _, tt := range tests {
		var c Commands
		program, _, ok := c.direct(adapters.Environ{"PATH=" + tt.path}, dir, tt.run)
		if ok != (tt.want != "") || ok && program != tt.want {
			t.Errorf("%q in PATH %q: %q, %v, want %q", tt.run, tt.path, program, ok, tt.want)
		}
	}
	inherits := Commands{Inherit: true}
	if _, _, ok := inherits.direct(adapters.Environ{"PATH=" + dir}, dir, "script"); ok {
		t.Error("with everything inherited, functions too, there was no shell")
	}
}

// TestDirectFindsAgain holds that a program that was found is searched for again when it is
// another one, and always where tasks may put one before it.
func TestDirectFindsAgain(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	first, second := filepath.Join(outside, "first"), filepath.Join(outside, "second")
	put := func(dir, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tool"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := Commands{Root: root}
	expect := func(path, want string) {
		t.Helper()
		program, _, ok := c.direct(adapters.Environ{"PATH=" + path}, root, "tool x")
		if ok != (want != "") || ok && program != want {
			t.Errorf("in PATH %q: %q, %v, want %q", path, program, ok, want)
		}
	}
	away, within := first+":"+second, filepath.Join(root, "bin")+":"+second
	expect(away, "")
	put(second, "#!/bin/sh\n")
	expect(away, filepath.Join(second, "tool"))
	expect(within, filepath.Join(second, "tool"))
	put(filepath.Join(root, "bin"), "#!/bin/sh\n")
	expect(within, filepath.Join(root, "bin", "tool"))
	put(second, "echo x # of which no kernel runs anything\n")
	expect(away, "")
	put(second, "#!/bin/sh\n# again\n")
	expect(away, filepath.Join(second, "tool"))
	if err := os.Remove(filepath.Join(second, "tool")); err != nil {
		t.Fatal(err)
	}
	put(first, "#!/bin/sh\n")
	expect(away, filepath.Join(first, "tool"))
}
