package gradle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// FuzzProperties reads gradle.properties and the criteria for the daemon's JVM.
func FuzzProperties(f *testing.F) {
	f.Add([]byte("java.version=17\norg.gradle.java.home=/x\n"), []byte("toolchainVersion=21\n"))
	f.Add([]byte("java.toolchain.languageVersion:\\\n 8"), []byte("toolchainVersion\n"))
	f.Fuzz(func(t *testing.T, properties, daemon []byte) {
		root, home := t.TempDir(), t.TempDir()
		adaptertest.Write(t, filepath.Join(root, "settings.gradle"), "")
		adaptertest.Write(t, filepath.Join(root, "gradle.properties"), string(properties))
		adaptertest.Write(t, filepath.Join(root, daemonFile), string(daemon))
		adaptertest.Write(t, filepath.Join(home, "gradle.properties"), string(properties))
		a := New(snapshot.Options{Env: adapters.NewEnviron([]string{"HOME=" + home, "GRADLE_USER_HOME=" + home})})
		if first, again := a.userSettings(), a.userSettings(); first != again {
			t.Fatalf("%s and %s", first, again)
		}
		pin, err := a.RequiredToolchain(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if pin == nil {
			return
		}
		text := properties
		if filepath.Base(pin.File) == filepath.Base(daemonFile) {
			text = daemon
		}
		if pin.Version == "" || pin.Line < 1 || pin.Line > 1+strings.Count(string(text), "\n") {
			t.Fatalf("%+v", pin)
		}
	})
}
