package jvm

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// FuzzWrappers reads the same bytes as the settings of both wrappers.
func FuzzWrappers(f *testing.F) {
	for _, seed := range []string{
		mavenProperties, "distributionUrl=https\\://services.gradle.org/distributions/gradle-8.10-bin.zip\n", "distributionUrl=..\\\n/..\n",
		"distributionUrl=http:gradle-8.zip\ndistributionSha256Sum=a b\n", "distributionType=only-script\ndistributionUrl=apache-maven-3.9.6-bin.tar.gz",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	env := adapters.NewEnviron([]string{"HOME=/nonexistent", "GRADLE_USER_HOME=/nonexistent", "MAVEN_USER_HOME=/nonexistent"})
	f.Fuzz(func(t *testing.T, data []byte, jar bool) {
		root := t.TempDir()
		for _, name := range []string{"mvnw", "gradlew"} {
			adaptertest.Write(t, filepath.Join(root, name), "gradle-wrapper.jar")
		}
		adaptertest.Write(t, filepath.Join(root, ".mvn/wrapper/maven-wrapper.properties"), string(data))
		adaptertest.Write(t, filepath.Join(root, "gradle/wrapper/gradle-wrapper.properties"), string(data))
		if jar {
			adaptertest.Write(t, filepath.Join(root, "gradle/wrapper/gradle-wrapper.jar"), "")
		}
		maven, err := MavenWrapper(snapshot.NewFiles(root), env)
		if err != nil {
			t.Fatal(err)
		}
		gradle, pin, err := GradleWrapper(snapshot.NewFiles(root), env)
		if err != nil || gradle == nil == jar {
			t.Fatalf("%+v, %v", gradle, err)
		}
		for _, w := range []*Wrapper{maven, gradle} {
			if w != nil && (!strings.Contains(w.Text, w.Version) || w == maven && w.Version != "" && w.There) {
				t.Fatalf("%+v", w)
			}
		}
		if pin != nil && (pin.Version == "" || pin.Line < 1 || pin.Line > 1+strings.Count(string(data), "\n")) {
			t.Fatalf("%+v", pin)
		}
	})
}
