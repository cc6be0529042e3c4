package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/cache/remote/servertest"
)

// TestRemoteImage: a task with a container makes the same on a worker in that image as in the container here, and each result is a
// hit for the other.
func TestRemoteImage(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts containers")
	}
	t.Parallel()
	server := servertest.ImageWorkers(t).GRPC
	p := openPodman(t)
	files, err := os.ReadFile(filepath.Join(p.dir, "img.tar"))
	if err != nil {
		t.Fatal(err)
	}
	image := servertest.Registry(t, "bento-test", files, "PATH=/bin:/tools", "OF_IMAGE=a b", "HOME=/root")
	if out, err := exec.Command("podman", append(p.args, "pull", "--quiet", "--tls-verify=false", image)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, own := t.TempDir(), t.TempDir()
	write(t, own, "bento/config.toml", p.text())
	write(t, root, "d/src", "source\n")
	write(t, root, "d/dish.toml", fmt.Sprintf(`language = "none"
[tasks.build]
run = "cat /etc/which src >out; pwd >>out; ls /bin | wc -l >>out; echo \"$PATH $OF_IMAGE $HOME $LEVEL\" >>out"
outputs = ["out"]
remote = true
container = { image = %q, env = { LEVEL = "3" } }
`, image))
	bento := func(remote, cache string, args ...string) string {
		t.Helper()
		write(t, root, "bento.toml", remote)
		cmd := exec.Command(builtBento(t), args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "XDG_CONFIG_HOME="+own, "BENTO_CACHE_DIR="+filepath.Join(own, cache))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	made := func() string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(root, "d", "out"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	want := func(printed, text string) {
		t.Helper()
		if !strings.Contains(printed, text) {
			t.Errorf("want %q:\n%s", text, printed)
		}
	}
	by := func(property string) string {
		return fmt.Sprintf("[remote]\nexec = \"grpc://%s\"\nimage = %q\nqueue = \"2m\"\n", server, property)
	}
	const here = ""
	want(bento(by("container-image"), "a", "run", "build"), "remote execution: 1 task\n")
	there := made()
	if !strings.HasPrefix(there, "test\nsource\n/bento/w/d\n") || !strings.HasSuffix(there, "\n/bin:/tools a b /bento/home 3\n") {
		t.Errorf("the worker has made %q", there)
	}
	want(bento(here, "a", "run", "build"), "1 hit")
	want(bento(here, "b", "run", "build"), "1 built")
	if made() != there {
		t.Errorf("the container has made %q, the worker %q", made(), there)
	}
	want(bento(by("container-image"), "b", "run", "build"), "1 hit")

	// A server that ignores the property.
	want(bento(by("ignored"), "c", "run", "build"), "does not run actions in the images that they name")
	want(bento(fmt.Sprintf("[remote]\nexec = \"grpc://%s\"\n", server), "c", "plan", "-v", "build", "--force"), "remote.image names no property for its image")
}
