package action

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
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
		{"true", nil},
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

func TestIdleNeedsNoShell(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"true", "false"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexit 7\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		task  plan.Task
		shell bool
	}{
		{plan.Task{Run: "true"}, false},
		{plan.Task{Run: "false"}, false},
		{plan.Task{Run: "true --version"}, true},
		{plan.Task{Run: "true", Args: []string{"--version"}}, true},
	}
	for _, tt := range tests {
		var c Commands
		spec := proc.Spec{Env: adapters.Environ{"PATH=" + dir + ":/usr/bin:/bin"}, Dir: dir}
		if err := c.line(&tt.task, &spec); err != nil {
			t.Fatal(err)
		}
		if got := spec.Program == ""; got != tt.shell || filepath.Dir(spec.Program) == dir {
			t.Errorf("%q %q: %+v, want a shell: %v", tt.task.Run, tt.task.Args, spec, tt.shell)
		}
	}
}
