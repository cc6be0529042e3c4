package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/sampling"
)

// frozen are the installs of each tool that change no lockfile: those of the layer of the manifests, and those that also
// need the sources.
var frozen = map[string]struct{ json, full []string }{
	"node-npm":  {json: []string{"npm", "ci", "--no-audit", "--no-fund"}},
	"node-pnpm": {json: []string{"pnpm", "install", "--frozen-lockfile"}},
	"node-yarn": {json: []string{"yarn", "install", "--immutable"}},
	"bun":       {json: []string{"bun", "install", "--frozen-lockfile"}},
	"go":        {json: []string{"go", "-C", "app", "mod", "download"}},
	"cargo":     {json: []string{"cargo", "fetch", "--locked"}},
	"python-uv": {json: []string{"uv", "sync", "--frozen", "--no-install-workspace"}, full: []string{"uv", "sync", "--frozen", "--all-packages", "--no-install-package", "example-app"}},
}

// TestPrune: in the first layer of a pruned workspace, the tool installs by the unchanged lockfile; in the second, the
// tests of the dish succeed. The library is pruned, without the application that the lockfile has, too.
func TestPrune(t *testing.T) {
	if testing.Short() {
		t.Skip("most of its time belongs to the tools")
	}
	t.Parallel()
	for _, tc := range toolchains() {
		if _, ok := frozen[tc.id]; !ok || tc.variant != "" {
			continue
		}
		t.Run(tc.name(), func(t *testing.T) {
			t.Parallel()
			adaptertest.Need(t, tc.needs...)
			sampling.Skip(t, 3)
			newKitchen(t, &tc).prune()
		})
	}
}

func (k *kitchen) prune() {
	if k.tc.id == "cargo" {
		k.tool(".", "cargo", "generate-lockfile") // the fixtures have no lockfiles that name a registry
	} else if k.tc.id == "python-uv" {
		k.tool(".", "uv", "lock")
	}
	out := filepath.Join(k.t.TempDir(), "out")
	cmd := k.command("prune", k.tc.lib, "--docker", out, "--json")
	cmd.Stderr = os.Stderr
	data, err := cmd.Output()
	var doc pruned
	if json.Unmarshal(data, &doc) != nil || err != nil || !slices.Equal(doc.Dishes, []string{k.tc.lib}) {
		k.t.Fatalf("%v\n%s", err, data)
	}
	tools := frozen[k.tc.id]
	k.ws = filepath.Join(out, "json")
	sum := lockSums(k.t, k.ws)
	k.tool(".", tools.json...)
	if now := lockSums(k.t, k.ws); now != sum {
		k.t.Errorf("the install has changed a lockfile:\n%s\n%s", sum, now)
	}
	if out, err := exec.Command("cp", "-a", filepath.Join(out, "full")+"/.", k.ws).CombinedOutput(); err != nil { // as COPY full/ . does
		k.t.Fatalf("%v\n%s", err, out)
	}
	if tools.full != nil {
		k.tool(".", tools.full...)
	}
	a := k.bento("test", k.tc.lib, "--skip-install", "--no-cache")
	if test := a.task(k.tc.lib + ":test"); a.exit != 0 || test == nil || test.Outcome.Kind != "built" {
		k.t.Errorf("exit code %d\n%s", a.exit, a.stderr)
	}
	if now := lockSums(k.t, k.ws); now != sum {
		k.t.Errorf("the tests have changed a lockfile:\n%s\n%s", sum, now)
	}
}

// lockSums returns the digests of the lockfiles below a directory.
func lockSums(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", "find . -name .bento -prune -o -name node_modules -prune -o -name .venv -prune -o -name target -prune -o -type f '(' -name '*lock*' -o -name go.sum ')' -print | sort | xargs cksum")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
