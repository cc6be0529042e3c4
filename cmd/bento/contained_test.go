package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/testrun"
)

// testImage is the image of the tests: busybox alone. It is made here and never pulled.
const testImage = "localhost/bento-test:1"

// podman is a podman of the tests, with a store of its own.
type podman struct {
	dir       string
	args, run []string // as in the user's own file
}

// openPodman makes the store and the image. Systems differ in what their kernel and their rights allow, so it tries several sets
// of flags, and skips the test if none runs a container.
func openPodman(t *testing.T) *podman {
	t.Helper()
	adaptertest.Need(t)
	for _, tool := range []string{"podman", "busybox"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("the podman of the tests needs root")
	}
	p := &podman{dir: testrun.OnDisk(t)}
	store := []string{"--root", filepath.Join(p.dir, "store"), "--runroot", filepath.Join(p.dir, "run"), "--log-level=error"}
	t.Cleanup(func() { _ = exec.Command("podman", append(store, "system", "reset", "--force")...).Run() })
	var said []byte
	for _, more := range [][2][]string{
		{nil, nil}, {{"--runtime", "runc"}, nil},
		{{"--runtime", "runc"}, {"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"}},
	} {
		p.args, p.run = append(store[:len(store):len(store)], more[0]...), more[1]
		if p.image(t) != nil {
			continue
		}
		out, err := exec.Command("podman", append(append(append(p.args, "run", "--rm", "--network=none"), p.run...), testImage, "true")...).CombinedOutput()
		if err == nil {
			return p
		}
		said = out
	}
	t.Skipf("podman runs no container here: %s", said)
	return nil
}

// image makes the image.
func (p *podman) image(t *testing.T) error {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	script := `mkdir -p img/bin img/tmp && cp "$1" img/bin/busybox && for a in sh ls cat echo sleep id touch mkdir rm cp chmod true wc; do ln -sf busybox img/bin/$a; done && tar -C img -c . >img.tar`
	cmd := exec.Command("sh", "-ec", script, "sh", busybox)
	cmd.Dir = p.dir
	if err := cmd.Run(); err != nil {
		return err
	}
	return exec.Command("podman", append(p.args, "import", filepath.Join(p.dir, "img.tar"), testImage)...).Run()
}

// config writes the user's own file of bento below a directory.
func (p *podman) config(ts *testscript.TestScript, home string) {
	list := func(words []string) string {
		text, err := json.Marshal(words)
		ts.Check(err)
		return strings.ReplaceAll(string(text), "null", "[]")
	}
	dir := filepath.Join(home, "bento")
	ts.Check(os.MkdirAll(dir, 0o755))
	text := fmt.Sprintf("[container]\nengine = \"podman\"\nengine_args = %s\nrun_args = %s\nbuild_args = [\"--isolation=chroot\"]\n", list(p.args), list(p.run))
	ts.Check(os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o644))
}

// containers returns the names of all containers of the store.
func (p *podman) containers() (string, error) {
	out, err := exec.Command("podman", append(p.args, "ps", "--all", "--format", "{{.Names}}")...).Output()
	return strings.TrimSpace(string(out)), err
}

// TestContainers runs the scripts of testdata/container with a real podman.
func TestContainers(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts containers")
	}
	t.Parallel()
	p := openPodman(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "container"), WorkdirRoot: p.dir, RequireExplicitExec: true, RequireUniqueNames: true, Setup: setup, Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": exitsWith, "json": jsonPath, "signal": signalled,
			"engine": func(ts *testscript.TestScript, _ bool, _ []string) { p.config(ts, ts.Getenv("XDG_CONFIG_HOME")) },
			"podman": func(ts *testscript.TestScript, neg bool, args []string) {
				out, err := exec.Command("podman", append(p.args, args...)...).CombinedOutput()
				if (err != nil) != neg {
					ts.Fatalf("podman %v: %v\n%s", args, err, out)
				}
			},
			"no-containers": func(ts *testscript.TestScript, _ bool, _ []string) {
				if left, err := p.containers(); err != nil || left != "" {
					ts.Fatalf("containers left: %q %v", left, err)
				}
			},
		},
	})
}
