package python

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/environment"
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

func TestFingerprint(t *testing.T) {
	adaptertest.Drive(t, "python3")
	a, dir := newPip(), t.TempDir()
	got, err := a.ToolchainFingerprint(t.Context(), dir)
	if err != nil || !regexp.MustCompile(`^python=3\.\d+\.\d+\S* implementation=\w+ abi=\S+ platform=\S+$`).MatchString(got) {
		t.Errorf("%q, %v", got, err)
	}
	one, err := a.ToolchainBasis(t.Context(), dir)
	two, err2 := a.ToolchainBasis(t.Context(), t.TempDir())
	if err != nil || err2 != nil || one != two || !strings.Contains(one, "python3") {
		t.Errorf("%q, %v\n%q, %v", one, err, two, err2)
	}
}

func TestMissingTool(t *testing.T) {
	bin := t.TempDir()
	a := New(snapshot.Options{Env: adapters.Environ{"PATH=" + bin}})
	_, printErr := a.ToolchainFingerprint(t.Context(), bin)
	_, basisErr := a.ToolchainBasis(t.Context(), bin)
	root := adaptertest.Tree(t, "requirements.txt", "six")
	installErr := a.Install(t.Context(), adapters.InstallRequest{DishDir: root, Env: a.env}, nil)
	for _, err := range []error{printErr, basisErr, installErr} {
		var missing *adapters.MissingTool
		if !errors.As(err, &missing) || missing.Tool != "python3" || missing.Hint == "" {
			t.Errorf("got %v", err)
		}
	}
	script(t, bin, "python", `echo "warning"; echo "bento python=3.9.1 implementation=x"`)
	if got, err := a.ToolchainFingerprint(t.Context(), bin); got != "python=3.9.1 implementation=x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	script(t, bin, "python", `echo "unknown option: -I" >&2; exit 2`)
	if got, err := a.ToolchainFingerprint(t.Context(), bin); err == nil || !strings.Contains(err.Error(), "exited with status 2: unknown option: -I") {
		t.Errorf("%q, %v", got, err)
	}
	script(t, bin, "python", `echo 3.9.1`)
	if got, err := a.ToolchainFingerprint(t.Context(), bin); err == nil || !strings.Contains(err.Error(), "printed no answer") {
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
	// As pyenv does: PYENV_VERSION, the nearest .python-version, the default.
	shim := `
d=$PWD
while test "$d" != / && ! test -f "$d/.python-version"; do d=$(dirname "$d"); done
v=${PYENV_VERSION:-$(cat "$d/.python-version" 2>/dev/null || cat "` + home + `/version")}
test -x "` + home + `/versions/$v/bin/python3" || { echo "pyenv: version '$v' is not installed" >&2; exit 127; }
exec "` + home + `/versions/$v/bin/python3"`
	script(t, home, "shims/python3", shim)
	script(t, home, "versions/3.11.7/bin/python3", "echo bento python=3.11.7")
	script(t, home, "versions/3.12.1/bin/python3", "echo bento python=3.12.1")
	adaptertest.Put(t, home, "version", "3.11.7")
	env := adapters.Environ{"HOME=" + home, "PATH=" + home + "/shims:/usr/bin:/bin"}
	a := New(snapshot.Options{Env: env})
	root := adaptertest.Tree(t, "new/.python-version", "3.12.1\n", "gone/.python-version", "3.99\n", "old/x", "")
	ask := func(a *Adapter, dir string) (basis, fingerprint string) {
		t.Helper()
		// What an adapter has seen of the machine holds for a moment.
		basis, err := New(snapshot.Options{Env: a.env}).ToolchainBasis(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		fingerprint, err = a.ToolchainFingerprint(t.Context(), filepath.Join(root, dir))
		if err != nil {
			fingerprint = err.Error()
		}
		return basis, fingerprint
	}
	oldBasis, oldPrint := ask(a, "old")
	newBasis, newPrint := ask(a, "new")
	if oldPrint != "python=3.11.7" || newPrint != "python=3.12.1" || oldBasis == newBasis {
		t.Errorf("old %q, new %q; the bases are equal: %v", oldPrint, newPrint, oldBasis == newBasis)
	}
	if b, p := ask(New(snapshot.Options{Env: env.With(map[string]string{"PYENV_VERSION": "3.12.1"})}), "old"); p != "python=3.12.1" || b == oldBasis {
		t.Errorf("with PYENV_VERSION: %q; the basis is the same: %v", p, b == oldBasis)
	}
	_, err := a.ToolchainFingerprint(t.Context(), filepath.Join(root, "gone"))
	var missing *adapters.MissingTool
	if !errors.As(err, &missing) || !strings.Contains(missing.Hint, "'3.99' is not installed") {
		t.Errorf("a version that is not there: %v", err)
	}
	for name, change := range map[string]func(){
		"the default":       func() { adaptertest.Put(t, home, "version", "3.12.1\n\n") },
		"a version":         func() { script(t, home, "versions/3.11.7/bin/python3", "echo bento python=3.11.7+") },
		"another version":   func() { script(t, home, "versions/3.13.0/bin/python3", "echo bento python=3.13.0") },
		"a file above":      func() { adaptertest.Put(t, root, ".python-version", "3.12.1") },
		"the shim":          func() { script(t, home, "shims/python3", shim+" # new") },
		"a file of its own": func() { adaptertest.Put(t, root, "old/.python-version", "3.11.7") },
		"asdf's file":       func() { adaptertest.Put(t, root, "old/.tool-versions", "python 3.11.7") },
	} {
		before, _ := ask(a, "old")
		change()
		if after, _ := ask(a, "old"); after == before {
			t.Errorf("%s changed and the basis did not", name)
		}
	}
}

// TestInstallFailureIsTold has a Python whose environments hold a pip that fails.
func TestInstallFailureIsTold(t *testing.T) {
	bin, dir := t.TempDir(), adaptertest.Tree(t, "requirements.txt", "six==1 --hash=sha256:aa", environment.Mark, environment.Made+"an earlier install")
	script(t, bin, "python3", `
case "$*" in
*-c*) echo "bento $0" ;;
"-m venv .venv")
	mkdir -p .venv/bin
	printf '#!/bin/sh\necho "Collecting six"; echo "PIP_TARGET=$PIP_TARGET"; echo "ERROR: wrong hash" >&2; exit 4\n' >.venv/bin/python
	chmod +x .venv/bin/python ;;
*) exit 9 ;;
esac`)
	env := adapters.Environ{"PATH=" + bin + ":/usr/bin:/bin", "PIP_TARGET=/elsewhere"}
	var log []string
	err := New(snapshot.Options{Env: env}).Install(t.Context(), adapters.InstallRequest{DishDir: dir, Env: env}, func(l adapters.Log) { log = append(log, l.Message) })
	var failed *adapters.InstallError
	if !errors.As(err, &failed) || failed.ExitStatus != 4 || !strings.Contains(failed.Detail, "ERROR: wrong hash") ||
		failed.Command != ".venv/bin/python -m pip install --require-hashes -r requirements.txt" {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(strings.Join(log, "\n"), "PIP_TARGET=") || strings.Contains(strings.Join(log, "\n"), "elsewhere") {
		t.Errorf("the log is %q", log)
	}
	if _, err := os.Stat(filepath.Join(dir, environment.Mark)); err == nil {
		t.Error("a failed install left a mark")
	}

	adaptertest.Put(t, dir, "requirements.txt", "six")
	if err := os.RemoveAll(filepath.Join(dir, environment.Dir)); err != nil {
		t.Fatal(err)
	}
	adaptertest.Put(t, dir, environment.Dir, "a file")
	err = New(snapshot.Options{Env: env}).Install(t.Context(), adapters.InstallRequest{DishDir: dir, Env: env}, nil)
	if text, readErr := os.ReadFile(filepath.Join(dir, environment.Dir)); err == nil || string(text) != "a file" {
		t.Errorf("a file of the user was replaced: %v, %v", err, readErr)
	}
}
