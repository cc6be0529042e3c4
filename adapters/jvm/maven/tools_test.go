package maven

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestFingerprint(t *testing.T) {
	adaptertest.Drive(t, "mvn", "javac")
	root := adaptertest.Fixture(t, "maven")
	// Maven ignores a warning before the versions, and colours in them.
	a := New(snapshot.Options{Env: adaptertest.Env("JAVA_TOOL_OPTIONS=-Dbento=1", "HOME="+t.TempDir())})
	lib, err := a.ToolchainFingerprint(t.Context(), filepath.Join(root, "lib"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(lib, "Picked up") || strings.Contains(lib, "\x1b") || !strings.Contains(lib, "\nApache Maven 3.") || !strings.Contains(lib, ` version "`) {
		t.Errorf("%q", lib)
	}
	libBasis, err := a.ToolchainBasis(t.Context(), filepath.Join(root, "lib"))
	if err != nil {
		t.Fatal(err)
	}
	if basis, err := a.ToolchainBasis(t.Context(), filepath.Join(root, "app")); basis != libBasis || err != nil {
		t.Errorf("the basis of app differs: %v", err)
	}
	if v := a.CheckPin(adapters.Toolchain{Tool: "java", Version: ">=8"}, lib); !v.OK || v.Found == "" {
		t.Errorf("%+v", v)
	}
	// Another JDK is another fingerprint.
	for _, home := range jvm.Installed(adaptertest.Env()) {
		b := New(snapshot.Options{Env: adaptertest.Env("JAVA_HOME=" + home.Dir)})
		got, err := b.ToolchainFingerprint(t.Context(), root)
		if err != nil || !strings.Contains(got, strings.Fields(home.Text)[0]) {
			t.Errorf("%s: %q %v", home.Dir, got, err)
		}
	}
}

func TestMissingMaven(t *testing.T) {
	java, err := adaptertest.Env().LookPath("java")
	if err != nil {
		adaptertest.Lack(t, "java is not installed")
	}
	home, err := jvm.HomeOf(java)
	if err != nil {
		t.Fatal(err)
	}
	a := New(snapshot.Options{Env: adaptertest.Env("PATH=/nowhere", "JAVA_HOME="+home)})
	_, err = a.ToolchainBasis(t.Context(), adaptertest.Project(t, "-- pom.xml --\n"+pomOf("x", "")))
	var missing *adapters.MissingTool
	if !errors.As(err, &missing) || missing.Tool != "mvn" || missing.Hint == "" {
		t.Errorf("%v", err)
	}
}

// A wrapper whose Maven would have to be fetched is refused, not started.
func TestWrapperIsNotFetchedSilently(t *testing.T) {
	root := adaptertest.Project(t, "-- pom.xml --\n"+pomOf("x", "")+"-- mvnw --\ntouch started\n-- .mvn/wrapper/maven-wrapper.properties --\ndistributionUrl=https://x/apache-maven-3.9.6-bin.zip\n")
	home := t.TempDir() // the JDK that the wrapper needs
	for _, name := range []string{"java", "javac"} {
		adaptertest.Write(t, filepath.Join(home, "bin", name), "#!/bin/sh\n")
		if err := os.Chmod(filepath.Join(home, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := adaptertest.Env("HOME="+home, "JAVA_HOME="+home)
	_, err := New(snapshot.Options{Env: env}).ToolchainBasis(t.Context(), root)
	var missing *adapters.MissingTool
	if !errors.As(err, &missing) || !strings.Contains(missing.Tool, "Maven 3.9.6") {
		t.Errorf("%v", err)
	}
	// With downloads allowed it is an install of its own.
	a := New(snapshot.Options{Env: env, AllowDownload: true})
	if basis, err := a.ToolchainBasis(t.Context(), root); err != nil || !strings.Contains(basis, "3.9.6") {
		t.Errorf("%q %v", basis, err)
	}
	if _, err := adaptertest.Install(t, a, env, root); err != nil || !snapshot.NewFiles(root).IsFile("started") {
		t.Errorf("%v", err)
	}
}

func TestScaffold(t *testing.T) {
	adaptertest.Drive(t, "mvn", "javac")
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	env := adaptertest.Env()
	adaptertest.ScaffoldWorks(t, New(snapshot.Options{Env: env}), env, "build", "lint", "test")
}
