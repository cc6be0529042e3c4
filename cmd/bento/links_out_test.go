//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/testrun"
)

// canary is the content of files outside of the workspace. It is malformed in every format, so that each parser
// would report it.
const canary = "CANARY = ( { [ <canary attr\nCANARY: CANARY\n"

// smallest is the smallest project of an adapter, and the manifest of a project that has the directory "out" as
// a member.
type smallest struct {
	files map[string]string
	names map[string]string
}

// smallestOf returns the smallest project of each of the thirteen adapters.
func smallestOf() map[string]smallest {
	json := func(text string) map[string]string { return map[string]string{"package.json": text} }
	node := func(lock, text string) smallest {
		return smallest{
			map[string]string{"package.json": `{"name": "x", "scripts": {"build": "true"}}`, lock: text},
			map[string]string{"package.json": `{"name": "y", "workspaces": ["out"], "dependencies": {"z": "file:out"}}`, lock: text},
		}
	}
	return map[string]smallest{
		"go":        {map[string]string{"go.mod": "module x\n\ngo 1.22\n"}, map[string]string{"go.mod": "module y\n\ngo 1.22\n\nrequire z v0.0.0\n\nreplace z => ./out\n", "go.work": "go 1.22\n\nuse ./out\nuse .\n"}},
		"cargo":     {map[string]string{"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\n", "src/lib.rs": ""}, map[string]string{"Cargo.toml": "[workspace]\nmembers = [\"out\"]\n[package]\nname = \"y\"\nversion = \"0.1.0\"\n[dependencies]\nz = { path = \"out\" }\n"}},
		"python-uv": {map[string]string{"pyproject.toml": "[project]\nname = \"x\"\nversion = \"1\"\n", "uv.lock": "version = 1\n"}, map[string]string{"pyproject.toml": "[project]\nname = \"y\"\nversion = \"1\"\n[tool.uv.workspace]\nmembers = [\"out\"]\n[tool.uv.sources]\nz = { path = \"out\" }\n", "uv.lock": "version = 1\n"}},
		"python":    {map[string]string{"pyproject.toml": "[project]\nname = \"x\"\nversion = \"1\"\n", "requirements.txt": ""}, map[string]string{"requirements.txt": "-r out/requirements.txt\n-e ./out\n"}},
		"ruby":      {map[string]string{"Gemfile": "source 'https://rubygems.org'\n"}, map[string]string{"Gemfile": "gem 'z', path: 'out'\ngemspec path: 'out'\neval_gemfile 'out/Gemfile'\n"}},
		"php":       {map[string]string{"composer.json": `{"name": "x/x"}`}, map[string]string{"composer.json": `{"name": "y/y", "repositories": [{"type": "path", "url": "out"}], "require": {"z/z": "*"}}`}},
		"maven":     {map[string]string{"pom.xml": "<project><groupId>g</groupId><artifactId>x</artifactId><version>1</version></project>"}, map[string]string{"pom.xml": "<project><parent><groupId>g</groupId><artifactId>p</artifactId><version>1</version><relativePath>out/pom.xml</relativePath></parent><artifactId>y</artifactId><modules><module>out</module></modules></project>"}},
		"gradle":    {map[string]string{"settings.gradle": "rootProject.name = 'x'\n", "build.gradle": ""}, map[string]string{"settings.gradle": "include 'out'\nincludeBuild 'out'\n", "build.gradle": "apply from: 'out/build.gradle'\n"}},
		"deno":      {map[string]string{"deno.json": `{"tasks": {"build": "true"}}`}, map[string]string{"deno.json": `{"workspace": ["./out"], "importMap": "./out/import_map.json"}`}},
		"bun":       node("bun.lock", "{}"),
		"node-pnpm": {map[string]string{"package.json": `{"name": "x", "scripts": {"build": "true"}}`, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, map[string]string{"package.json": json(`{"name": "y", "dependencies": {"z": "link:out"}}`)["package.json"], "pnpm-workspace.yaml": "packages: [out]\n", "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}},
		"node-yarn": node("yarn.lock", "# yarn lockfile v1\n"),
		"node-npm":  node("package-lock.json", `{"lockfileVersion": 3, "packages": {}}`),
	}
}

// settingsOf returns the names of files that adapters read besides the globs of their manifests.
func settingsOf() []string {
	return []string{
		".tool-versions", ".nvmrc", ".node-version", ".python-version", ".ruby-version", ".php-version", ".java-version", ".sdkmanrc", ".bun-version", ".deno-version", ".dvmrc",
		"rust-toolchain", "rust-toolchain.toml", ".cargo/config", ".cargo/config.toml", "go.work", "go.work.sum", "vendor/modules.txt", ".npmrc", ".yarnrc", ".yarnrc.yml",
		"pnpm-workspace.yaml", ".pnpmfile.cjs", "tsconfig.json", "tsconfig.base.json", "bunfig.toml", "jsconfig.json", "uv.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "mypy.ini", "ruff.toml", ".flake8",
		"requirements-dev.txt", "poetry.lock", "poetry.toml", "Pipfile", "Rakefile", ".rspec", ".rubocop.yml", "x.gemspec", ".bundle/config", "phpunit.xml", "phpstan.neon",
		".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml", ".mvn/wrapper/maven-wrapper.properties", "mvnw", "settings.xml", "gradle.properties", "gradlew", "gradle/wrapper/gradle-wrapper.properties", "gradle/libs.versions.toml",
		"import_map.json", "deno.jsonc", "mise.toml", ".mise.toml", "dish.toml", ".gitignore", ".env", "bento.toml",
	}
}

// namesOf returns the names of all files that an adapter reads.
func namesOf(a adapters.Adapter) []string {
	names := settingsOf()
	for _, glob := range a.Manifest().FingerprintFiles {
		name := strings.NewReplacer("**", "x", "*", "x").Replace(strings.TrimPrefix(glob, "./"))
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// linkOut replaces a file by a link to target.
func linkOut(t *testing.T, target, path string) {
	t.Helper()
	_ = os.Remove(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// TestManifestsBehindLinksOut: an adapter treats a file that is a link out of the workspace as missing. No message
// names the target, a plan does not depend on whether the target exists, and each command warns of the link.
func TestManifestsBehindLinksOut(t *testing.T) {
	if !testrun.Alone(t) {
		return
	}
	for _, a := range builtin.All(snapshot.Options{}) {
		t.Run(a.Manifest().AdapterID, func(t *testing.T) {
			t.Parallel()
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			root, outside := filepath.Join(base, "ws"), filepath.Join(base, "outside")
			small, ok := smallestOf()[a.Manifest().AdapterID]
			if !ok {
				t.Fatal("the adapter has no row in smallestOf()")
			}
			put(t, root, map[string]string{"bento.toml": "[workspace]\ndiscover = true\n"})
			put(t, filepath.Join(root, "parts"), small.names)
			linkOut(t, "../../outside", filepath.Join(root, "parts", "out"))
			names := namesOf(a)
			for i, name := range names {
				dish := filepath.Join(root, fmt.Sprintf("d%d", i))
				put(t, dish, small.files)
				linkOut(t, filepath.Join(outside, name), filepath.Join(dish, name))
			}
			plan := planner(t, base, root, "plan --json", "toolchain list")
			absent := plan()
			for _, name := range slices.Concat(names, slices.Sorted(keysOf(small.names))) {
				put(t, outside, map[string]string{name: canary})
			}
			there := plan()
			if absent != there {
				t.Errorf("what lies outside changes the plan:\n%s", diffLines(absent, there))
			}
			planner(t, base, root, "plan", "graph", "dish list", "doctor")()
			if again := plan(); again != there {
				t.Errorf("the second output differs:\n%s", diffLines(there, again))
			}
			for i, name := range names {
				if link := fmt.Sprintf("d%d/%s", i, name); slices.Contains(a.Manifest().FingerprintFiles, name) && !strings.Contains(name, "/") && warnings(there, link) != 1 {
					t.Errorf("%s is warned of %d times", link, warnings(there, link))
				}
			}
		})
	}
}

func keysOf(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// planner returns a function that runs commands that only look, in a workspace, and returns their output.
func planner(t *testing.T, base, root string, lines ...string) func() string {
	env := adapters.NewEnviron([]string{"HOME=" + base + "/home", "PATH=" + base + "/bin", "BENTO_CACHE_DIR=" + base + "/cache", "XDG_CONFIG_HOME=" + base + "/config"})
	return func() string {
		t.Helper()
		var all strings.Builder
		for _, line := range lines {
			args := strings.Fields(line)
			var out, said bytes.Buffer
			execute(t.Context(), append([]string{"-C", root}, args...), process{out: &out, err: &said, environ: env})
			if strings.Contains(out.String()+said.String(), "CANARY") {
				t.Errorf("%q shows content from outside:\n%s%s", args, out.String(), said.String())
			}
			fmt.Fprintf(&all, "$ %s\n%s%s", line, out.String(), said.String())
		}
		return all.String()
	}
}

// warnings counts the warnings about a link in the document of a plan.
func warnings(said, link string) (n int) {
	_, rest, _ := strings.Cut(said, "\n")
	var doc struct {
		Problems []diagnostics.Diagnostic `json:"problems"`
	}
	_ = json.NewDecoder(strings.NewReader(rest)).Decode(&doc)
	for _, d := range doc.Problems {
		if d.Rule == clone.RuleLink && d.File == link {
			n++
		}
	}
	return n
}

// diffLines returns the lines that are in only one of two texts.
func diffLines(a, b string) string {
	var out strings.Builder
	for _, side := range []struct{ mark, of, other string }{{"-", a, b}, {"+", b, a}} {
		for line := range strings.Lines(side.of) {
			if !strings.Contains(side.other, line) {
				out.WriteString(side.mark + line)
			}
		}
	}
	return out.String()
}

// TestManifestsOfAllKinds: chains of links, links in a directory, links to a path that is no regular file, and
// links back into the workspace.
func TestManifestsOfAllKinds(t *testing.T) {
	if !testrun.Alone(t) {
		return
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "ws")
	put(t, base, map[string]string{"outside/go.mod": canary, "outside/work/go.work": canary})
	put(t, root, map[string]string{"bento.toml": "", "real/go.mod": "module real\n\ngo 1.22\n"})
	linkOut(t, "../b/go.mod", filepath.Join(root, "a/go.mod"))
	linkOut(t, "../../outside/go.mod", filepath.Join(root, "b/go.mod"))
	linkOut(t, "/proc/self/root"+base+"/outside/go.mod", filepath.Join(root, "c/go.mod"))
	linkOut(t, "/dev/zero", filepath.Join(root, "d/go.mod"))
	linkOut(t, root+"/real/go.mod", filepath.Join(root, "e/go.mod"))
	linkOut(t, "../outside/work", filepath.Join(root, "sub"))
	put(t, root, map[string]string{"f/go.mod": "module f\n\ngo 1.22\n\nreplace z => ../sub\n\nrequire z v0.0.0\n"})
	if err := os.MkdirAll(filepath.Join(root, "g"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(base, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	linkOut(t, "../../fifo", filepath.Join(root, "g/go.mod"))
	said := planner(t, base, root, "plan --json", "plan")()
	for _, link := range []string{"b/go.mod", "c/go.mod", "d/go.mod", "g/go.mod"} {
		if warnings(said, link) != 1 {
			t.Errorf("%s is warned of %d times:\n%s", link, warnings(said, link), said)
		}
	}
	if !strings.Contains(said, `"path": "e"`) || strings.Contains(said, `"path": "a"`) {
		t.Errorf("links inside of the workspace are not followed, or others are:\n%s", said)
	}
}
