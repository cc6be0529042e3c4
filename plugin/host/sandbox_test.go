package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/proc"
)

// ForInstall allows writes only to directories of the workspace, since the plugin names the directories.
// The sandbox of questions is unchanged.
func TestForInstall(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "ws")
	for _, name := range []string{"ws/a", "ws/b", "wsx", "home"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"ws/out": "../home", "ws/in": "b", "other": "ws"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	box := &Sandbox{Root: filepath.Join(dir, "other"), Scratch: "/tmp/s", Write: append(make([]string, 0, 8), "/cache")}
	wider := box.ForInstall(root+"/a", "", "/", root+"/../home", dir+"/wsx", root+"/out", root+"/in", root+"/gone", root, "a", dir)
	if diff := cmp.Diff([]string{"/cache", root + "/a", root + "/b", root}, wider.Write); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	other := box.ForInstall(root + "/b")
	if diff := cmp.Diff([]string{"/cache", root + "/b"}, other.Write); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if wider.Write[1] != root+"/a" || len(box.Write) != 1 || box.network || !wider.network {
		t.Errorf("box %+v, wider %+v", box, wider)
	}
}

// A plugin in the home directory, or a PATH with it, does not make the whole home directory readable.
func TestPolicyLeavesOutHome(t *testing.T) {
	home := t.TempDir()
	program := filepath.Join(home, "bento-adapter-x")
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "bin", "bento-adapter-x")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	box := &Sandbox{Root: "/ws", Scratch: "/s", Read: []string{"/granted"}}
	p := box.policy(proc.Spec{Argv: []string{link}, Env: []string{
		"HOME=" + home, "PATH=/usr/bin:" + home + "/bin:" + home + "/:/:" + filepath.Dir(home) + ":rel:.::/opt/x/../y",
	}})
	for _, want := range []string{"/ws", "/granted", link, program, home + "/bin", "/usr/bin", "/opt/y"} {
		if !slices.Contains(p.Read, want) {
			t.Errorf("%s is not read", want)
		}
	}
	for _, bad := range []string{"/", home, home + "/", filepath.Dir(home), "rel", ".", ""} {
		if slices.Contains(p.Read, bad) {
			t.Errorf("%q is read", bad)
		}
	}
	if diff := cmp.Diff([]string{"/s"}, p.Write); diff != "" || p.Network {
		t.Errorf("%s, network %v", diff, p.Network)
	}
}

// A confined plugin may not use all processes of the machine.
func TestPluginsHaveABound(t *testing.T) {
	spec := proc.Spec{Argv: []string{"/bin/true"}}
	for set, want := range map[int]int{0: maxTasks, 60: 60} {
		if got := (&Sandbox{Tasks: set}).policy(spec).Tasks; got != want {
			t.Errorf("%d: %d", set, got)
		}
	}
}
