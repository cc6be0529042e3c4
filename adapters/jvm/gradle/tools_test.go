package gradle

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestFingerprint(t *testing.T) {
	adaptertest.Drive(t, "gradle", "javac")
	root := adaptertest.Fixture(t, "gradle")
	a := New(snapshot.Options{Env: adaptertest.Env("JAVA_TOOL_OPTIONS=-Dbento=1")})
	lib, err := a.ToolchainFingerprint(t.Context(), filepath.Join(root, "lib"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(lib, "Picked up") || !strings.Contains(lib, "\nGradle ") || !strings.Contains(lib, "\nJVM: ") || !strings.Contains(lib, ` version "`) {
		t.Errorf("%q", lib)
	}
	libBasis, err := a.ToolchainBasis(t.Context(), filepath.Join(root, "lib"))
	if err != nil {
		t.Fatal(err)
	}
	if basis, err := a.ToolchainBasis(t.Context(), filepath.Join(root, "app")); basis != libBasis || err != nil {
		t.Errorf("the basis of app differs: %v", err)
	}
}

// What the settings of the build say of Java comes before the environment, and the
// JDKs that a toolchain may choose from are in the fingerprint.
func TestJavaOfTheBuild(t *testing.T) {
	adaptertest.Drive(t, "gradle")
	homes := jvm.Installed(adaptertest.Env())
	if len(homes) == 0 {
		adaptertest.Lack(t, "no JDK can be seen")
	}
	root := adaptertest.Project(t, "-- build.gradle --\njava { toolchain { languageVersion = JavaLanguageVersion.of(99) } }\n-- gradle.properties --\norg.gradle.java.home="+homes[0].Dir+"\n")
	a := New(snapshot.Options{Env: adaptertest.Env()})
	got, err := a.ToolchainFingerprint(t.Context(), root)
	if err != nil || !strings.HasPrefix(got, `java version "`+strings.Fields(homes[0].Text)[0]) || strings.Count(got, "\njdk ") != len(homes) {
		t.Errorf("%q %v", got, err)
	}
	pin, err := a.RequiredToolchain(t.Context(), root)
	if err != nil || a.CheckPin(*pin, got).OK {
		t.Errorf("%+v %v", pin, err)
	}
}

// Neither the scaffold's build nor anything else leaves a Gradle behind.
func TestScaffold(t *testing.T) {
	adaptertest.Drive(t, "gradle", "javac")
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	mark := "BENTO_TEST_MARK=" + t.TempDir()
	env := adaptertest.Env("JAVA_OPTS=-D" + mark)
	adaptertest.ScaffoldWorks(t, New(snapshot.Options{Env: env}), env, "build", "lint", "test")
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range processes {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(mark)) {
			t.Errorf("left behind: %q", line)
		}
	}
}
