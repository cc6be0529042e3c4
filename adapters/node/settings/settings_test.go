package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

func dir(t testing.TB, name, text string) string {
	t.Helper()
	d := t.TempDir()
	if err := os.WriteFile(filepath.Join(d, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNPM(t *testing.T) {
	for text, want := range map[string]bool{"": false, "a=b\nengine-strict = true\n": true, "engine-strict=true\r\nengine-strict=false": false, "engine-strict": false} {
		d := dir(t, NPMFile, text)
		if got := ReadNPM(snapshot.NewFiles(d), d).EngineStrict; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestYarn(t *testing.T) {
	d := dir(t, YarnFile, "nodeLinker: node-modules\n\nyarnPath: .yarn/releases/yarn-4.1.0.cjs\nplugins:\n  - path: x\n    spec: y\n")
	got, err := ReadYarn(snapshot.NewFiles(d), d)
	if diff := cmp.Diff(Yarn{Linker: "node-modules", Path: filepath.Join(d, ".yarn/releases/yarn-4.1.0.cjs")}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	empty := t.TempDir()
	if got, err := ReadYarn(snapshot.NewFiles(empty), empty); got.Linker != "pnp" || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPNPM(t *testing.T) {
	d := dir(t, PNPMFile, "packages:\n  - packages/*\n  - '!**/test/**'\noverrides:\n  foo: link:../x\nuseNodeVersion: 22.1.0\nengineStrict: true\n")
	got, err := ReadPNPM(snapshot.NewFiles(d), d)
	want := &PNPM{Packages: []string{"packages/*", "!**/test/**"}, Overrides: map[string]string{"foo": "link:../x"}, UseNode: "22.1.0", UseNodeLine: 6, EngineStrict: true}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, text := range []string{"", "# nothing\n", "onlyBuiltDependencies: []\n", "packages:\n"} {
		d := dir(t, PNPMFile, text)
		if got, err := ReadPNPM(snapshot.NewFiles(d), d); err != nil || got == nil || got.Packages != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	empty := t.TempDir()
	if got, err := ReadPNPM(snapshot.NewFiles(empty), empty); got != nil || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"packages: x\n":      `:1: "packages" is not a list of globs`,
		"packages:\n- [a]\n": `:2: "packages" is not a list of globs`,
		"a: [\n":             ":1: not valid YAML",
		"\n- a\n":            ":2: expected keys with values",
	} {
		d := dir(t, PNPMFile, text)
		_, err := ReadPNPM(snapshot.NewFiles(d), d)
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), filepath.Join(d, PNPMFile)+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
