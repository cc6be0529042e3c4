package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/internal/sampling"
)

// TestToolchainsElsewhere builds the projects of TestToolchains here and on workers of buildbox-casd. The workers make what this
// machine makes, the results of both are hits for the other, and an edit runs there again, as the table of the page says. make check
// leaves it out: Go alone takes minutes.
func TestToolchainsElsewhere(t *testing.T) {
	if !sampling.All() {
		t.Skip("it takes minutes; BENTO_TEST_ALL=1 runs it")
	}
	t.Parallel()
	server := openWorkers(t)
	eachProject(t, "remote-execution.md", func(t *testing.T, tc *toolchain, says [2]string) {
		newAway(t, tc, "grpc://"+server, says).compare()
	})
}

// eachProject runs a test of each row of TestToolchains, with its row of the table of projects in a page of docs. It returns when
// all have ended.
func eachProject(t *testing.T, page string, test func(t *testing.T, tc *toolchain, says [2]string)) {
	t.Helper()
	table := projectsOf(t, page)
	t.Run("all", func(t *testing.T) {
		for _, tc := range toolchains() {
			says, ok := table[tc.name()]
			if !ok {
				t.Errorf("the table of projects lacks %s", tc.name())
			}
			t.Run(tc.name(), func(t *testing.T) {
				t.Parallel()
				adaptertest.Need(t, tc.needs...)
				test(t, &tc, says)
			})
		}
	})
}

// projectsOf returns the rows of the table of projects in a page of docs, by the name of the project: the tasks that are executed
// elsewhere, and why others are not.
func projectsOf(t *testing.T, page string) map[string][2]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n| project |")
	if !found {
		t.Fatal("the page has no table of projects")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := make(map[string][2]string)
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			rows[strings.TrimSpace(cells[1])] = [2]string{strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])}
		}
	}
	return rows
}

// openWorkers starts a server whose workers have the tools of this machine, and returns its address.
func openWorkers(t *testing.T) string {
	t.Helper()
	var flags []string
	for _, dir := range toolDirs(t) {
		flags = append(flags, "--runner-arg=--ro-bind-mount="+dir+":"+dir)
	}
	return servertest.Workers(t, flags...).GRPC
}

// toolDirs returns the directories outside of /usr where the tools of this machine are.
func toolDirs(t *testing.T) (dirs []string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".local/share/bento-tools", ".pyenv", ".rustup", ".cargo"} {
		if info, err := os.Stat(filepath.Join(home, name)); err == nil && info.IsDir() {
			dirs = append(dirs, filepath.Join(home, name))
		}
	}
	return dirs
}

// comparison is the project of one row that is built here and elsewhere.
type comparison struct {
	*kitchen
	base map[string]bool // the files of the workspace when nothing is built
}

// away is the project of one row that is built here and on workers.
type away struct {
	comparison
	server string
	says   [2]string // the row of the page
	far    []string  // the tasks that workers execute
}

func newAway(t *testing.T, tc *toolchain, server string, says [2]string) *away {
	t.Helper()
	a := &away{comparison: comparison{kitchen: newKitchen(t, tc)}, server: server, says: says}
	// rustup chooses a compiler by variables that no worker gets, and pyenv by files of the user.
	for tool, ask := range map[string][]string{"cargo": {"rustc", "--print", "sysroot"}, "python3": {"python3", "-c", "import sys; print(sys.base_prefix)"}} {
		if slices.Contains(tc.needs, tool) {
			a.env = a.env.WithPath(filepath.Join(strings.TrimSpace(a.tool(".", ask...)), "bin"))
		}
	}
	if tc.id == "go" { // programs have the path of their sources in them
		a.env = a.env.With(map[string]string{"GOFLAGS": a.env.Get("GOFLAGS") + " -trimpath"})
	}
	a.send(func(string) bool { return true })
	return a
}

// send lets workers execute the tasks with some names. Archives of gem have the time of SOURCE_DATE_EPOCH in them.
func (a *away) send(names func(string) bool) {
	for _, dish := range a.bento("plan").dishes() {
		text := ""
		for _, task := range dish.Tasks {
			if text += "[tasks." + task.Name + "]\nenv = { SOURCE_DATE_EPOCH = \"1000000000\" }\n"; names(task.Name) {
				text += "remote = true\n"
			}
		}
		if dish.Name != "aside" {
			a.write(dish.Path+"/dish.toml", text)
		}
	}
}

// compare builds the project here and there, and again after an edit. If workers execute none of its tasks, it builds nothing.
func (a *away) compare() {
	here, hereFar := a.in("here", ""), a.in("here", a.server)
	there, thereFar := a.in("there", ""), a.in("there", a.server)
	if a.env = thereFar; !a.judge() {
		return
	}
	if a.tc.id == "go" { // each of its tasks compiles the standard library there
		builds := func(name string) bool { return name == "build" }
		a.send(builds)
		a.far = slices.DeleteFunc(a.far, func(id string) bool { _, name, _ := strings.Cut(id, ":"); return !builds(name) })
	}
	if got := a.bento("install"); got.exit != 0 {
		a.t.Fatalf("bento install exits with %d:\n%s", got.exit, got.stderr)
	}
	a.base = a.files()
	a.env = here
	a.good()
	want := a.restore()
	a.env = hereFar
	a.wantMade(want)

	a.clean()
	a.env = thereFar
	built := a.good()
	if d := cmp.Diff(a.far, a.wereFar(built)); d != "" {
		a.t.Errorf("executed by workers: %s\n%s", d, built.stderr)
	}
	a.env = there
	a.wantMade(want)

	a.env = thereFar
	a.make(a.tc.library)
	again := a.good()
	if d := cmp.Diff(of(built.ids("built"), a.tc.lib, a.tc.app), again.ids("built")); d != "" {
		a.t.Errorf("after an edit of the library: %s", d)
	}
	if d := cmp.Diff(a.far, a.wereFar(again)); d != "" {
		a.t.Errorf("after an edit, executed by workers: %s\n%s", d, again.stderr)
	}
}

// in returns the environment with a cache of its own, and a server unless that is "".
func (a *away) in(cache, server string) adapters.Environ {
	return a.env.With(map[string]string{"BENTO_CACHE_DIR": filepath.Join(a.home, cache), "BENTO_REMOTE_EXEC": server})
}

// judge checks the plan against the row of the page, and reports whether workers execute any task.
func (a *away) judge() bool {
	a.t.Helper()
	reasons := make(map[string]bool)
	a.bento("plan").each(func(id string, t *servedTask) {
		switch {
		case strings.HasPrefix(id, "aside:"):
		case t.Unfit != "":
			reasons[t.Unfit] = true
		default:
			a.far = append(a.far, id)
		}
	})
	slices.Sort(a.far)
	why := strings.Join(slices.Sorted(maps.Keys(reasons)), "; ")
	if d := cmp.Diff(a.says, [2]string{a.inWords(a.far), why}); d != "" {
		a.t.Errorf("%s: the page (-) and the plan (+): %s", a.tc.name(), d)
	}
	return len(a.far) > 0
}

// inWords returns tasks of the project as the page has them.
func (c *comparison) inWords(ids []string) string {
	switch len(ids) {
	case 0:
		return "none"
	case len(c.tc.tasks):
		return "all"
	}
	return strings.Join(ids, ", ")
}

// wantMade checks that everything is a hit, which restores the same files.
func (c *comparison) wantMade(want map[string]string) {
	c.t.Helper()
	got := c.restore()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			c.t.Errorf("%s: another one, or none, is made elsewhere", name)
		}
		delete(got, name)
	}
	for name := range got {
		c.t.Errorf("%s: it is made elsewhere alone", name)
	}
}

// wereFar returns the tasks that workers have executed.
func (a *away) wereFar(s *served) (ids []string) {
	for _, id := range s.ids("built") {
		if s.task(id).Place == "remote" {
			ids = append(ids, id)
		}
	}
	return ids
}

// restore removes what is built, and returns the files that hits bring back.
func (c *comparison) restore() map[string]string {
	c.t.Helper()
	c.clean()
	c.nothingToDo()
	made := make(map[string]string)
	for name := range c.files() {
		if c.base[name] {
			continue
		}
		info, err := os.Lstat(c.path(name))
		if err != nil {
			c.t.Fatal(err)
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text += " " + c.read(name)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(c.path(name))
			text += fmt.Sprint(" to ", target, err)
		}
		made[name] = text
	}
	return made
}

// files returns the paths in the workspace, without those of bento.
func (c *comparison) files() map[string]bool {
	c.t.Helper()
	list := make(map[string]bool)
	err := fs.WalkDir(os.DirFS(c.ws), ".", func(name string, _ fs.DirEntry, err error) error {
		if name == ".bento" {
			return fs.SkipDir
		}
		list[name] = true
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return list
}

// clean removes what is built.
func (c *comparison) clean() {
	c.t.Helper()
	for name := range c.files() {
		if !c.base[name] {
			if err := os.RemoveAll(c.path(name)); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}
