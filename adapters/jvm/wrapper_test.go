package jvm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

const mavenProperties = "distributionUrl=https://repo.example/org/apache/maven/apache-maven/3.9.6/apache-maven-3.9.6-bin.zip\n"

func TestMavenWrapper(t *testing.T) {
	home := t.TempDir()
	env := adapters.NewEnviron([]string{"HOME=" + home})
	root := adaptertest.Project(t, "-- mvnw --\nmaven-wrapper.jar\n-- .mvn/wrapper/maven-wrapper.jar --\n-- .mvn/wrapper/maven-wrapper.properties --\n"+mavenProperties)
	look := func() *Wrapper {
		w, err := MavenWrapper(snapshot.NewFiles(filepath.Join(root, "a")), env)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := look()
	if w.Version != "3.9.6" || w.There || !strings.Contains(w.Text, "apache-maven-3.9.6") {
		t.Errorf("%+v", w)
	}
	var missing *adapters.MissingTool
	if !errors.As(w.Missing(), &missing) || !strings.Contains(missing.Tool, "3.9.6") || !strings.Contains(missing.Hint, "allow_download") {
		t.Errorf("%+v", missing)
	}
	s := w.Scope(snapshot.NewFiles(root))
	if s.Nothing || s.Command != "sh ./mvnw -v" || s.Dir != root || len(s.Files) != 2 {
		t.Errorf("%+v", s)
	}
	adaptertest.Write(t, filepath.Join(home, ".m2/wrapper/dists/apache-maven-3.9.6-bin/abc/apache-maven-3.9.6/bin/mvn"), "")
	if w = look(); !w.There || !w.Scope(snapshot.NewFiles(root)).Nothing {
		t.Errorf("%+v", w)
	}
	if err := os.Remove(filepath.Join(root, ".mvn/wrapper/maven-wrapper.jar")); err != nil {
		t.Fatal(err)
	}
	if w = look(); w.There {
		t.Error("the script would fetch its jar")
	}
	adaptertest.Write(t, filepath.Join(root, "mvnw"), "only a script\n")
	if w = look(); !w.There {
		t.Error("the script needs no jar")
	}
}

func TestGradleWrapper(t *testing.T) {
	home := t.TempDir()
	env := adapters.NewEnviron([]string{"GRADLE_USER_HOME=" + home})
	root := adaptertest.Project(t, "-- gradlew --\ngradle-wrapper.jar\n-- gradle/wrapper/gradle-wrapper.jar --\n-- gradle/wrapper/gradle-wrapper.properties --\n"+
		"distributionSha256Sum=abc\ndistributionUrl=https\\://services.gradle.org/distributions/gradle-8.10-bin.zip\n")
	look := func() (*Wrapper, *adapters.Toolchain) {
		w, pin, err := GradleWrapper(snapshot.NewFiles(root), env)
		if err != nil {
			t.Fatal(err)
		}
		return w, pin
	}
	w, pin := look()
	if w == nil || pin != nil || w.Version != "8.10" || w.There || !strings.HasSuffix(w.Text, " abc") {
		t.Errorf("%+v %+v", w, pin)
	}
	adaptertest.Write(t, filepath.Join(home, "wrapper/dists/gradle-8.10-bin/deqhafrv1ntovfmgh0nh3npr9/gradle-8.10-bin.zip.ok"), "")
	if w, _ = look(); !w.There {
		entries, _ := filepath.Glob(filepath.Join(home, "wrapper/dists/*/*"))
		t.Errorf("%+v: looked for %s, there is %v", w, urlHash("https://services.gradle.org/distributions/gradle-8.10-bin.zip"), entries)
	}
	if err := os.Remove(filepath.Join(root, "gradle/wrapper/gradle-wrapper.jar")); err != nil {
		t.Fatal(err)
	}
	if w, _ = look(); w != nil {
		t.Errorf("without the jar: %+v", w)
	}
	if err := os.Rename(filepath.Join(root, "gradle"), filepath.Join(root, "g")); err != nil {
		t.Fatal(err)
	}
	if w, pin = look(); w != nil || pin != nil {
		t.Errorf("without the directory: %+v %+v", w, pin)
	}
	if err := os.Rename(filepath.Join(root, "g"), filepath.Join(root, "gradle")); err != nil {
		t.Fatal(err)
	}
	if w, pin = look(); w != nil || pin == nil || pin.Version != "8.10" || pin.Tool != "gradle" || pin.Line != 2 {
		t.Errorf("without the jar: %+v %+v", w, pin)
	}
}

func TestOwnKind(t *testing.T) {
	root := adaptertest.Project(t, "-- mvnw --\n#!/bin/sh\n-- gradlew --\n#!/bin/sh\n")
	for _, name := range []string{"mvnw", "gradlew"} {
		if err := os.Chmod(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := snapshot.NewFiles(filepath.Join(root, "x", "y"))
	m, err := MavenWrapper(f, nil)
	g, _, err2 := GradleWrapper(f, nil)
	if err != nil || err2 != nil || !m.There || !g.There || m.Text != "" {
		t.Fatalf("%+v %+v", m, g)
	}
	if got := m.Command(f.Dir()); got != "../../mvnw" {
		t.Error(got)
	}
	if got := g.Command(root); got != "./gradlew" {
		t.Error(got)
	}
}

func TestFetch(t *testing.T) {
	root := adaptertest.Project(t, "-- mvnw --\necho fetching $1\nexit $STATUS\n")
	w, err := MavenWrapper(snapshot.NewFiles(root), nil)
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	note := func(l adapters.Log) { log = append(log, l.Message) }
	if err := w.Fetch(t.Context(), adapters.InstallRequest{}.Leave(), adaptertest.Env("STATUS=0"), note); err != nil || log[0] != "fetching -v" {
		t.Errorf("%v %q", err, log)
	}
	var failed *adapters.InstallError
	if err := w.Fetch(t.Context(), adapters.InstallRequest{}.Leave(), adaptertest.Env("STATUS=3"), note); !errors.As(err, &failed) || failed.ExitStatus != 3 || failed.Detail != "fetching -v" {
		t.Errorf("%v", err)
	}
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{"a/b": "a/b", "a b": "'a b'", "it's": `'it'\''s'`, "": "''"} {
		if got := adapters.Quote(word); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
}
