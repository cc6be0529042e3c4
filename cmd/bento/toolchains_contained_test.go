package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/adaptertest"
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
	table := projectsOf(t, "containers.md")
	p := openPodman(t)
	p.imageOfMachine(t)
	t.Run("podman", func(t *testing.T) { // all projects before the store is removed
		for _, tc := range toolchains() {
			row, ok := table[tc.name()]
			if !ok {
				t.Errorf("the table of projects lacks %s", tc.name())
			}
			t.Run(tc.name(), func(t *testing.T) {
				t.Parallel()
				adaptertest.Need(t, tc.needs...)
				newContained(t, &tc, p, row).compare()
			})
		}
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

// ofTools matches the names of variables of tools.
var ofTools = regexp.MustCompile(`(?i)_OPTS$|^GOFLAGS$|^(COMPOSER|PIP|UV|POETRY|NPM_CONFIG)_|_proxy$`)

// table returns the settings of a container with the tools and the caches of this machine.
func (c *contained) table() string {
	mounts, variables := []string{"/usr:/usr"}, map[string]string{"PATH": c.env.Get("PATH")}
	for _, name := range []string{"alternatives", "ssl", "java-17-openjdk", "java-21-openjdk", "php", "maven", "passwd", "group"} {
		if _, err := os.Stat("/etc/" + name); err == nil {
			mounts = append(mounts, "/etc/"+name+":/etc/"+name)
		}
	}
	writable := map[string]bool{}
	for _, dir := range toolDirs(c.t) {
		writable[dir] = false
	}
	for _, kv := range c.env {
		name, value, _ := strings.Cut(kv, "=")
		info, err := os.Stat(value)
		switch {
		case name == "HOME" || name == "PWD" || name == "OLDPWD" || name == "PATH" || strings.HasPrefix(name, "BENTO_") || strings.HasPrefix(name, "XDG_"):
		case !filepath.IsAbs(value) && !ofTools.MatchString(name):
		case filepath.IsAbs(value) && err != nil, strings.HasPrefix(value, "/usr"), strings.HasPrefix(value, "/tmp") && !strings.HasPrefix(value, c.home), strings.HasPrefix(value, "/dev"):
		default:
			variables[name] = value
			if filepath.IsAbs(value) {
				writable[value] = info.IsDir()
			}
		}
	}
	if home, err := os.UserHomeDir(); err == nil { // Maven asks the system where it is
		if _, err := os.Stat(filepath.Join(home, ".m2")); err == nil {
			writable[filepath.Join(home, ".m2")] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(writable)) {
		if writable[dir] {
			mounts = append(mounts, dir+":"+dir+":rw")
		} else {
			mounts = append(mounts, dir+":"+dir)
		}
	}
	list, _ := json.Marshal(mounts)
	var env []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		value, _ := json.Marshal(variables[name])
		env = append(env, fmt.Sprintf("%s = %s", name, value))
	}
	network := strings.HasPrefix(c.tc.id, "python") // they fetch what builds a package
	return fmt.Sprintf("[defaults]\ncontainer = { image = %q, mounts = %s, env = { %s }, network = %t }\n", machineImage, list, strings.Join(env, ", "), network)
}

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
	where := strings.Join(built.ids("built"), ", ")
	if len(built.ids("built")) == len(c.tc.tasks) {
		where = "all"
	}
	if d := cmp.Diff(c.says[0], where); d != "" {
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
