//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/sampling"
)

// hostile is a workspace full of traps. A trap that runs makes a file of its name in the directory canary.
type hostile struct {
	t            *testing.T
	base         string // the directory of all files of the test
	root, canary string
}

// lay writes all traps but those of git, each to a directory of its name, without its bento.toml: all traps
// are in one workspace.
func (c *hostile) lay() (names []string) {
	for _, tr := range traps(c.t) {
		tr.lay(c.t, ground{filepath.Join(c.root, tr.name), filepath.Join(c.canary, tr.name), filepath.Join(c.base, "outside", tr.name)})
		_ = os.Remove(filepath.Join(c.root, tr.name, "bento.toml"))
		names = append(names, tr.name)
	}
	return names
}

// program writes executables of a trap, which make the file of the trap in canary. The trap "" is the root
// of the clone.
func (c *hostile) program(trap string, names ...string) {
	for _, name := range names {
		path := filepath.Join(c.root, trap, name)
		write(c.t, c.root, filepath.Join(trap, name), strings.ReplaceAll(script, "CANARY", filepath.Join(c.canary, cmp.Or(trap, "root"))))
		if err := os.Chmod(path, 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
}

// gitTraps returns the settings of git that name a program which git starts, with the name of the trap for
// each.
func gitTraps() map[string]string {
	return map[string]string{
		"core.fsmonitor": "git-fsmonitor", "filter.evil.clean": "git-clean", "filter.evil.smudge": "git-smudge", "filter.long.process": "git-process",
		"diff.evil.command": "git-diff", "diff.evil.textconv": "git-textconv", "diff.external": "git-external", "core.pager": "git-pager",
		"core.sshCommand": "git-ssh", "credential.helper": "git-credential", "alias.ls-files": "git-alias", "core.askPass": "git-askpass",
		"alias.diff-index": "git-alias-diff", "pager.ls-files": "git-pager-ls", "core.editor": "git-editor", "gpg.program": "git-gpg",
		"core.gitProxy": "git-proxy", "core.alternateRefsCommand": "git-alternates", "merge.evil.driver": "git-merge", "submodule.x.update": "git-submodule",
		"uploadpack.packObjectsHook": "git-pack", "interactive.diffFilter": "git-interactive",
	}
}

const (
	gitHooks      = "git-hook"
	gitIncluded   = "git-included"   // a filter of a file that the configuration includes
	gitAttributes = "git-attributes" // a filter of .git/info/attributes
)

// layGit makes the clone a repository. Each setting of git that can name a program names a trap, and only git
// can read the index. layGit then changes some files.
func (c *hostile) layGit(changed ...string) (names []string) {
	git := func(args ...string) {
		cmd := exec.Command(needTool(c.t, "git"), append([]string{"-C", c.root, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			c.t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	trap := func(name string) string { return fmt.Sprintf("touch '%s'; cat", filepath.Join(c.canary, name)) }
	write(c.t, c.root, ".gitattributes", "*.json filter=evil diff=evil\n*.toml filter=long diff=evil merge=evil\n*.lock filter=included\n")
	git("init", "-q")
	git("add", "-f", ".")
	git("commit", "-qm", "one")
	git("update-index", "--split-index")
	for key, name := range gitTraps() {
		value := trap(name)
		if key == "credential.helper" || key == "submodule.x.update" || strings.HasPrefix(key, "alias.") {
			value = "!" + value
		}
		git("config", key, value)
		names = append(names, name)
	}
	write(c.t, c.root, "evil.gitconfig", fmt.Sprintf("[filter \"included\"]\n\tclean = %q\n\trequired = true\n", trap(gitIncluded)))
	git("config", "include.path", "../evil.gitconfig")
	write(c.t, c.root, ".git/info/attributes", "*.xml filter=attributes\n")
	git("config", "filter.attributes.clean", trap(gitAttributes))
	c.program(gitHooks, "post-index-change", "fsmonitor-watchman", "pre-auto-gc")
	git("config", "core.hooksPath", filepath.Join(c.root, gitHooks))
	c.change(changed...)
	return append(names, gitIncluded, gitAttributes, gitHooks)
}

// change appends a line to tracked files, so that git has to read them.
func (c *hostile) change(names ...string) {
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(c.root, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			c.t.Fatal(err)
		}
		fmt.Fprintln(f)
		f.Close()
	}
}

// lookingCommands are the command lines that only look.
func lookingCommands() []string {
	return []string{"plan", "plan --since HEAD --json", "why go_generate:build --all", "graph --format html", "doctor --json", "dish list --left-out", "box list",
		"toolchain list --json", "artifacts --json", "last", "schema plan", "completion bash", "__complete run ", "explain", "plugin list", "cache stats",
		"clean --dry-run", "init --dry-run"}
}

// newClone returns an empty workspace for traps.
func newClone(t *testing.T) *hostile {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &hostile{t: t, base: base, root: filepath.Join(base, "clone"), canary: filepath.Join(base, "canary")}
	for _, dir := range []string{c.canary, c.root, filepath.Join(base, "home"), filepath.Join(base, "tmp"), filepath.Join(base, "yarn1")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestHostileClone: commands that only look start no program of a workspace that has all traps.
func TestHostileClone(t *testing.T) {
	if testing.Short() {
		t.Skip("asks all toolchains, with strace around")
	}
	t.Parallel()
	c := newClone(t)
	write(t, c.root, "bento.toml", "")
	c.program("", "bento-adapter-evil")
	names := append(c.lay(), c.layGit("deno/deno.json", "composer_scripts/composer.json", "only_run/dish.toml", "poetry/poetry.lock", "maven_extensions/pom.xml")...)
	if len(names) < 95 {
		t.Errorf("%d traps, want 95", len(names))
	}
	for _, line := range lookingCommands() {
		c.look(t, c.root, line)
	}
}

// TestHostileGit: the git that bento runs starts no trap. The clone has no other traps, so no error ends a
// command before bento runs git.
func TestHostileGit(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	write(t, c.root, "bento.toml", "")
	files := []string{"d/a.json", "d/dish.toml", "d/a.lock", "d/a.xml"}
	for _, name := range files {
		write(t, c.root, name, "")
	}
	write(t, c.root, "d/dish.toml", "name = \"d\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"true\"\n")
	c.layGit(files...)
	for _, line := range []string{"plan", "plan --since HEAD --json", "why d:build --all", "doctor", "dish list --left-out", "clean --dry-run"} {
		if code := c.look(t, c.root, line); code != exitOK {
			t.Errorf("bento %s: exit %d", line, code)
		}
	}
}

// TestHostileDishes: commands that only look start no program of a workspace with a single trap, where bento
// cannot reuse the toolchain of another dish. It tries a sample of the traps without an expected key;
// TestLookingSpringsNoTrap tries the others.
func TestHostileDishes(t *testing.T) {
	if testing.Short() {
		t.Skip("asks all toolchains, with strace around")
	}
	t.Parallel()
	c := newClone(t)
	c.lay()
	alone := slices.DeleteFunc(traps(t), func(tr *trap) bool { return tr.key != "" })
	for _, tr := range sampling.Of(t, 20, alone) {
		write(t, c.root, filepath.Join(tr.name, "bento.toml"), "")
		c.look(t, filepath.Join(c.root, tr.name), "toolchain list")
		c.look(t, filepath.Join(c.root, tr.name), "plan")
	}
}

// look runs one command line in a directory, and reports each program of the clone that has run. It returns
// the exit code.
func (c *hostile) look(t *testing.T, dir, line string) int {
	t.Helper()
	argv := append([]string{builtBento(t)}, strings.Split(line, " ")...)
	trace := filepath.Join(c.base, "trace")
	traced := c.strace()
	if len(traced) > 0 {
		argv = slices.Concat(traced, []string{"-o", trace}, argv)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, c.environ(t, strings.Contains(dir, "yarn1"))
	if out, _ := cmd.CombinedOutput(); strings.Contains(string(out), "panic:") {
		t.Errorf("bento %s:\n%s", line, out)
	}
	ran, err := os.ReadDir(c.canary)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ran {
		_ = os.Remove(filepath.Join(c.canary, e.Name()))
		t.Errorf("bento %s: the trap %s has run", line, e.Name())
	}
	if len(traced) == 0 {
		return cmd.ProcessState.ExitCode()
	}
	for _, what := range c.started(trace) {
		t.Errorf("bento %s started %s", line, what)
	}
	return cmd.ProcessState.ExitCode()
}

// strace returns the command line of an strace that logs every started program, empty if strace is missing.
func (c *hostile) strace() []string {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return nil
	}
	argv := []string{strace, "-f", "-qq", "-s", "4096", "-e", "trace=execve,execveat"}
	for _, more := range [][]string{{"--seccomp-bpf"}, nil} {
		if args := slices.Concat(argv, more, []string{"-o", os.DevNull, "true"}); exec.Command(args[0], args[1:]...).Run() == nil {
			return append(argv, more...)
		}
	}
	return nil
}

// environ returns an environment with relative entries on PATH, which name programs of the clone. With yarn1,
// yarn is Yarn 1.
func (c *hostile) environ(t *testing.T, yarn1 bool) []string {
	path := strings.Join([]string{".", "bin", "node_modules/.bin", "", filepath.Dir(builtBento(t)), toolsPath(t), os.Getenv("PATH")}, ":")
	if yarn1 {
		_ = os.Symlink(filepath.Join(toolsPath(t), "yarn1"), filepath.Join(c.base, "yarn1", "yarn"))
		path = filepath.Join(c.base, "yarn1") + ":" + path
	}
	env := []string{"PATH=" + path, "HOME=" + filepath.Join(c.base, "home"), "TMPDIR=" + filepath.Join(c.base, "tmp"), "BENTO_CACHE_DIR=" + filepath.Join(c.base, "cache"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LANG=C.UTF-8"}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, dir := range toolHomes() {
		if os.Getenv(name) == "" {
			env = append(env, name+"="+dir)
		}
	}
	return env
}

// toolsPath returns the directory of the tools that scripts/toolchains installs.
func toolsPath(t *testing.T) string {
	out, err := exec.Command(filepath.Join("..", "..", "scripts", "toolchains"), "--path").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

var (
	execLine = regexp.MustCompile(`execve(?:at)?\((.*)(?:\) += 0| <unfinished \.\.\.>)$`)
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// started lists the programs of a trace that belong to the clone or have a file of the clone as an argument.
func (c *hostile) started(trace string) (list []string) {
	data, err := os.ReadFile(trace)
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		m := execLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		words := quoted.FindAllString(m[1], -1)
		for i, word := range words {
			text, err := strconv.Unquote(word)
			if err != nil {
				continue
			}
			fi, err := os.Stat(text)
			if strings.HasPrefix(text, c.root+"/") && err == nil && fi.Mode().IsRegular() || i == 0 && !filepath.IsAbs(text) {
				list = append(list, strings.Join(words, " "))
				break
			}
		}
	}
	return list
}

// TestTrapsAreArmed: the first program of each trap makes the file that the other tests look for.
func TestTrapsAreArmed(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	for _, name := range c.lay() {
		programs := 0
		err := filepath.WalkDir(filepath.Join(c.root, name), func(path string, e os.DirEntry, err error) error {
			fi, ierr := e.Info()
			if err != nil || ierr != nil || !fi.Mode().IsRegular() || fi.Mode()&0o100 == 0 || programs > 0 {
				return err
			}
			programs++
			return exec.Command(path).Run()
		})
		if err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(c.canary, name)); programs > 0 && err != nil {
			t.Errorf("%s ran and was not seen: %v", name, err)
		}
	}
}
