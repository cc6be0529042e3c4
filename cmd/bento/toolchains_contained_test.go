package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/sampling"
)

// machineImage has no programs: those of this machine are mounted.
const machineImage = "localhost/bento-machine:1"

// TestToolchainsInContainers builds the projects of TestToolchains here and in containers that have the tools of this machine. Their
// outputs are equal, and an edit runs there again, as the table of the page says. make check leaves it out.
func TestToolchainsInContainers(t *testing.T) {
	if !sampling.All() {
		t.Skip("it takes minutes; BENTO_TEST_ALL=1 runs it")
	}
	t.Parallel()
	p := openPodman(t)
	p.imageOfMachine(t)
	eachProject(t, "containers.md", func(t *testing.T, tc *toolchain, says [2]string) {
		newContained(t, tc, p, says).compare()
	})
}

// imageOfMachine makes machineImage: the links of a system in which all programs are below /usr.
func (p *podman) imageOfMachine(t *testing.T) {
	t.Helper()
	dir := filepath.Join(p.dir, "machine")
	for _, name := range []string{"usr", "etc", "tmp", "proc", "sys", "dev", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		if target, err := os.Readlink("/" + name); err == nil {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tar := dir + ".tar"
	if out, err := exec.Command("tar", "-C", dir, "-cf", tar, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if out, err := exec.Command("podman", append(p.args, "import", tar, machineImage)...).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

// contained is the project of one row that is built here and in containers.
type contained struct {
	comparison
	says [2]string // the row of the page
}

func newContained(t *testing.T, tc *toolchain, p *podman, says [2]string) *contained {
	t.Helper()
	c := &contained{comparison{kitchen: newKitchen(t, tc)}, says}
	if tc.id == "go" { // programs have the path of their sources in them
		c.env = c.env.With(map[string]string{"GOFLAGS": c.env.Get("GOFLAGS") + " -trimpath"})
	}
	c.write("$HOME/.config/bento/config.toml", p.text())
	return c
}

// table returns the settings of a container with the tools and the caches of this machine.
func (c *contained) table() string {
	env := map[string]string{"PATH": c.env.Get("PATH")}
	mounts := map[string]bool{"/usr": false} // and whether the container may write there
	for _, name := range []string{"alternatives", "ssl", "java-17-openjdk", "java-21-openjdk", "php", "maven", "passwd", "group"} {
		mounts["/etc/"+name] = false
	}
	for _, dir := range toolDirs(c.t) {
		mounts[dir] = false
	}
	for _, kv := range c.env {
		name, value, _ := strings.Cut(kv, "=")
		if !ofTools.MatchString(name) {
			continue
		}
		env[name] = value
		if info, err := os.Stat(value); err == nil && filepath.IsAbs(value) && !strings.HasPrefix(value, "/usr/") {
			mounts[value] = info.IsDir()
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		c.t.Fatal(err)
	}
	mounts[filepath.Join(home, ".m2")] = true // Maven asks the system where it is

	var places, variables []string
	for _, dir := range slices.Sorted(maps.Keys(mounts)) {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		place := dir + ":" + dir
		if mounts[dir] {
			place += ":rw"
		}
		places = append(places, strconv.Quote(place))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		variables = append(variables, fmt.Sprintf("%s = %q", name, env[name]))
	}
	network := strings.HasPrefix(c.tc.id, "python") // they fetch what builds a package
	return fmt.Sprintf("[defaults]\ncontainer = { image = %q, mounts = [%s], env = { %s }, network = %t }\n",
		machineImage, strings.Join(places, ", "), strings.Join(variables, ", "), network)
}

// ofTools matches the names of variables of tools.
var ofTools = regexp.MustCompile(`(?i)_OPTS$|^GO(FLAGS|CACHE|MODCACHE|PROXY|SUMDB)$|^(COMPOSER|PIP|UV|POETRY|NPM_CONFIG|CARGO|RUSTUP|DENO|BUN|YARN|GRADLE|JAVA|PHP|BUNDLE|GEM|PYENV|SSL|REQUESTS|NODE)_|_proxy$`)

// compare builds the project here and there, and again after an edit.
func (c *contained) compare() {
	c.stamp()
	if got := c.bento("install"); got.exit != 0 {
		c.t.Fatalf("bento install exits with %d:\n%s", got.exit, got.stderr)
	}
	c.base = c.files()
	c.good()
	want := c.restore()

	c.clean()
	c.write("bento.toml", c.table())
	if out, err := c.command("container", "lock").CombinedOutput(); err != nil {
		c.t.Fatalf("bento container lock: %v\n%s", err, out)
	}
	c.base["bento.lock"] = true
	built := c.ci()
	failed := append(built.ids("failed"), built.ids("skipped")...)
	if len(failed) > 0 || built.exit != 0 {
		c.t.Logf("%v: %s", failed, built.stderr)
	}
	if d := cmp.Diff(c.says[0], c.inWords(built.ids("built"))); d != "" {
		c.t.Errorf("%s: the page (-) and the run (+): %s", c.tc.name(), d)
	}
	if len(failed) > 0 {
		return
	}
	c.wantMade(want)

	c.make(c.tc.library)
	again := c.good()
	if d := cmp.Diff(of(built.ids("built"), c.tc.lib, c.tc.app), again.ids("built")); d != "" {
		c.t.Errorf("after an edit of the library: %s", d)
	}
}

// stamp sets the time that archives have in them, in place of the present one.
func (c *contained) stamp() {
	switch c.tc.id {
	case "maven":
		c.env = c.env.With(map[string]string{"MAVEN_OPTS": c.env.Get("MAVEN_OPTS") + " -Dproject.build.outputTimestamp=2020-01-01T00:00:00Z"})
	case "gradle":
		c.write("build.gradle", c.read("build.gradle")+"\nallprojects { tasks.withType(AbstractArchiveTask).all { preserveFileTimestamps = false; reproducibleFileOrder = true } }\n")
	}
	for _, dish := range c.bento("plan").dishes() {
		text := ""
		for _, task := range dish.Tasks {
			text += "[tasks." + task.Name + "]\nenv = { SOURCE_DATE_EPOCH = \"1000000000\" }\n"
		}
		if dish.Name != "aside" {
			c.write(dish.Path+"/dish.toml", text)
		}
	}
}
