package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/proc"
)

// Of the directories that an install is to write only those of the workspace count,
// since it is the plugin that names them; the sandbox of questions stays as it is.
func TestForInstall(t *testing.T) {
	box := &Sandbox{Root: "/ws", Scratch: "/tmp/s", Write: append(make([]string, 0, 8), "/cache")}
	wider := box.ForInstall("/ws/a", "", "/", "/ws/../etc", "/wsx", "/ws", "ws", "/home/me")
	if diff := cmp.Diff([]string{"/cache", "/ws/a", "/ws"}, wider.Write); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	other := box.ForInstall("/ws/b")
	if diff := cmp.Diff([]string{"/cache", "/ws/b"}, other.Write); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if wider.Write[1] != "/ws/a" || len(box.Write) != 1 || box.network || !wider.network {
		t.Errorf("box %+v, wider %+v", box, wider)
	}
}

// The home directory is not read by way of PATH or of a plugin that lies in it.
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
