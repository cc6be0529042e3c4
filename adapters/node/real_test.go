package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// real returns the adapters of the managers that are installed, with yarn 1 under the
// id "yarn1", and the environment for each.
func real(t *testing.T, ids ...string) map[string]*Adapter {
	t.Helper()
	if testing.Short() {
		t.Skip("it drives real tools")
	}
	tools := map[string]string{"node-npm": "npm", "node-pnpm": "pnpm", "node-yarn": "yarn", "bun": "bun", "yarn1": "yarn1"}
	byID := make(map[string]*Adapter)
	for _, id := range ids {
		if _, err := adaptertest.Env().LookPath(tools[id]); err != nil {
			if os.Getenv("BENTO_REQUIRE_TOOLS") == "1" {
				t.Fatalf("%s is not installed", tools[id])
			}
			t.Logf("without %s, which is not installed", tools[id])
			continue
		}
		if id != "yarn1" {
			byID[id] = all()[id]
			continue
		}
		env := adaptertest.Env()
		path, _ := env.LookPath("yarn1")
		target, err := os.Readlink(path)
		if err != nil {
			t.Fatal(err)
		}
		env = env.WithPath(filepath.Dir(filepath.Join(filepath.Dir(path), target)))
		byID[id] = NewYarn(snapshot.Options{Env: env})
	}
	return byID
}

// installed makes a project and installs it, or skips the test where packages cannot be
// fetched.
func installed(t *testing.T, a *Adapter, archive string) string {
	t.Helper()
	root := adaptertest.Project(t, archive)
	reinstall(t, a, root, false)
	return root
}

func reinstall(t *testing.T, a *Adapter, dir string, force bool) {
	t.Helper()
	scope, err := a.InstallScope(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	req := adapters.InstallRequest{DishDir: dir, Scope: scope, Env: adaptertest.TaskEnv(a, a.env), Force: force, Claims: adaptertest.Claims(scope.Dir)}
	if err := a.Install(t.Context(), req, func(l adapters.Log) { log = append(log, l.Message) }); err != nil {
		t.Fatalf("%s: %v\n%s", scope.Command, err, strings.Join(log, "\n"))
	}
}

const oneDependency = `
-- package.json --
{"name": "one", "version": "1.0.0", "private": true, "dependencies": {"is-number": "7.0.0"}, "scripts": {"build": "node -p 'require(\"is-number\")(5)'"}}
-- .yarnrc.yml --
nodeLinker: node-modules
-- yarn.lock --
`

// inPackage finds a file of the package is-number, wherever it is linked to.
func inPackage(root, name string) string {
	return filepath.Join(root, "node_modules", "is-number", name)
}

// TestWhatIsNotIntact: the managers take existing files for complete. A forced install, and
// one after an interruption, starts from scratch.
func TestWhatIsNotIntact(t *testing.T) {
	for id, a := range real(t, "node-npm", "node-pnpm", "node-yarn", "bun", "yarn1") {
		t.Run(id, func(t *testing.T) {
			archive := oneDependency
			if id == "yarn1" {
				archive = strings.Split(archive, "-- .yarnrc.yml")[0]
			}
			root := installed(t, a, archive)
			remove := func(name string) {
				if err := os.Remove(inPackage(root, name)); err != nil {
					t.Fatal(err)
				}
			}
			remove("index.js")
			reinstall(t, a, root, true)
			if _, err := os.Stat(inPackage(root, "index.js")); err != nil {
				t.Errorf("a forced install leaves it: %v", err)
			}
			remove("index.js")
			adaptertest.Put(t, root, "node_modules/.bento-begun", "")
			reinstall(t, a, root, false)
			if exit, said := adaptertest.Run(t, a, a.env, root, adaptertest.Task(t, a, root, "build")); exit != 0 || !strings.Contains(said, "true") {
				t.Errorf("an interrupted install is not healed: %d, %s", exit, said)
			}
			scope, err := a.InstallScope(t.Context(), root)
			if err != nil || len(scope.Made) == 0 {
				t.Fatalf("%+v, %v", scope, err)
			}
			for _, made := range scope.Made {
				if _, err := os.Stat(filepath.Join(root, made)); err != nil {
					t.Errorf("after a good install: %v", err)
				}
			}
		})
	}
}

// TestTheStoreIsNotWrittenTo: a file that is linked to the store of the machine keeps
// its content and its place in there, whatever becomes of the project.
func TestTheStoreIsNotWrittenTo(t *testing.T) {
	for id, a := range real(t, "node-pnpm", "bun") {
		t.Run(id, func(t *testing.T) {
			root := installed(t, a, oneDependency)
			path, err := filepath.EvalSymlinks(inPackage(root, "index.js"))
			if err != nil {
				t.Fatal(err)
			}
			fi, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := fi.Sys().(*syscall.Stat_t).Nlink; n < 2 {
				t.Skipf("it is not linked here: %d", n)
			}
			// A link of our own shows what becomes of the file behind it.
			twin := filepath.Join(filepath.Dir(root), filepath.Base(root)+"-twin")
			if err := os.Link(path, twin); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(twin)
			before, err := os.ReadFile(twin)
			if err != nil {
				t.Fatal(err)
			}
			reinstall(t, a, root, true)
			adaptertest.Put(t, root, "node_modules/.bento-begun", "")
			reinstall(t, a, root, false)
			after, err := os.ReadFile(twin)
			if err != nil || string(after) != string(before) {
				t.Errorf("the file has become %q, %v", after, err)
			}
		})
	}
}

// TestPNPMInstallsNothingByItself: by default it does before it runs a script, also
// from the network, and two scripts at once do so at once.
func TestPNPMInstallsNothingByItself(t *testing.T) {
	for _, a := range real(t, "node-pnpm") {
		root := installed(t, a, oneDependency)
		adaptertest.Replace(t, filepath.Join(root, "package.json"), `"is-number": "7.0.0"`, `"is-number": "7.0.0", "ms": "2.1.3"`)
		if exit, said := adaptertest.Run(t, a, a.env, root, adaptertest.Task(t, a, root, "build")); exit != 0 || strings.Contains(said, "install") {
			t.Errorf("%d, %s", exit, said)
		}
		if _, err := os.Stat(filepath.Join(root, "node_modules/ms")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it was installed: %v", err)
		}
	}
}

// TestBunFetchesNothingByItself: where there is no node_modules, it would.
func TestBunFetchesNothingByItself(t *testing.T) {
	for _, a := range real(t, "bun") {
		root := adaptertest.Project(t, "-- package.json --\n{\"scripts\": {\"build\": \"bun x.ts\"}}\n-- x.ts --\nimport ms from \"ms\";\nconsole.log(ms(\"1m\"));\n")
		if exit, said := adaptertest.Run(t, a, a.env, root, adaptertest.Task(t, a, root, "build")); exit == 0 {
			t.Error(said)
		}
	}
}

// TestPackageManagerIsNotFollowed: without leave none becomes another version.
func TestPackageManagerIsNotFollowed(t *testing.T) {
	for id, a := range real(t, "node-pnpm", "node-yarn") {
		root := adaptertest.Project(t, "-- package.json --\n{\"name\": \"x\", \"packageManager\": \""+string(a.manager)+"@4.0.1\"}\n-- yarn.lock --\n")
		got, err := a.ToolchainFingerprint(t.Context(), root)
		if err != nil || strings.Contains(got, "=4.0.1") {
			t.Errorf("%s: %q, %v", id, got, err)
		}
	}
}

// TestCommandsOfTheRoot: with yarn a script sees the commands of its own package's
// dependencies and then those on PATH. bento puts those of the workspace before them.
func TestCommandsOfTheRoot(t *testing.T) {
	for id, a := range real(t, "node-npm", "node-yarn", "yarn1") {
		root := adaptertest.Project(t, `
-- package.json --
{"name": "top", "private": true, "workspaces": ["a"], "devDependencies": {"semver": "7.6.0"}}
-- a/package.json --
{"name": "a", "version": "1.0.0", "scripts": {"build": "semver 1.2.3"}}
`)
		if id == "node-yarn" {
			adaptertest.Put(t, root, ".yarnrc.yml", "nodeLinker: node-modules\n")
			adaptertest.Put(t, root, "yarn.lock", "")
		}
		if id == "yarn1" {
			adaptertest.Replace(t, filepath.Join(root, "package.json"), `"private"`, `"packageManager": "yarn@1.22.22", "private"`)
		}
		dir := filepath.Join(root, "a")
		reinstall(t, a, dir, false)
		bin := t.TempDir()
		script(t, bin, "semver", "echo the wrong one")
		exit, said := adaptertest.Run(t, a, a.env.WithPath(bin), dir, adaptertest.Task(t, a, dir, "build"))
		if exit != 0 || !strings.Contains(said, "1.2.3\n") || strings.Contains(said, "wrong") {
			t.Errorf("%s: %d, %s", id, exit, said)
		}
	}
}

// TestStaleLockfiles: an install changes no lockfile, and reports what is stale.
func TestStaleLockfiles(t *testing.T) {
	for id, a := range real(t, "node-npm", "node-pnpm", "node-yarn", "bun") {
		root := adaptertest.Fixture(t, id)
		manifest := filepath.Join(root, "packages/app/package.json")
		adaptertest.Replace(t, manifest, "2.1.2", "2.1.3")
		lock := filepath.Join(root, lockName(a, root))
		before, err := os.ReadFile(lock)
		if err != nil {
			t.Fatal(err)
		}
		scope, err := a.InstallScope(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		err = a.Install(t.Context(), adapters.InstallRequest{DishDir: root, Scope: scope, Env: adaptertest.TaskEnv(a, a.env)}, nil)
		var failed *adapters.InstallError
		if !errors.As(err, &failed) || failed.Command != scope.Command || failed.Detail == "" {
			t.Errorf("%s: %v", id, err)
		}
		if after, err := os.ReadFile(lock); err != nil || string(after) != string(before) {
			t.Errorf("%s: the lockfile has changed, %v", id, err)
		}
	}
}

func lockName(a *Adapter, root string) string {
	return filepath.Base(a.lockOf(snapshot.NewFiles(root), root))
}

func TestAdd(t *testing.T) {
	for id, a := range real(t, "node-npm", "node-pnpm", "node-yarn", "bun", "yarn1") {
		t.Run(id, func(t *testing.T) {
			archive := strings.Split(oneDependency, "-- .yarnrc.yml")[0]
			if id == "node-yarn" {
				archive = oneDependency
			}
			root := adaptertest.Project(t, archive)
			env := adaptertest.TaskEnv(a, a.env).With(map[string]string{"CI": "1"})
			for _, dev := range []bool{false, true} {
				pkg := map[bool]string{false: "ms@2.1.3", true: "is-odd@3.0.1"}[dev]
				if err := a.Add(t.Context(), adapters.AddRequest{DishDir: root, Packages: []string{pkg}, Dev: dev, Env: env}, nil); err != nil {
					t.Fatal(err)
				}
			}
			m, err := a.Read(snapshot.NewFiles(root), root)
			if err != nil {
				t.Fatal(err)
			}
			ms, _ := m.Depends("ms")
			odd, _ := m.Depends("is-odd")
			if ms.Group != "dependencies" || odd.Group != "devDependencies" || !strings.HasSuffix(odd.Value, "3.0.1") {
				t.Errorf("%+v, %+v", ms, odd)
			}
		})
	}
}

// TestAddToTheRoot: some managers need an option for the root.
func TestAddToTheRoot(t *testing.T) {
	for id, a := range real(t, "node-pnpm", "yarn1") {
		root := adaptertest.Project(t, "-- package.json --\n{\"name\": \"top\", \"private\": true, \"packageManager\": \"yarn@1.22.22\", \"workspaces\": [\"a\"]}\n-- a/package.json --\n{\"name\": \"a\", \"version\": \"1.0.0\"}\n")
		if id == "node-pnpm" {
			adaptertest.Replace(t, filepath.Join(root, "package.json"), "yarn@1.22.22", "pnpm@12.0.0")
			adaptertest.Put(t, root, "pnpm-workspace.yaml", "packages: [a]\n")
		}
		err := a.Add(t.Context(), adapters.AddRequest{DishDir: root, Packages: []string{"ms@2.1.3"}, Env: adaptertest.TaskEnv(a, a.env)}, nil)
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestScaffold(t *testing.T) {
	for id, a := range real(t, "node-npm", "node-pnpm", "node-yarn", "bun", "yarn1") {
		t.Run(id, func(t *testing.T) { adaptertest.ScaffoldWorks(t, a, a.env) })
	}
}
