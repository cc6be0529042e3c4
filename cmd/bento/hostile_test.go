//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// clone is a workspace full of traps: whatever of it runs makes a file of the trap's
// name in the directory canary.
type clone struct {
	t            *testing.T
	base         string // of all that the test writes
	root, canary string
	trap         string // that is being laid, in a directory of its name
}

// file writes a file of the trap, in which CANARY and TRAP stand for the file that it
// makes when it runs and for its directory.
func (c *clone) file(name, text string) {
	text = strings.NewReplacer("CANARY", filepath.Join(c.canary, c.trap), "TRAP", filepath.Join(c.root, c.trap)).Replace(text)
	write(c.t, c.root, filepath.Join(c.trap, name), text)
}

// program writes an executable that notes that it runs.
func (c *clone) program(names ...string) {
	for _, name := range names {
		c.file(name, "#!/bin/sh\ntouch 'CANARY'\necho 1.2.3\n")
		if err := os.Chmod(filepath.Join(c.root, c.trap, name), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
}

// What notes that it runs, in several languages.
const (
	trapJS     = "require('fs').writeFileSync('CANARY', '')\n"
	trapPython = "open('CANARY', 'w').close()\n"
	trapRuby   = "File.write('CANARY', '')\n"
	trapPHP    = "<?php touch('CANARY');\n"
	trapGroovy = "new File('CANARY').createNewFile()\n"
	trapJava   = "-Xlog:gc:file=CANARY\n" // the file is made when the virtual machine starts
)

// tools are programs that bento or a tool may look for by name.
func tools() []string {
	return []string{"git", "go", "cargo", "rustc", "rustup", "uv", "python", "python3", "pip", "poetry", "ruby", "bundle", "php", "composer", "java",
		"mvn", "gradle", "deno", "bun", "node", "npm", "npx", "pnpm", "yarn", "corepack", "mise", "asdf", "direnv", "sh", "env", "cc", "gcc", "tsc", "eslint"}
}

// below puts a directory in front of each name.
func below(dir string, names []string) (list []string) {
	for _, name := range names {
		list = append(list, dir+"/"+name)
	}
	return list
}

// lay writes all traps but git's: by name, in the order of the names.
func (c *clone) lay() (names []string) {
	traps := make(map[string]func(*clone))
	for _, some := range []map[string]func(*clone){jvmTraps(), nodeTraps(), pythonTraps(), otherTraps()} {
		for name, lay := range some {
			traps[name] = lay
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, c.trap = range names {
		traps[c.trap](c)
	}
	return names
}

func jvmTraps() map[string]func(*clone) {
	const pom = "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>TRAPNAME</artifactId><version>1</version></project>\n"
	maven := func(c *clone) { c.file("pom.xml", strings.Replace(pom, "TRAPNAME", c.trap, 1)) }
	gradle := func(c *clone) { c.file("settings.gradle", ""); c.file("build.gradle", "plugins { id 'java' }\n") }
	return map[string]func(*clone){
		"maven-wrapper":    func(c *clone) { maven(c); c.program("mvnw") },
		"maven-jvm-config": func(c *clone) { maven(c); c.file(".mvn/jvm.config", trapJava) },
		"maven-config":     func(c *clone) { maven(c); c.file(".mvn/maven.config", "-Dmaven.ext.class.path=TRAP/x.jar\n") },
		"maven-extensions": func(c *clone) {
			maven(c)
			c.file(".mvn/extensions.xml", "<extensions><extension><groupId>x</groupId><artifactId>y</artifactId><version>1</version></extension></extensions>\n")
		},
		"gradle-wrapper": func(c *clone) { gradle(c); c.program("gradlew") },
		"gradle-jvmargs": func(c *clone) { gradle(c); c.file("gradle.properties", "org.gradle.jvmargs="+trapJava) },
		"gradle-java-home": func(c *clone) {
			gradle(c)
			c.file("gradle.properties", "org.gradle.java.home=TRAP/jdk\n")
			c.program("jdk/bin/java", "jdk/bin/javac")
		},
		"gradle-settings": func(c *clone) { c.file("settings.gradle", trapGroovy); c.file("build.gradle", trapGroovy) },
		"gradle-init": func(c *clone) {
			gradle(c)
			for _, name := range []string{"init.gradle", "init.d/x.gradle", ".gradle/init.gradle", "buildSrc/build.gradle"} {
				c.file(name, trapGroovy)
			}
		},
		"jvm-options": func(c *clone) {
			maven(c)
			for _, name := range []string{".mavenrc", "JDK_JAVA_OPTIONS", ".jvmopts", ".java-version", ".sdkmanrc"} {
				c.file(name, trapJava)
			}
		},
	}
}

func nodeTraps() map[string]func(*clone) {
	manifest := func(c *clone, more string) {
		c.file("package.json", fmt.Sprintf(`{"name": %q, "scripts": {"build": "touch CANARY", "preinstall": "touch CANARY", "test": "touch CANARY"}%s}`, c.trap, more))
	}
	locked := func(c *clone, lock string) {
		manifest(c, "")
		c.file(lock, "")
	}
	return map[string]func(*clone){
		"yarn-path": func(c *clone) {
			locked(c, "yarn.lock")
			c.file(".yarnrc.yml", "yarnPath: ./yarn.cjs\n")
			c.file("yarn.cjs", trapJS)
		},
		"yarn-plugins": func(c *clone) {
			locked(c, "yarn.lock")
			c.file(".yarnrc.yml", "plugins:\n  - ./p.cjs\n")
			c.file("p.cjs", trapJS)
		},
		"yarn1-path": func(c *clone) {
			locked(c, "yarn.lock")
			c.file(".yarnrc", "yarn-path \"./yarn.js\"\n")
			c.file("yarn.js", trapJS)
		},
		"pnpmfile": func(c *clone) { locked(c, "pnpm-lock.yaml"); c.file(".pnpmfile.cjs", trapJS) },
		"pnpm-workspace": func(c *clone) {
			locked(c, "pnpm-lock.yaml")
			c.file("pnpm-workspace.yaml", "packages: []\npnpmfile: ./p.cjs\nnodeVersion: 1.0.0\n")
			c.file("p.cjs", trapJS)
		},
		"package-manager": func(c *clone) {
			manifest(c, `, "packageManager": "pnpm@file:./p.tgz"`)
			c.file("pnpm-lock.yaml", "")
		},
		"npmrc": func(c *clone) {
			locked(c, "package-lock.json")
			c.file(".npmrc", "node-options=--require TRAP/x.cjs\nscript-shell=TRAP/sh\nprefix=TRAP\n")
			c.file("x.cjs", trapJS)
			c.program("sh")
		},
		"bunfig": func(c *clone) {
			locked(c, "bun.lock")
			c.file("bunfig.toml", "preload = [\"./x.cjs\"]\n")
			c.file("x.cjs", trapJS)
		},
		"node-bin": func(c *clone) { manifest(c, ""); c.program(below("node_modules/.bin", tools())...) },
		"eslintrc": func(c *clone) {
			manifest(c, `, "devDependencies": {"eslint": "1", "prettier": "1", "typescript": "1"}`)
			for _, name := range []string{".eslintrc.js", ".eslintrc.cjs", "eslint.config.js", "vite.config.js", ".prettierrc.js", "jest.config.js"} {
				c.file(name, trapJS)
			}
		},
		"nvmrc": func(c *clone) {
			manifest(c, "")
			c.file(".nvmrc", "TRAP/node\n")
			c.file(".node-version", "../../node\n")
			c.program("node")
		},
		"deno": func(c *clone) {
			c.file("deno.json", `{"tasks": {"build": "touch CANARY"}, "imports": {"x": "./x.ts"}}`)
			c.file("x.ts", "")
		},
	}
}

func pythonTraps() map[string]func(*clone) {
	project := func(c *clone) {
		c.file("pyproject.toml", fmt.Sprintf("[project]\nname = %q\nversion = \"1\"\n[build-system]\nrequires = []\nbuild-backend = \"back\"\nbackend-path = [\".\"]\n", c.trap))
		c.file("back.py", trapPython)
	}
	return map[string]func(*clone){
		"python-version": func(c *clone) {
			project(c)
			c.file("uv.lock", "")
			c.file(".python-version", "TRAP/python\n")
			c.program("python")
		},
		"venv": func(c *clone) {
			project(c)
			c.program(".venv/bin/python", ".venv/bin/python3", ".venv/bin/pip")
			c.file(".venv/pyvenv.cfg", "home = TRAP\n")
		},
		"uv-venv": func(c *clone) {
			project(c)
			c.file("uv.lock", "")
			c.program(".venv/bin/python", ".venv/bin/python3")
			c.file(".venv/pyvenv.cfg", "home = TRAP\n")
		},
		"uv-settings": func(c *clone) {
			project(c)
			c.file("uv.lock", "")
			c.file("uv.toml", "python-install-mirror = \"file://TRAP\"\n")
		},
		"sitecustomize": func(c *clone) {
			project(c)
			for _, name := range []string{"sitecustomize.py", "usercustomize.py", "site.py", "platform.py", "sys.py", "pip.py", "venv.py"} {
				c.file(name, trapPython)
			}
		},
		"setup-py": func(c *clone) {
			c.file("setup.py", trapPython+"from setuptools import setup\nsetup(name='x')\n")
			c.file("setup.cfg", "[metadata]\nname = x\n")
		},
		"conftest": func(c *clone) {
			project(c)
			c.file("conftest.py", trapPython)
			c.file("noxfile.py", trapPython)
			c.file("requirements-dev.txt", "pytest\n")
		},
		"poetry": func(c *clone) {
			project(c)
			c.file("poetry.lock", "")
			c.file("poetry.toml", "[virtualenvs]\npath = \"TRAP\"\n")
		},
	}
}

func otherTraps() map[string]func(*clone) {
	crate := func(c *clone) {
		c.file("Cargo.toml", fmt.Sprintf("[package]\nname = %q\nversion = \"1.0.0\"\n[workspace]\n", c.trap))
		c.file("src/lib.rs", "")
	}
	module := func(c *clone, more string) {
		c.file("go.mod", "module example.com/x\n\ngo 1.21\n"+more)
		c.file("x.go", "package x\n\n//go:generate touch CANARY\n")
	}
	gems := func(c *clone) { c.file("Gemfile", trapRuby); c.file("Gemfile.lock", "GEM\n  specs:\n") }
	return map[string]func(*clone){
		"rust-toolchain": func(c *clone) {
			crate(c)
			c.file("rust-toolchain.toml", "[toolchain]\npath = \"TRAP/tc\"\n")
			c.program("tc/bin/rustc", "tc/bin/cargo")
		},
		"rust-toolchain-relative": func(c *clone) {
			crate(c)
			c.file("rust-toolchain", "./tc\n")
			c.program("tc/bin/rustc", "tc/bin/cargo")
		},
		"cargo-config": func(c *clone) {
			crate(c)
			c.file(".cargo/config.toml", "[build]\nrustc = \"TRAP/r\"\nrustc-wrapper = \"TRAP/r\"\n[alias]\nversion = [\"run\"]\n[target.'cfg(all())']\nrunner = \"TRAP/r\"\n")
			c.program("r")
		},
		"build-rs": func(c *clone) {
			crate(c)
			c.file("build.rs", "fn main() { std::fs::write(\"CANARY\", \"\").unwrap() }\n")
		},
		"go-toolchain": func(c *clone) {
			module(c, "toolchain go1.99.0-evil\n")
			c.file("go.env", "GOFLAGS=-toolexec=TRAP/t\n")
			c.program("t")
		},
		"go-generate": func(c *clone) { module(c, "") },
		"gemfile": func(c *clone) {
			gems(c)
			c.file("Rakefile", trapRuby)
			c.file(".rubocop.yml", "require: ./x.rb\n")
			c.file("x.rb", trapRuby)
		},
		"gemspec": func(c *clone) {
			gems(c)
			c.file("x.gemspec", trapRuby)
			c.file(".rspec", "--require ./x.rb\n")
			c.file("x.rb", trapRuby)
		},
		"bundle-config": func(c *clone) {
			gems(c)
			c.file(".bundle/config", "---\nBUNDLE_RUBYOPT: \"-rTRAP/x.rb\"\nBUNDLE_PATH: \"TRAP\"\n")
			c.file("x.rb", trapRuby)
			c.file(".irbrc", trapRuby)
		},
		"ruby-version": func(c *clone) { gems(c); c.file(".ruby-version", "TRAP/ruby\n"); c.program("ruby") },
		"composer": func(c *clone) {
			c.file("composer.json", `{"name": "x/y", "scripts": {"pre-command-run": "touch CANARY", "command": "touch CANARY", "test": "touch CANARY"}, "autoload": {"files": ["x.php"]}, "config": {"allow-plugins": true}}`)
			c.file("x.php", trapPHP)
			c.file("vendor/autoload.php", trapPHP)
			c.program("vendor/bin/phpunit", "vendor/bin/phpstan", "composer.phar")
		},
		"user-ini": func(c *clone) {
			c.file("composer.json", `{"name": "x/z"}`)
			for _, name := range []string{".user.ini", "php.ini", "php-cli.ini"} {
				c.file(name, "auto_prepend_file = \"TRAP/x.php\"\n")
			}
			c.file("x.php", trapPHP)
		},
		"tool-versions": func(c *clone) {
			module(c, "")
			c.file(".tool-versions", "golang path:TRAP\nnodejs ref:x\npython path:TRAP\n")
			c.program(below("bin", tools())...)
		},
		"mise": func(c *clone) {
			module(c, "")
			c.file("mise.toml", "[env]\n_.source = \"./env.sh\"\nPATH = \"TRAP/bin\"\n[hooks]\nenter = \"touch CANARY\"\ncd = \"touch CANARY\"\n")
			c.file("env.sh", "touch CANARY\n")
			c.program(below("bin", tools())...)
		},
		"envrc": func(c *clone) {
			module(c, "")
			c.file(".envrc", "touch CANARY\n")
			c.file(".env", "PATH=TRAP/bin\nLD_PRELOAD=TRAP/x.so\nBASH_ENV=TRAP/.envrc\n")
		},
		"makefile": func(c *clone) {
			c.file("Makefile", "X := $(shell touch CANARY)\nall:\n\ttouch CANARY\n")
			c.file("justfile", "x := `touch CANARY`\n")
			module(c, "")
		},
		"adapter": func(c *clone) {
			module(c, "")
			c.program("bento-adapter-evil", "bin/bento-adapter-evil", ".bento/bin/bento-adapter-evil", "node_modules/.bin/bento-adapter-evil")
		},
		"dish-env": func(c *clone) {
			module(c, "")
			c.program(below("bin", tools())...)
			c.file("dish.toml", "[tasks.build]\nrun = \"touch CANARY\"\nenv = { PATH = \"TRAP/bin\", LD_PRELOAD = \"TRAP/x.so\", BASH_ENV = \"TRAP/x\", GOROOT = \"TRAP\", NODE_OPTIONS = \"--require TRAP/x.js\" }\nenv_files = [\".env\"]\n")
			c.file(".env", "PATH=TRAP/bin\nRUBYOPT=-rTRAP/x.rb\n")
		},
		"only-run": func(c *clone) {
			c.file("dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"touch CANARY\"\n[tasks.serve]\nrun = \"touch CANARY\"\npersistent = true\n")
		},
	}
}

// layGit makes the clone a repository whose configuration names a program wherever git
// would start one, and whose index needs git to be read.
func (c *clone) layGit() (names []string) {
	git := func(args ...string) {
		cmd := exec.Command(needTool(c.t, "git"), append([]string{"-C", c.root, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			c.t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write(c.t, c.root, ".gitattributes", "*.json filter=evil diff=evil\n*.toml filter=long diff=evil\n")
	git("init", "-q")
	git("add", "-f", ".")
	git("commit", "-qm", "one")
	git("update-index", "--split-index")
	for key, name := range map[string]string{
		"core.fsmonitor": "git-fsmonitor", "filter.evil.clean": "git-clean", "filter.evil.smudge": "git-smudge", "filter.long.process": "git-process",
		"diff.evil.command": "git-diff", "diff.evil.textconv": "git-textconv", "diff.external": "git-external", "core.pager": "git-pager",
		"core.sshCommand": "git-ssh", "credential.helper": "git-credential", "alias.ls-files": "git-alias", "core.askPass": "git-askpass",
	} {
		value := fmt.Sprintf("touch '%s'; cat", filepath.Join(c.canary, name))
		if key == "credential.helper" || strings.HasPrefix(key, "alias.") {
			value = "!" + value
		}
		git("config", key, value)
		names = append(names, name)
	}
	c.trap = "git-hook"
	c.program("post-index-change", "fsmonitor-watchman", "pre-auto-gc")
	git("config", "core.hooksPath", filepath.Join(c.root, c.trap))
	for _, name := range []string{"deno/deno.json", "composer/composer.json", "only-run/dish.toml"} {
		f, err := os.OpenFile(filepath.Join(c.root, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			c.t.Fatal(err)
		}
		fmt.Fprintln(f)
		f.Close()
	}
	return append(names, c.trap)
}

// notYet are the traps that bento still falls into.
func notYet() []string {
	return []string{"gradle-wrapper", "maven-jvm-config", "maven-wrapper", "python-version", "rust-toolchain", "yarn-path", "yarn-plugins", "yarn1-path"}
}

// lookingCommands are the command lines that only look.
func lookingCommands() []string {
	return []string{"plan", "plan --since HEAD --json", "why go-generate:build --all", "graph --format html", "doctor --json", "dish list --left-out", "box list",
		"toolchain list --json", "artifacts --json", "last", "schema plan", "completion bash", "__complete run ", "explain", "plugin list", "cache stats",
		"clean --dry-run", "init --dry-run"}
}

// newClone lays the traps in a workspace of their own.
func newClone(t *testing.T) *clone {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &clone{t: t, base: base, root: filepath.Join(base, "clone"), canary: filepath.Join(base, "canary")}
	for _, dir := range []string{c.canary, c.root, filepath.Join(base, "home"), filepath.Join(base, "tmp"), filepath.Join(base, "yarn1")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestHostileClone: commands that only look start nothing of a workspace that holds all
// the traps.
func TestHostileClone(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	write(t, c.root, "bento.toml", "")
	c.program("bento-adapter-evil")
	names := append(c.lay(), c.layGit()...)
	if len(names) < 40 {
		t.Errorf("%d traps, want 40", len(names))
	}
	for _, line := range lookingCommands() {
		c.look(t, c.root, line)
	}
}

// TestHostileDishes: nor do they of any workspace that holds one of them, where no other
// dish has the answer already.
func TestHostileDishes(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	for _, name := range c.lay() {
		write(t, c.root, filepath.Join(name, "bento.toml"), "")
		c.look(t, filepath.Join(c.root, name), "toolchain list")
		c.look(t, filepath.Join(c.root, name), "plan")
	}
}

// look runs one command line in a directory, and reports what of the clone has run.
func (c *clone) look(t *testing.T, dir, line string) {
	t.Helper()
	argv := append([]string{needTool(t, "bento")}, strings.Split(line, " ")...)
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
		if !slices.Contains(notYet(), e.Name()) {
			t.Errorf("bento %s: the trap %s has run", line, e.Name())
		}
	}
	if len(traced) == 0 {
		return
	}
	for _, what := range c.started(trace) {
		if !slices.ContainsFunc(notYet(), func(name string) bool { return strings.Contains(what, "/"+name+"/") }) {
			t.Errorf("bento %s started %s", line, what)
		}
	}
}

// strace returns the command line that notes every program that is started, empty where
// there is none.
func (c *clone) strace() []string {
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

// environ has relative entries on PATH, which name programs of the clone.
// With yarn1, yarn is the version 1 of it.
func (c *clone) environ(t *testing.T, yarn1 bool) []string {
	path := strings.Join([]string{".", "bin", "node_modules/.bin", "", filepath.Dir(needTool(t, "bento")), toolsPath(t), os.Getenv("PATH")}, ":")
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

// started lists the programs that a trace says were started and that are the clone's,
// or are given a file of the clone.
func (c *clone) started(trace string) (list []string) {
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

// TestTrapsAreArmed: a trap that runs is seen.
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
