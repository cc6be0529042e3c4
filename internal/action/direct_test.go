package action

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
		{"x.sh ./a,b:c@1.2+3 50%", []string{"x.sh", "./a,b:c@1.2+3", "50%"}},
		{"echo x", []string{"echo", "x"}},
		{"true", []string{"true"}},
		{"./x.sh", nil},
		{"umask 022", nil},
		{"exec ls", nil},
		{"while true", nil},
		{"", nil},
		{" \n", nil},
		{"CC=gcc make", nil},
		{"go build\ngo vet", nil},
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
	for name, mode := range map[string]os.FileMode{"script": 0o755, "true": 0o755, "cd": 0o755, "unmarked": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		path, run, want string // want is "" for the shell
	}{
		{dir, "script a", filepath.Join(dir, "script")},
		{dir, "true", filepath.Join(dir, "true")},
		{"/none:" + dir, "script", filepath.Join(dir, "script")},
		{dir, "cd a", ""},
		{dir, "./script a", ""},
		{dir, dir + "/script", ""},
		{dir, "unmarked", ""},
		{dir, "nothing", ""},
		{"bin:" + dir, "script", ""},
		{":" + dir, "script", ""},
		{"", "script", ""},
	}
	for _, tt := range tests {
		var c Commands
		program, _, ok := c.direct(adapters.Environ{"PATH=" + tt.path}, tt.run)
		if ok != (tt.want != "") || ok && program != tt.want {
			t.Errorf("%q in PATH %q: %q, %v, want %q", tt.run, tt.path, program, ok, tt.want)
		}
	}
	inherits := Commands{Inherit: true}
	if _, _, ok := inherits.direct(adapters.Environ{"PATH=" + dir}, "script"); ok {
		t.Error("a command ran without a shell, though the environment may define a function")
	}
}
