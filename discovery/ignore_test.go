package discovery

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIgnoredDirectoriesAreNoDishes(t *testing.T) {
	ws, told := find(t, map[string]string{
		".gitignore": "/gen/\n", "gen/aa.toy": "", "gen/x/dish.toml": "", "ok/aa.toy": "",
		"bento.toml":    "[workspace]\ndiscover = true",
		"bentos/a.toml": "name = \"a\"\ndishes = [\"gen\"]",
	}, nil)
	if diff := cmp.Diff([]string{"ok ok aa"}, outline(ws)); diff != "" {
		t.Error(diff)
	}
	want := []string{`error unknown_dish bentos/a.toml:2:11: bento "a": no dish found at "gen" (git ignores the directory)`}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// A directory that a tool makes is not a dish, unless git tracks it.
func TestTrackedDirectoriesAreNotDerived(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("BENTO_REQUIRE_TOOLS") == "1" {
			t.Fatal("git is not installed")
		}
		t.Skip("git is not installed")
	}
	files := map[string]string{"x/aa.toy": "", "x/made/old/bb.toy": "", "x/made/new/bb.toy": ""}
	root := write(t, files)
	for _, args := range [][]string{{"init", "-q"}, {"add", "x/made/old"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	ws, _ := findIn(t, root, nil)
	if diff := cmp.Diff([]string{"x x aa", "x/made/old old bb"}, outline(ws)); diff != "" {
		t.Error(diff)
	}
}

// A glob that only the matcher refuses is reported at its position.
func TestGlobsThatAreTooMuch(t *testing.T) {
	bomb := strings.Repeat("{a,b,c,d}", 40)
	_, told := find(t, map[string]string{
		"bento.toml":  "[workspace]\nexclude = [\"ok\", \"" + bomb + "\"]",
		"x/dish.toml": "[tasks.a]\nrun = \"x\"\ninputs = [\"" + bomb + "\"]\nworkspace_outputs = [\"ok\", \"" + bomb + "\"]",
	}, nil)
	var places []string
	for _, s := range told {
		places = append(places, strings.Join(strings.Fields(s)[:3], " "))
	}
	want := []string{"error invalid_glob bento.toml:2:18:", "error invalid_glob x/dish.toml:3:11:", "error invalid_glob x/dish.toml:4:28:"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("%s\n%v", diff, told)
	}
}

func TestLinksOfTheFileSystem(t *testing.T) {
	root := write(t, map[string]string{"x/aa.toy": "", "elsewhere/dish.toml": "name = \"linked\"", "y/": ""})
	for link, to := range map[string]string{"x/loop": ".", "z": "x", "y/dish.toml": "../elsewhere/dish.toml", "x/dish.toml": "gone"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	ws, told := findIn(t, root, nil)
	if diff := cmp.Diff([]string{"elsewhere linked -", "x x aa", "y linked -"}, outline(ws)); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"error unreadable_file x/dish.toml: the file cannot be read: file does not exist",
		`error duplicate_name y/dish.toml:1:8: two dishes are named "linked", the other at elsewhere/dish.toml:1:8`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}
