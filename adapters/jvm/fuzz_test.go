package jvm_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// FuzzVersionFiles reads the same bytes as the file of each version manager.
func FuzzVersionFiles(f *testing.F) {
	for _, seed := range []string{
		"17\n", "# c\n\ntemurin-21.0.1\n", "system", "\ufeff11.0", "java=21.0.1-tem\n", "java=\\\n17\n", "java temurin-17.0.9+9\n", "1.8.0_292",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{".java-version", ".sdkmanrc", ".tool-versions"} {
			dir := t.TempDir()
			adaptertest.Write(t, filepath.Join(dir, ".git"), "")
			adaptertest.Write(t, filepath.Join(dir, name), string(data))
			pin, err := jvm.VersionFiles(snapshot.NewFiles(dir))
			if err != nil {
				var p diagnostics.Problems
				if !errors.As(err, &p) || p[0].Line < 1 || p[0].Line > 1+strings.Count(string(data), "\n") {
					t.Fatalf("%s: %v: no place", name, err)
				}
				continue
			}
			if pin == nil {
				continue
			}
			if pin.Line < 1 || pin.Line > 1+strings.Count(string(data), "\n") || filepath.Base(pin.File) != name {
				t.Fatalf("%s: %+v", name, pin)
			}
			if _, ok := (jvm.Version{}).Satisfies(pin.Version); !ok {
				t.Fatalf("%s: no version satisfies %q", name, pin.Version)
			}
		}
	})
}

// FuzzLook reads the release file of an installed JDK.
func FuzzLook(f *testing.F) {
	f.Add([]byte("JAVA_VERSION=\"17.0.9\"\nIMPLEMENTOR=\"x\"\n"))
	f.Add([]byte("JAVA_VERSION=\\\n\"\"\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		adaptertest.Write(t, filepath.Join(dir, "bin", "javac"), "")
		adaptertest.Write(t, filepath.Join(dir, "release"), string(data))
		h := jvm.Look(dir)
		if h.Dir != dir || h.Version != nil && h.Text == "" {
			t.Fatalf("%+v", h)
		}
	})
}
