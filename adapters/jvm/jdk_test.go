package jvm_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]jvm.Version{
		"17": {17}, "17.0.9+9": {17, 0, 9}, "1.8.0_402": {8, 0, 402}, "1.8": {8}, "temurin-17.0.9+9": {17, 0, 9}, "21.0.1-tem": {21, 0, 1},
		"openjdk64-17.0.2": {17, 0, 2}, "22-ea": {22}, "zulu-fx-21": {21}, "graalvm": nil, "": nil, "3.8.7": {3, 8, 7}, "99999999999999999999": nil, "17.x": {17},
	} {
		if d := cmp.Diff(want, jvm.ParseVersion(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestSatisfies(t *testing.T) {
	for _, c := range []struct {
		have, want string
		yes, ok    bool
	}{
		{"17.0.15", "17", true, true}, {"17.0.15", "17.0.9", false, true}, {"17.0.15", "17.0.15+6", true, true}, {"17", "17.0", true, true},
		{"21.0.1", "17", false, true}, {"17.0.15", "1.7", false, true}, {"1.8.0_402", "1.8", true, true}, {"8", "1.8", true, true},
		{"17.0.15", ">=11", true, true}, {"17.0.15", ">=21", false, true}, {"17.0.15", ">=1.8", true, true},
		{"17.0.15", "[11,18)", true, true}, {"17.0.15", "[11,17)", false, true}, {"17.0.15", "(,17]", false, true}, {"17", "(,17]", true, true},
		{"17.0.15", "[17]", true, true}, {"8.0.1", "[1.8,1.9),[11,)", true, true}, {"9", "[1.8,1.9),[11,)", false, true}, {"17", "(17,)", false, true},
		{"17", "latest", false, false}, {"17", "[x", false, false}, {"17", "", false, false},
	} {
		if yes, ok := jvm.ParseVersion(c.have).Satisfies(c.want); yes != c.yes || ok != c.ok {
			t.Errorf("%s for %s: %v %v", c.have, c.want, yes, ok)
		}
	}
}

func TestTell(t *testing.T) {
	text, v := jvm.Tell("Picked up JAVA_TOOL_OPTIONS: -Dx=1\nNOTE: y\nopenjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment (build x)\n")
	if !strings.HasPrefix(text, "openjdk version") || v.Major() != 17 || !strings.HasSuffix(text, "(build x)") {
		t.Errorf("%q %v", text, v)
	}
	if text, _ = jvm.Tell("no such thing"); text != "" {
		t.Error(text)
	}
}

// home makes a JDK that prints this version.
func home(t *testing.T, dir, version string) string {
	t.Helper()
	adaptertest.Write(t, filepath.Join(dir, "release"), "JAVA_VERSION=\""+version+"\"\nIMPLEMENTOR=\"Someone\"\n")
	for _, tool := range []string{"java", "javac"} {
		path := filepath.Join(dir, "bin", tool)
		adaptertest.Write(t, path, "#!/bin/sh\necho 'Picked up JAVA_TOOL_OPTIONS: -Dx' >&2\necho 'openjdk version \""+version+"\" 2025-01-01' >&2\n")
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func hostIn(env adapters.Environ) *jvm.Host {
	h := new(jvm.Host)
	h.Use(snapshot.Source{}, env)
	return h
}

func TestHost(t *testing.T) {
	one, two := home(t, t.TempDir(), "17.0.1"), home(t, t.TempDir(), "21.0.2")
	ask := func(env ...string) (said, basis string) {
		h := hostIn(adapters.NewEnviron(append(env, "HOME="+t.TempDir())))
		said, err := h.VersionOutput(t.Context(), probe.At{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if basis, err = h.Basis("/"); err != nil {
			t.Fatal(err)
		}
		return said, basis
	}
	said, basis := ask("PATH="+filepath.Join(one, "bin")+":/usr/bin:/bin", "JAVA_TOOL_OPTIONS=-Dx")
	if said != `openjdk version "17.0.1" 2025-01-01` {
		t.Errorf("%q", said)
	}
	// JAVA_HOME comes before PATH.
	other, otherBasis := ask("PATH="+filepath.Join(one, "bin")+":/usr/bin:/bin", "JAVA_HOME="+two)
	if !strings.Contains(other, "21.0.2") || basis == otherBasis {
		t.Errorf("%q", other)
	}
}

func TestMissing(t *testing.T) {
	runtime := home(t, t.TempDir(), "17.0.1")
	if err := os.Remove(filepath.Join(runtime, "bin", "javac")); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{
		"PATH=/nowhere":                         "java",
		"JAVA_HOME=/nowhere":                    "java",
		"PATH=" + filepath.Join(runtime, "bin"): "javac",
	} {
		h := hostIn(adapters.NewEnviron([]string{env}))
		_, err := h.Basis("/")
		var missing *adapters.MissingTool
		if !errors.As(err, &missing) || missing.Tool != want || missing.Hint == "" {
			t.Errorf("%s: %v", env, err)
		}
	}
}

// A shim answers by directory, so its basis differs by directory.
func TestShims(t *testing.T) {
	manager := t.TempDir()
	shim := filepath.Join(manager, "shims", "java")
	adaptertest.Write(t, filepath.Join(manager, "versions", "17", "bin", "java"), "")
	// jenv reads a file when the variable is unset.
	adaptertest.Write(t, shim, "#!/bin/sh\nv=$JENV_VERSION\ntest -n \"$v\" || read v < .java-version\necho \"openjdk version \\\"$v\\\"\" >&2\n")
	if err := os.Chmod(shim, 0o755); err != nil {
		t.Fatal(err)
	}
	root := adaptertest.Project(t, "-- a/.java-version --\n17\n-- b/.java-version --\n21\n")
	h := hostIn(adapters.NewEnviron([]string{"PATH=" + filepath.Dir(shim), "HOME=" + manager}))
	var bases []string
	for dir, want := range map[string]string{"a": "17", "b": "21"} {
		said, err := h.VersionOutput(t.Context(), probe.At{Dir: filepath.Join(root, dir)})
		if err != nil || !strings.Contains(said, `"`+want+`"`) {
			t.Errorf("%s: %q %v", dir, said, err)
		}
		basis, err := h.Basis(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, basis)
	}
	if bases[0] == bases[1] {
		t.Error("the basis is the same")
	}
}

func TestInstalled(t *testing.T) {
	user := t.TempDir()
	home(t, filepath.Join(user, ".jdks", "old"), "1.8.0_402")
	home(t, filepath.Join(user, ".sdkman", "candidates", "java", "21.0.2-tem"), "21.0.2")
	if err := os.Symlink("21.0.2-tem", filepath.Join(user, ".sdkman", "candidates", "java", "current")); err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, h := range jvm.Installed(adapters.NewEnviron([]string{"HOME=" + user})) {
		if strings.HasPrefix(h.Dir, user) {
			ours = append(ours, h.Text)
		}
	}
	if d := cmp.Diff([]string{"21.0.2 Someone", "1.8.0_402 Someone"}, ours); d != "" {
		t.Error(d)
	}
}

func TestVersionFiles(t *testing.T) {
	for archive, want := range map[string]string{
		"-- .java-version --\n\ufeff# x\r\n\r\ntemurin-17.0.9+9\r\n":      "temurin-17.0.9+9 .java-version:3",
		"-- .sdkmanrc --\n# x\ngradle=8.5\njava=21.0.1-tem\n":             "21.0.1-tem .sdkmanrc:3",
		"-- .tool-versions --\nnodejs 20\njava openjdk-17.0.2\n":          "openjdk-17.0.2 .tool-versions:2",
		"-- .java-version --\nsystem\n-- .sdkmanrc --\njava=11.0.1-tem\n": "11.0.1-tem .sdkmanrc:1",
		"-- .java-version --\nthe new one\n":                              "error .java-version:1",
		"-- .sdkmanrc --\nmaven=3\n":                                      "",
	} {
		root := adaptertest.Project(t, archive)
		pin, err := jvm.VersionFiles(snapshot.NewFiles(filepath.Join(root, "a", "b")))
		got := ""
		switch {
		case err != nil:
			got = "error " + strings.SplitN(adaptertest.Where(t, root, err), ": ", 2)[0]
		case pin != nil:
			got = pin.Version + " " + adaptertest.Relative(root, pin.File) + ":" + string(rune('0'+pin.Line))
		}
		if got != want {
			t.Errorf("%q: %s, want %s", archive, got, want)
		}
	}
}

func TestCheckJava(t *testing.T) {
	h := hostIn(adapters.NewEnviron([]string{"HOME=" + t.TempDir()}))
	const fingerprint = "openjdk version \"17.0.15\" 2025-04-15\nrest\n"
	check := func(want string, found ...jvm.Version) adapters.Verdict {
		return h.CheckJava(adapters.Toolchain{Tool: "java", Version: want}, fingerprint, found...)
	}
	if v := check("17"); !v.OK || v.Found != "17.0.15" {
		t.Errorf("%+v", v)
	}
	if v := check(">=99"); v.OK || !strings.Contains(v.Hint, "99") {
		t.Errorf("%+v", v)
	}
	if v := check("21", jvm.Version{21, 0, 1}); !v.OK {
		t.Errorf("%+v", v)
	}
}

func FuzzVersions(f *testing.F) {
	for _, seed := range []string{"17.0.9+9", "[1.8,1.9),(11,]", ">=x", "temurin-1._.-", "((([[["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := jvm.ParseVersion(text)
		v.Satisfies(text)
		jvm.Minimum(text)
		jvm.Tell(text)
		if v.Compare(v) != 0 || v.Compare(append(v, 1)) != -1 {
			t.Errorf("%q: %v", text, v)
		}
	})
}

// TestLookWaitsForNoPipe: a clone may name a JDK of its own in gradle.properties.
func TestLookWaitsForNoPipe(t *testing.T) {
	dir := home(t, t.TempDir(), "17.0.1")
	if h := jvm.Look(dir); h.Version == nil {
		t.Errorf("%+v", h)
	}
	release := filepath.Join(dir, "release")
	if err := errors.Join(os.Remove(release), syscall.Mkfifo(release, 0o600)); err != nil {
		t.Fatal(err)
	}
	if h := jvm.Look(dir); h.Version != nil {
		t.Errorf("of a pipe: %+v", h)
	}
}
