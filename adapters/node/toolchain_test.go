package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// script writes an executable.
func script(t *testing.T, dir, name, text string) {
	t.Helper()
	adaptertest.Put(t, dir, name, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestMissingTool(t *testing.T) {
	bin := t.TempDir()
	check := func(tool string) {
		t.Helper()
		a := NewNPM(snapshot.Options{Env: adapters.Environ{"PATH=" + bin}})
		for _, err := range []error{second(a.ToolchainFingerprint(t.Context(), bin)), second(a.ToolchainBasis(t.Context(), bin))} {
			var missing *adapters.MissingTool
			if !errors.As(err, &missing) || missing.Tool != tool || missing.Hint == "" {
				t.Errorf("without %s: %v", tool, err)
			}
		}
	}
	check("node")
	script(t, bin, "node", "echo v20.0.0")
	check("npm")
	root := adaptertest.Tree(t, "package.json", `{"dependencies": {"a": "1"}}`)
	env := adapters.Environ{"PATH=" + bin}
	err := NewNPM(snapshot.Options{Env: env}).Install(t.Context(), adapters.InstallRequest{DishDir: root, Env: env}, nil)
	var missing *adapters.MissingTool
	if !errors.As(err, &missing) || missing.Tool != "npm" {
		t.Errorf("install without npm: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestFingerprintTakesTheVersionOnly(t *testing.T) {
	bin := t.TempDir()
	a := NewNPM(snapshot.Options{Env: adapters.Environ{"PATH=" + bin + ":/usr/bin:/bin", "SECRET=x"}})
	script(t, bin, "node", `echo "warning: old"; echo warning >&2; echo v18.19.1`)
	script(t, bin, "npm", `test "$SECRET" = "" && echo 9.2.0; echo`)
	if got, err := a.ToolchainFingerprint(t.Context(), bin); got != "node=v18.19.1 npm=9.2.0" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	script(t, bin, "npm", `echo nonsense`)
	if got, err := a.ToolchainFingerprint(t.Context(), bin); err == nil || !strings.Contains(err.Error(), `printed no version: "nonsense`) {
		t.Errorf("%q, %v", got, err)
	}
	script(t, bin, "npm", `echo no such thing >&2; exit 3`)
	if got, err := a.ToolchainFingerprint(t.Context(), bin); err == nil || !strings.Contains(err.Error(), "exited with status 3: no such thing") {
		t.Errorf("%q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.ToolchainFingerprint(ctx, bin); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestShimAnswersByDirectory(t *testing.T) {
	home := t.TempDir()
	// As nodenv does: the version is that of the variable, else of the nearest .node-version.
	shim := `
d=$PWD
while test "$d" != / && ! test -f "$d/.node-version"; do d=$(dirname "$d"); done
v=${NODENV_VERSION:-$(cat "$d/.node-version" 2>/dev/null || cat "` + home + `/version")}
test -x "` + home + `/versions/$v/bin/node" || { echo "nodenv: version '$v' is not installed" >&2; exit 127; }
exec "` + home + `/versions/$v/bin/node"`
	script(t, home, "shims/node", shim)
	script(t, home, "versions/18.0.0/bin/node", "echo v18.0.0")
	script(t, home, "versions/20.0.0/bin/node", "echo v20.0.0")
	script(t, home, "bin/npm", "echo 10.0.0")
	adaptertest.Put(t, home, "version", "18.0.0")
	a := NewNPM(snapshot.Options{Env: adapters.Environ{"HOME=" + home, "PATH=" + home + "/shims:" + home + "/bin:/usr/bin:/bin"}})

	root := adaptertest.Tree(t, "new/.node-version", "20.0.0\n", "gone/.node-version", "99.0.0\n", "old/sub/x", "", "old/sub2/x", "")
	ask := func(dir string) (basis, fingerprint string) {
		t.Helper()
		// What an adapter has seen of the machine holds for a moment.
		basis, err := NewNPM(snapshot.Options{Env: a.env}).ToolchainBasis(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		fingerprint, err = a.ToolchainFingerprint(t.Context(), filepath.Join(root, dir))
		if err != nil {
			fingerprint = err.Error()
		}
		return basis, fingerprint
	}
	oldBasis, oldPrint := ask("old")
	newBasis, newPrint := ask("new")
	if oldPrint != "node=v18.0.0 npm=10.0.0" || newPrint != "node=v20.0.0 npm=10.0.0" || oldBasis == newBasis {
		t.Errorf("old %q, new %q; the bases are equal: %v", oldPrint, newPrint, oldBasis == newBasis)
	}
	if again, _ := ask("new"); again != newBasis {
		t.Error("the basis changes by itself")
	}
	_, err := a.ToolchainFingerprint(t.Context(), filepath.Join(root, "gone"))
	var missing *adapters.MissingTool
	if !errors.As(err, &missing) || !strings.Contains(missing.Hint, "'99.0.0' is not installed") {
		t.Errorf("a version that is not there: %v", err)
	}
	for name, change := range map[string]func(){
		"the default":       func() { adaptertest.Put(t, home, "version", "20.0.0\n\n") },
		"a version":         func() { script(t, home, "versions/18.0.0/bin/node", "echo v18.0.1 # rebuilt") },
		"another version":   func() { script(t, home, "versions/16.0.0/bin/node", "echo v16.0.0") },
		"a file above":      func() { adaptertest.Put(t, root, ".node-version", "20.0.0") },
		"the shim":          func() { script(t, home, "shims/node", shim+" # new") },
		"npm, in place":     func() { adaptertest.Put(t, home, "package.json", `{"version": "10.0.1"}`) },
		"a file of its own": func() { adaptertest.Put(t, root, "old/.node-version", "18.0.0") },
	} {
		before, _ := ask("old")
		change()
		if after, _ := ask("old"); after == before {
			t.Errorf("%s changed and the basis did not", name)
		}
	}
}
