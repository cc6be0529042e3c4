package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/testrun"
)

// testImage is the image of the tests: busybox alone. It is made here and never pulled.
const testImage = "localhost/bento-test:1"

// otherImage is testImage with another content of /etc/which.
const otherImage = "localhost/bento-other:1"

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
	store := []string{"--root", filepath.Join(p.dir, "store"), "--runroot", filepath.Join(p.dir, "run"), "--tmpdir", filepath.Join(p.dir, "tmp"), "--log-level=error"}
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
	script := `mkdir -p img/bin img/tmp && cp "$1" img/bin/busybox && for a in sh ls cat echo sleep id touch mkdir rm cp chmod true wc; do ln -sf busybox img/bin/$a; done &&
		mkdir -p img/etc && echo test >img/etc/which && tar -C img -c . >img.tar && echo other >img/etc/which && tar -C img -c . >other.tar`
	cmd := exec.Command("sh", "-ec", script, "sh", busybox)
	cmd.Dir = p.dir
	if err := cmd.Run(); err != nil {
		return err
	}
	for file, image := range map[string]string{"img.tar": testImage, "other.tar": otherImage} {
		if err := exec.Command("podman", append(p.args, "import", filepath.Join(p.dir, file), image)...).Run(); err != nil {
			return err
		}
	}
	return nil
}

// config writes the user's own file of bento, with further flags of run.
func (p *podman) config(ts *testscript.TestScript, more ...string) {
	dir := filepath.Join(ts.Getenv("XDG_CONFIG_HOME"), "bento")
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "config.toml"), []byte(p.text(more...)), 0o644))
}

// text returns the user's own file of bento, with further flags of run.
func (p *podman) text(more ...string) string {
	list := func(words []string) string {
		text, _ := json.Marshal(append([]string{}, words...)) // strings have no error
		return string(text)
	}
	return fmt.Sprintf("[container]\nengine = \"podman\"\nengine_args = %s\nrun_args = %s\nbuild_args = [\"--isolation=chroot\"]\n", list(p.args), list(append(p.run[:len(p.run):len(p.run)], more...)))
}

// inSmallStore makes the engine of the script one whose store has no room.
func (p *podman) inSmallStore(ts *testscript.TestScript) {
	dir, err := os.MkdirTemp(p.dir, "small")
	ts.Check(err)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=3m", "bento", dir).CombinedOutput(); err != nil {
		ts.Fatalf("mount: %v %s", err, out)
	}
	ts.Defer(func() { _ = exec.Command("umount", "--lazy", dir).Run() })
	small := *p
	small.args = slices.Clone(p.args)
	small.args[slices.Index(small.args, "--root")+1] = filepath.Join(dir, "store")
	small.args[slices.Index(small.args, "--runroot")+1] = filepath.Join(dir, "run")
	small.config(ts)
	ts.Check(os.WriteFile(ts.MkAbs("full/large"), bytes.Repeat([]byte("large"), 1<<20), 0o755))
}

// containers returns the names of the containers that have a mount from work. Other scripts run containers meanwhile.
func (p *podman) containers(work string) (names []string, err error) {
	ids, err := exec.Command("podman", append(p.args, "ps", "--all", "--quiet")...).Output()
	for _, id := range strings.Fields(string(ids)) {
		out, gone := exec.Command("podman", append(p.args, "inspect", "--format", "{{.Name}} {{range .Mounts}}{{.Source}} {{end}}", id)...).Output()
		if gone == nil && strings.Contains(string(out), work) {
			names = append(names, string(out))
		}
	}
	return names, err
}

// TestContainers runs the scripts of testdata/container with a real podman.
func TestContainers(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts containers")
	}
	t.Parallel()
	p := openPodman(t)
	p.follow(t, testscript.Params{Dir: filepath.Join("testdata", "container")})
}

// follow runs scripts.
func (p *podman) follow(t *testing.T, params testscript.Params) {
	params.WorkdirRoot, params.RequireExplicitExec, params.RequireUniqueNames, params.Setup, params.Condition = p.dir, true, true, setup, condition
	params.Cmds = p.commands()
	testscript.Run(t, params)
}

// commands returns the commands of the scripts.
func (p *podman) commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"code": exitsWith, "json": jsonPath, "signal": signalled,
		"engine":      func(ts *testscript.TestScript, _ bool, args []string) { p.config(ts, args...) },
		"small-store": func(ts *testscript.TestScript, _ bool, _ []string) { p.inSmallStore(ts) },
		"busybox": func(ts *testscript.TestScript, _ bool, args []string) {
			data, err := os.ReadFile(filepath.Join(p.dir, "img", "bin", "busybox"))
			ts.Check(err)
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o755))
		},
		"podman": func(ts *testscript.TestScript, neg bool, args []string) {
			out, err := exec.Command("podman", append(p.args, args...)...).CombinedOutput()
			if (err != nil) != neg {
				ts.Fatalf("podman %v: %v\n%s", args, err, out)
			}
		},
		"no-containers": func(ts *testscript.TestScript, _ bool, _ []string) {
			if left, err := p.containers(ts.Getenv("WORK")); err != nil || len(left) > 0 {
				ts.Fatalf("containers left: %q %v", left, err)
			}
		},
	}
}

// TestContainerPage follows the walk-through of docs/containers.md, with the image of the tests in place of the page's.
func TestContainerPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts containers")
	}
	t.Parallel()
	p := openPodman(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "containers.md"))
	if err != nil {
		t.Fatal(err)
	}
	const image = "docker.io/library/gcc:14"
	page := strings.ReplaceAll(strings.ReplaceAll(string(text), image, testImage), `run = "make"`, `run = "mkdir -p dist && cp Makefile dist/made"`)
	_, toml, _ := strings.Cut(page, "```toml\n# dish.toml\n")
	toml, _, _ = strings.Cut(toml, "```")
	_, walk, _ := strings.Cut(page, "## Walk-through")
	walk, _, _ = strings.Cut(walk, "## Settings")
	script := "env XDG_CONFIG_HOME=$WORK/home/.config\nengine\nexec git init -q\nexec git add -A\n"
	ends := map[string]string{
		"bento plan build": "2", "bento container lock": "0", "bento run build": "0", "bento shell DISH": "0", "bento container update": "0",
	}
	for i, part := range strings.Split(walk, "`") {
		if end := ends[part]; i%2 == 1 && end != "" {
			delete(ends, part)
			script += "code " + end + " " + strings.Replace(part, "DISH", "app -- true", 1) + "\n"
			if _, said, ok := strings.Cut(walk, "\n\n       "); part == "bento plan build" && ok {
				said, _, _ = strings.Cut(said, "\n")
				script += "stdout '" + strings.TrimSpace(said) + "'\n"
			}
			if part == "bento run build" {
				script += "stdout 'built +app:build'\nexec bento run build\nstdout 'hit +app:build'\n"
			}
		}
	}
	if len(ends) > 0 {
		t.Fatalf("the walk-through lacks %v", ends)
	}
	script += "cmp app/Makefile app/dist/made\nexec bento doctor\nstdout 'ok    container'\nno-containers\n" +
		"-- bento.toml --\n-- .gitignore --\n.bento/\nhome/\ncache/\n-- app/Makefile --\nall:\n-- app/dish.toml --\nlanguage = \"none\"\n" + toml
	name := filepath.Join(t.TempDir(), "page.txtar")
	if err := os.WriteFile(name, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	p.follow(t, testscript.Params{Files: []string{name}})
}
