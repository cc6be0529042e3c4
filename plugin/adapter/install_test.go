package adapter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/plugin/host"
)

// TestInstallCommands: the commands of an install run in order, in the directory of the install, until one
// fails.
func TestInstallCommands(t *testing.T) {
	dish, tools := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		tools + "/kid": "test \"$1\" != fail || { echo 'no network' >&2; exit 3; }; echo \"$PWD: $*\"", dish + "/kidw": "echo wrapper $1",
	} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "install-plans"))
	env := adapters.NewEnviron([]string{"PATH=" + tools + ":/usr/bin:/bin"})
	for _, c := range []struct{ answer, prints, fails string }{
		{`null`, "", ""},
		{`{}`, "", ""},
		{`"done"`, "", ""},
		{`{"commands":[["kid","fetch","$HOME;a b"],["./kidw","on"]]}`, "DISH: fetch $HOME;a b\nwrapper on\n", ""},
		{`{"commands":[["kid","fail","--all"],["kid","never"]]}`, "no network\n", "\"kid fail --all\" exited with status 3"},
		{`{"commands":[["kidney"]]}`, "", "kidney is not installed"},
		{`{"commands":["kid"]}`, "", `malformed_response`},
		{`{"commands":[[]]}`, "", `commands[0]: expected a program and its arguments, got no program`},
		{`{"commands":[["kid\u0000"]]}`, "", `a word without NUL`},
	} {
		var prints strings.Builder
		err := set.Adapters()[0].Install(t.Context(), adapters.InstallRequest{DishDir: dish, DishName: c.answer, Env: env}, func(l adapters.Log) {
			prints.WriteString(l.Message + "\n")
		})
		if diff := cmp.Diff(strings.ReplaceAll(c.prints, "DISH", dish), prints.String()); diff != "" {
			t.Errorf("%s: output (-want +got):\n%s", c.answer, diff)
		}
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: got %v, want %q", c.answer, err, c.fails)
		}
		var missing *adapters.MissingTool
		if errors.As(err, &missing) && !strings.Contains(missing.Hint, "the plugin install-plans installs with") {
			t.Errorf("%s: the hint is %q", c.answer, missing.Hint)
		}
	}
}

// TestInstallCommandsAreConfined: the commands have the rights of the plugin's install and no more.
func TestInstallCommandsAreConfined(t *testing.T) {
	if lacks := sandbox.Offered().Lacks(); len(lacks) > 0 {
		t.Skip(strings.Join(lacks, "; "))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, dir := t.TempDir(), t.TempDir()
	dish := filepath.Join(root, "dish")
	if err := os.Mkdir(dish, 0o755); err != nil {
		t.Fatal(err)
	}
	box := &host.Sandbox{Helper: self, Root: root, Scratch: filepath.Join(t.TempDir(), "scratch"), Read: []string{dir}}
	set := start(t, Options{Numbers: short(), Root: root, Sandbox: map[string]*host.Sandbox{"install-plans": box}}, install(t, dir, "install-plans"))
	answer := `{"commands":[["/bin/sh","-c","echo x >made; echo x >../outside; echo x >$TMPDIR/here"]]}`
	env := adapters.NewEnviron([]string{"PATH=/usr/bin:/bin"})
	err = set.Adapters()[0].Install(t.Context(), adapters.InstallRequest{DishDir: dish, DishName: answer, Env: env}, nil)
	if err != nil {
		t.Error(err)
	}
	for path, want := range map[string]bool{dish + "/made": true, root + "/outside": false, box.Scratch + "/here": true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it: %v", path, err, want)
		}
	}
}
