package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func all(env ...string) map[string]*Adapter {
	byID := make(map[string]*Adapter)
	for _, a := range All(snapshot.Options{Env: adaptertest.Env(env...)}) {
		byID[a.Manifest().AdapterID] = a.(*Adapter)
	}
	return byID
}

// TestWhose: exactly one adapter of the family takes each directory.
func TestWhose(t *testing.T) {
	root := adaptertest.Project(t, `
-- pnpm/package.json --
{"workspaces": ["x/*"]}
-- pnpm/pnpm-workspace.yaml --
packages: [p/*]
-- pnpm/p/a/package.json --
{}
-- pnpm/x/a/package.json --
{}
-- settings/package.json --
{}
-- settings/pnpm-workspace.yaml --
onlyBuiltDependencies: []
-- yarn/package.json --
{"packageManager": "yarn@4.1.0+sha512.ab", "workspaces": ["*"]}
-- yarn/a/package.json --
{}
-- yarn/a/package-lock.json --
{}
-- bun/package.json --
{}
-- bun/bun.lockb --
-- dev/package.json --
{"devEngines": {"packageManager": {"name": "bun"}}}
-- both/package.json --
{}
-- both/package-lock.json --
{}
-- both/pnpm-workspace.yaml --
-- odd/package.json --
{"packageManager": 7}
`)
	for dir, want := range map[string]string{
		"pnpm": "node-pnpm", "pnpm/p/a": "node-pnpm", "pnpm/x/a": "node-pnpm", "settings": "node-pnpm",
		"yarn": "node-yarn", "yarn/a": "node-yarn", "bun": "bun", "dev": "bun",
		"both": "node-npm", "odd": "node-npm",
	} {
		var got []string
		for id, a := range all() {
			if yes, err := a.Detect(t.Context(), filepath.Join(root, dir)); yes && err == nil {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %s", dir, got, want)
		}
	}
	// pnpm does not heed "workspaces".
	scope, err := all()["node-pnpm"].InstallScope(t.Context(), filepath.Join(root, "pnpm/x/a"))
	if err != nil || scope.Dir != filepath.Join(root, "pnpm/x/a") {
		t.Errorf("%+v, %v", scope, err)
	}
}

func TestCommands(t *testing.T) {
	const scripts = `{"scripts": {"build": "x", "test": "x", "lint": "x", "check": "x", "e2e": "x"}}`
	for id, want := range map[string]map[string]string{
		"node-npm":  {"build": "npm run build", "check": "npm run check", "lint": "npm run lint", "test": "npm test", "e2e": "(npm run e2e)"},
		"node-pnpm": {"build": "pnpm run build", "check": "pnpm run check", "lint": "pnpm run lint", "test": "pnpm test", "e2e": "(pnpm run e2e)"},
		"node-yarn": {"build": "yarn build", "check": "yarn run check", "lint": "yarn lint", "test": "yarn test", "e2e": "(yarn run e2e)"},
		"bun":       {"build": "bun run build", "check": "bun run check", "lint": "bun run lint", "test": "bun run test", "e2e": "(bun run e2e)"},
	} {
		root := adaptertest.Project(t, "-- package.json --\n"+scripts)
		if diff := cmp.Diff(want, adaptertest.Runs(t, all()[id], root)); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
}

// TestBunTests: bun finds tests without a script.
func TestBunTests(t *testing.T) {
	for archive, want := range map[string]bool{
		"-- src/deep/a.test.ts --":                        true,
		"-- a_spec.jsx --":                                true,
		"-- a.ts --\n-- node_modules/x/x.test.js --":      false,
		"-- sub/package.json --\n{}\n-- sub/a.test.ts --": false,
		"-- .hidden/a.test.ts --":                         false,
	} {
		root := adaptertest.Project(t, "-- package.json --\n{}\n"+archive+"\n")
		if _, got := adaptertest.Runs(t, all()["bun"], root)["test"]; got != want {
			t.Errorf("%q: %v", archive, got)
		}
	}
}

func TestInstallCommands(t *testing.T) {
	const deps = "-- package.json --\n{\"dependencies\": {\"a\": \"1\"}}\n"
	for _, tt := range []struct {
		id, files, command string
		made               []string
	}{
		{"node-pnpm", "", "pnpm install --no-lockfile", []string{"node_modules/.modules.yaml"}},
		{"node-pnpm", "-- pnpm-lock.yaml --\n", "pnpm install --no-lockfile", []string{"node_modules/.modules.yaml"}},
		{"node-pnpm", "-- pnpm-lock.yaml --\nlockfileVersion: '9.0'\n", "pnpm install --frozen-lockfile", []string{"node_modules/.modules.yaml"}},
		{"bun", "-- bun.lock --\n{}\n", "bun install --frozen-lockfile", []string{"node_modules"}},
		{"bun", "-- bun.lockb --\nx\n", "bun install --frozen-lockfile", []string{"node_modules"}},
		{"bun", "", "bun install --no-save", []string{"node_modules"}},
		{"node-yarn", "", "yarn install", nil},
		{"node-yarn", "-- yarn.lock --\n# yarn lockfile v1\n", "yarn install --frozen-lockfile --non-interactive", []string{"node_modules/.yarn-integrity"}},
		{"node-yarn", "-- yarn.lock --\n__metadata:\n  version: 8\n", "yarn install --immutable", []string{".pnp.cjs"}},
		{"node-yarn", "-- yarn.lock --\n-- .yarnrc.yml --\nnodeLinker: node-modules\n", "yarn install --no-immutable", []string{"node_modules/.yarn-state.yml"}},
		{"node-yarn", "-- .yarnrc.yml --\nnodeLinker: pnpm\n", "yarn install --no-immutable", []string{"node_modules"}},
		{"node-npm", "-- package-lock.json --\n{}\n", "npm ci", []string{"node_modules/.package-lock.json"}},
	} {
		s, err := all()[tt.id].InstallScope(t.Context(), adaptertest.Project(t, deps+tt.files))
		if err != nil || s.Command != tt.command || s.Nothing {
			t.Errorf("%s, %q: %+v, %v", tt.id, tt.files, s, err)
		}
		if diff := cmp.Diff(tt.made, s.Made); diff != "" {
			t.Errorf("%s, %q: %s", tt.id, tt.files, diff)
		}
	}
	root := adaptertest.Project(t, deps+"-- package-lock.json --\n{}\n")
	for env, want := range map[string]string{"NODE_ENV=production": "NODE_ENV=production npm ci", "npm_config_omit=dev": "npm_config_omit=dev npm ci", "YARN_NODE_LINKER=pnp": "npm ci"} {
		if s, err := all(env)["node-npm"].InstallScope(t.Context(), root); err != nil || s.Command != want {
			t.Errorf("%s: %q, %v", env, s.Command, err)
		}
	}
	// The later yarns run nothing that is not installed.
	bare := adaptertest.Project(t, "-- package.json --\n{}\n-- yarn.lock --\n__metadata:\n  version: 8\n")
	if s, err := all()["node-yarn"].InstallScope(t.Context(), bare); err != nil || s.Nothing {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestRecordedDirectories: what members have of their own is missed, too.
func TestRecordedDirectories(t *testing.T) {
	root := adaptertest.Project(t, "-- package.json --\n{}\n-- pnpm-workspace.yaml --\npackages: [p/*]\n-- p/a/package.json --\n{}\n-- node_modules/.bento-installed --\np/a/node_modules\n")
	s, err := all()["node-pnpm"].InstallScope(t.Context(), filepath.Join(root, "p/a"))
	if diff := cmp.Diff([]string{"node_modules/.modules.yaml", "p/a/node_modules"}, s.Made); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestFilesThatDecideAnInstall(t *testing.T) {
	for id, want := range map[string][]string{
		"node-npm":  {".npmrc", "patches/x.patch"},
		"node-pnpm": {".npmrc", "pnpm-workspace.yaml", ".pnpmfile.cjs", "patches/x.patch"},
		"node-yarn": {".npmrc", ".yarnrc.yml", ".yarnrc", ".yarn/patches/y.patch", ".yarn/plugins/z.cjs"},
		"bun":       {".npmrc", "bunfig.toml"},
	} {
		root := adaptertest.Project(t, "-- package.json --\n{\"workspaces\": [\"a\"]}\n-- a/package.json --\n{\"scripts\": {\"build\": \"x\"}}\n-- patches/x.patch --\n-- .yarn/patches/y.patch --\n-- .yarn/plugins/z.cjs --\n")
		if id == "node-pnpm" {
			adaptertest.Write(t, filepath.Join(root, "pnpm-workspace.yaml"), "packages: [a]\n")
		}
		a, dir := all()[id], filepath.Join(root, "a")
		s, err := a.InstallScope(t.Context(), dir)
		if err != nil || s.Dir != root {
			t.Fatalf("%s: %+v, %v", id, s, err)
		}
		build := adaptertest.Task(t, a, dir, "build")
		for _, name := range append(want, "package.json", a.locks[0]) {
			path := filepath.Join(root, filepath.FromSlash(name))
			if !slices.Contains(s.Files, path) || !slices.Contains(build.ExtraInputs, path) {
				t.Errorf("%s: %s is not among\n%s\nor\n%s", id, name, strings.Join(s.Files, "\n"), strings.Join(build.ExtraInputs, "\n"))
			}
		}
		if !slices.Contains(s.Files, filepath.Join(dir, "package.json")) {
			t.Errorf("%s: the member's manifest is missing", id)
		}
	}
}

// TestProtocols: every way to name another package of the workspace.
func TestProtocols(t *testing.T) {
	root := adaptertest.Project(t, `
-- package.json --
{"resolutions": {"replaced": "portal:./vendor/replaced"}, "overrides": {"other": "1.0.0"}}
-- pnpm-workspace.yaml --
packages: ["packages/*"]
overrides:
  swapped: link:vendor/swapped
-- packages/app/package.json --
{
  "name": "app",
  "dependencies": {
    "any": "workspace:*",
    "alias": "workspace:real@^1.0.0",
    "near": "workspace:../near",
    "placed": "workspace:packages/placed",
    "listed": "catalog:",
    "ranged": "^1.0.0",
    "linked": "link:../../linked",
    "filed": "file:../filed",
    "portal": "portal:../portal::locator=app",
    "replaced": "1.0.0", "swapped": "1.0.0",
    "git": "github:a/b", "npm": "npm:x@1", "url": "https://x.invalid/a.tgz", "tgz": "file:x.tgz",
    "app": "workspace:*"
  },
  "devDependencies": {"dev": "workspace:^"}
}
`)
	dir := filepath.Join(root, "packages/app")
	at := func(line int, l adapters.Link) adapters.Link {
		l.File, l.Line = "packages/app/package.json", line
		return l
	}
	want := []adapters.Link{
		at(4, adapters.Link{Package: "npm:ROOT:any"}),
		at(5, adapters.Link{Package: "npm:ROOT:real"}),
		at(6, adapters.Link{Dir: "packages/near"}),
		at(7, adapters.Link{Dir: "packages/placed"}),
		at(8, adapters.Link{Package: "npm:ROOT:listed"}),
		at(9, adapters.Link{Package: "npm:ROOT:ranged"}),
		at(10, adapters.Link{Dir: "linked"}),
		at(11, adapters.Link{Dir: "packages/filed"}),
		at(12, adapters.Link{Dir: "packages/portal"}),
		at(13, adapters.Link{Dir: "vendor/replaced"}),
		at(13, adapters.Link{Dir: "vendor/swapped"}),
		at(17, adapters.Link{Package: "npm:ROOT:dev", Dev: true}),
	}
	if diff := cmp.Diff(want, adaptertest.Links(t, all()["node-pnpm"], root, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestNestedYarnWorkspaces: the outermost root is the one that is installed, unless
// there is a lockfile in between.
func TestNestedYarnWorkspaces(t *testing.T) {
	root := adaptertest.Project(t, `
-- package.json --
{"workspaces": ["a"], "packageManager": "yarn@4.0.0"}
-- a/package.json --
{"workspaces": ["b"]}
-- a/b/package.json --
{}
`)
	a := all()["node-yarn"]
	if s, err := a.InstallScope(t.Context(), filepath.Join(root, "a/b")); err != nil || s.Dir != root {
		t.Errorf("%+v, %v", s, err)
	}
	adaptertest.Write(t, filepath.Join(root, "a/yarn.lock"), "")
	a = all()["node-yarn"] // one trusts what it saw for a second
	if s, err := a.InstallScope(t.Context(), filepath.Join(root, "a/b")); err != nil || s.Dir != filepath.Join(root, "a") {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestLockDigest(t *testing.T) {
	for _, tt := range []struct{ id, fixture, lock, app, lib string }{
		{"node-npm", "node-npm", "package-lock.json", "sha512-sGkPx", "sha512-41Cif"},
		{"node-pnpm", "node-pnpm", "pnpm-lock.yaml", "sha512-sGkPx", "sha512-41Cif"},
		{"node-yarn", "node-yarn", "yarn.lock", "10c0/a437714e2f90dbf", "10c0/b4686d0d3053146"},
		{"bun", "bun", "bun.lock", "sha512-sGkPx", "sha512-41Cif"},
	} {
		t.Run(tt.id, func(t *testing.T) {
			root := adaptertest.Fixture(t, tt.fixture)
			a := all()[tt.id]
			digest := func(member string) string {
				l := adaptertest.Lock(t, a, root, filepath.Join(root, "packages", member))
				if l.File != tt.lock || l.Digest == "" || l.Whole != "" {
					t.Fatalf("%+v", l)
				}
				return l.Digest
			}
			app, lib := digest("app"), digest("lib")
			lock := filepath.Join(root, tt.lock)
			adaptertest.Replace(t, lock, tt.app, "X"+tt.app)
			if digest("app") == app || digest("lib") != lib {
				t.Error("a change of what the application depends on is not only its own")
			}
			adaptertest.Replace(t, lock, "X"+tt.app, tt.app)
			adaptertest.Replace(t, lock, tt.lib, "X"+tt.lib)
			if digest("app") == app || digest("lib") == lib {
				t.Error("a change of what the library depends on is not that of both")
			}
		})
	}
}

func TestLockDigestOfYarn1(t *testing.T) {
	const lock = "# yarn lockfile v1\n\n\nms@^2.0.0:\n  version \"2.1.2\"\n  integrity sha512-ms\n\nleft@1:\n  version \"1.0.0\"\n  integrity sha512-left\n\ntool@1:\n  version \"1.0.0\"\n  integrity sha512-tool\n"
	root := adaptertest.Project(t, `
-- package.json --
{"private": true, "workspaces": ["p/*"], "devDependencies": {"tool": "1"}}
-- p/app/package.json --
{"name": "app", "dependencies": {"lib": "1.0.0"}}
-- p/lib/package.json --
{"name": "lib", "version": "1.0.0", "dependencies": {"ms": "^2.0.0"}, "devDependencies": {"app": "*"}}
-- p/other/package.json --
{"name": "other", "dependencies": {"left": "1"}}
-- yarn.lock --
`+lock)
	a := all()["node-yarn"]
	digests := func() (list [3]string) {
		for i, member := range []string{"app", "lib", "other"} {
			list[i] = adaptertest.Lock(t, a, root, filepath.Join(root, "p", member)).Digest
		}
		return list
	}
	before := digests()
	for pkg, want := range map[string][3]bool{"ms": {true, true, false}, "left": {false, false, true}, "tool": {true, true, true}} {
		adaptertest.Write(t, filepath.Join(root, "yarn.lock"), strings.Replace(lock, "sha512-"+pkg, "sha512-x"+pkg, 1))
		after := digests()
		for i := range after {
			if (after[i] != before[i]) != want[i] {
				t.Errorf("%s: member %d: changed is %v", pkg, i, !want[i])
			}
		}
	}
}

func TestLockfilesThatCountWhole(t *testing.T) {
	const workspace = "-- package.json --\n{\"workspaces\": [\"a\"]}\n-- pnpm-workspace.yaml --\npackages: [a]\n"
	for _, tt := range []struct{ id, files, file, whole string }{
		{"node-npm", "-- package-lock.json --\n{\"lockfileVersion\": 9}", "package-lock.json", `npm lockfile version "9" is not known`},
		{"node-pnpm", "-- pnpm-lock.yaml --\nlockfileVersion: '12.0'", "pnpm-lock.yaml", `pnpm lockfile version "12.0" is not known`},
		{"node-pnpm", "-- pnpm-lock.yaml --\na: [", "pnpm-lock.yaml", "pnpm-lock.yaml:1: not valid YAML"},
		{"node-yarn", "-- yarn.lock --\n__metadata:\n  version: 99", "yarn.lock", `yarn lockfile version "99" is not known`},
		{"node-yarn", "-- yarn.lock --\n<<<<<<< HEAD", "yarn.lock", "line 1 is not in the layout of yarn"},
		{"bun", "-- bun.lock --\n{\"lockfileVersion\": 7}", "bun.lock", `bun lockfile version "7" is not known`},
		{"bun", "-- bun.lockb --\nx", "bun.lockb", "bun.lockb is not text"},
		{"node-npm", "-- npm-shrinkwrap.json --\n{\"lockfileVersion\": 3, \"packages\": {}}", "npm-shrinkwrap.json", `does not name the member "." yet`},
		{"node-npm", "", "", ""},
	} {
		root := adaptertest.Project(t, workspace+tt.files+"\n")
		l := adaptertest.Lock(t, all()[tt.id], root, root)
		if l.File != tt.file || l.Digest != "" || !strings.Contains(l.Whole, tt.whole) || (l.Whole == "") != (tt.whole == "") {
			t.Errorf("%q: %+v", tt.files, l)
		}
	}
	// One that is too large to be read is an input like any file.
	root := adaptertest.Project(t, workspace)
	if err := os.WriteFile(filepath.Join(root, "bun.lock"), make([]byte, snapshot.MaxManifest+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if l := adaptertest.Lock(t, all()["bun"], root, root); l.Digest != "" || !strings.Contains(l.Whole, "larger than 16 MiB") {
		t.Errorf("%+v", l)
	}
}

func TestSeveralPins(t *testing.T) {
	for _, tt := range []struct {
		id, files string
		want      []string
	}{
		{"node-pnpm", "-- .nvmrc --\n20\n-- package.json --\n{\"packageManager\": \"pnpm@9.1.0+sha512.ab\"}", []string{"node 20 .nvmrc", "pnpm 9.1.0 package.json"}},
		{"node-pnpm", "-- package.json --\n{\"engines\": {\"node\": \">=18\", \"pnpm\": \">=9\"}}", []string{"node >=18 package.json", "pnpm >=9 package.json"}},
		{"node-pnpm", "-- .nvmrc --\n20\n-- package.json --\n{\"engines\": {\"node\": \">=18\"}}\n-- .npmrc --\nengine-strict=true", []string{"node 20 .nvmrc", "node >=18 package.json strict"}},
		{"node-npm", "-- package.json --\n{\"devEngines\": {\"runtime\": {\"name\": \"node\", \"version\": \"^22\"}, \"packageManager\": {\"name\": \"npm\", \"version\": \"^11\", \"onFail\": \"warn\"}}}", []string{"node ^22 package.json strict", "npm ^11 package.json"}},
		{"node-yarn", "-- package.json --\n{\"engines\": {\"node\": \"20\"}, \"volta\": {\"yarn\": \"1.22.0\"}}\n-- yarn.lock --\n# yarn lockfile v1", []string{"node 20 package.json strict", "yarn 1.22.0 package.json"}},
		{"node-yarn", "-- package.json --\n{\"engines\": {\"node\": \"20\"}, \"packageManager\": \"yarn@https://x.invalid/yarn.js\"}\n-- .yarnrc.yml --\n", []string{"node 20 package.json"}},
		{"bun", "-- .bun-version --\nv1.4.0\n-- .nvmrc --\nlts/*\n-- package.json --\n{\"engines\": {\"bun\": \"1\"}}", []string{"bun v1.4.0 .bun-version", "node lts/* .nvmrc", "bun 1 package.json"}},
		{"bun", "-- .tool-versions --\nbun 1.3.0\n-- package.json --\n{}", []string{"bun 1.3.0 .tool-versions"}},
	} {
		root := adaptertest.Project(t, tt.files+"\n")
		pin, err := all()[tt.id].RequiredToolchain(t.Context(), root)
		if err != nil || pin == nil {
			t.Errorf("%q: %v, %v", tt.files, pin, err)
			continue
		}
		var got []string
		for _, p := range append([]adapters.Toolchain{*pin}, pin.More...) {
			text := fmt.Sprintf("%s %s %s", p.Tool, p.Version, adaptertest.Relative(root, p.File))
			if p.Strict {
				text += " strict"
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", tt.files, diff)
		}
	}
}

// TestCorepackWithoutTheVersion names what is missing.
func TestCorepackWithoutTheVersion(t *testing.T) {
	home := t.TempDir()
	script(t, home, "lib/corepack/dist/pnpm.js", "echo 'Internal Error: network access is disabled' >&2; exit 1")
	script(t, home, "bin/node", "echo v20.0.0")
	if err := os.Symlink("../lib/corepack/dist/pnpm.js", filepath.Join(home, "bin/pnpm")); err != nil {
		t.Fatal(err)
	}
	root := adaptertest.Project(t, "-- package.json --\n{\"packageManager\": \"pnpm@9.1.0\"}\n")
	a := NewPNPM(snapshot.Options{Env: adapters.Environ{"HOME=" + home, "PATH=" + home + "/bin:/usr/bin:/bin"}})
	_, err := a.ToolchainFingerprint(t.Context(), root)
	if err == nil || err.Error() != "pnpm 9.1.0 is not installed" {
		t.Errorf("%v", err)
	}
}

// TestYarnOfTheProject: the yarn that a project brings along decides the fingerprint.
func TestYarnOfTheProject(t *testing.T) {
	bin := t.TempDir()
	for _, tool := range []string{"node", "yarn"} {
		script(t, bin, tool, "echo 1.0.0")
	}
	root := adaptertest.Project(t, "-- .yarnrc.yml --\nyarnPath: .yarn/releases/yarn.cjs\n-- .yarn/releases/yarn.cjs --\n1\n-- a/package.json --\n{}\n")
	basis := func() string {
		a := NewYarn(snapshot.Options{Env: adapters.Environ{"HOME=" + bin, "PATH=" + bin}})
		text, err := a.ToolchainBasis(t.Context(), filepath.Join(root, "a"))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := basis()
	adaptertest.Write(t, filepath.Join(root, ".yarn/releases/yarn.cjs"), "another")
	if before == basis() {
		t.Error("another yarn has the same basis")
	}
}

// TestAllowedToFollow: with permission, packageManager decides the fingerprint.
func TestAllowedToFollow(t *testing.T) {
	bin := t.TempDir()
	for _, tool := range []string{"node", "pnpm"} {
		script(t, bin, tool, "echo 1.0.0")
	}
	root := adaptertest.Project(t, "-- a/package.json --\n{}\n-- b/package.json --\n{}\n")
	for download, want := range map[bool]bool{false: true, true: false} {
		a := NewPNPM(snapshot.Options{Env: adapters.Environ{"HOME=" + bin, "PATH=" + bin}, AllowDownload: download})
		one, err := a.ToolchainBasis(t.Context(), filepath.Join(root, "a"))
		two, err2 := a.ToolchainBasis(t.Context(), filepath.Join(root, "b"))
		if err != nil || err2 != nil || (one == two) != want {
			t.Errorf("allowed %v: the same %v, %v, %v", download, one == two, err, err2)
		}
	}
}

func TestBunDoesWithoutNode(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "bun", "echo 1.4.5")
	a := NewBun(snapshot.Options{Env: adapters.Environ{"PATH=" + bin + ":/bin"}})
	if _, err := a.env.LookPath("node"); err == nil {
		t.Skip("node is in /bin")
	}
	if got, err := a.ToolchainFingerprint(t.Context(), bin); got != "bun=1.4.5" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWorkspaceSettingsThatCannotBeRead(t *testing.T) {
	root := adaptertest.Project(t, "-- pnpm-workspace.yaml --\npackages:\n  - a\n  b: c\n-- a/package.json --\n{}\n")
	_, err := all()["node-pnpm"].Tasks(t.Context(), filepath.Join(root, "a"))
	if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, "pnpm-workspace.yaml:") || !strings.Contains(got, "not valid YAML") {
		t.Error(got)
	}
}
