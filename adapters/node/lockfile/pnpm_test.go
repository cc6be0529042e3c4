package lockfile

import (
	"fmt"
	"strings"
	"testing"
)

func TestPNPMEdits(t *testing.T) {
	edits := []edit{
		{Name: "of the library", Old: "sha512-41Cifkg6", New: "sha512-X", Changed: "packages/app packages/lib"},
		{Name: "for its development", Old: "sha512-CQpnWPrD", New: "sha512-X", Changed: "packages/app packages/lib"},
		{Name: "far down", Old: "sha512-NOW9QQXM", New: "sha512-X", Changed: "packages/app"},
		{Name: "under another name", Old: "sha512-6FlzubT", New: "sha512-X", Changed: "packages/app"},
		{Name: "optional", Old: "sha512-5xoDfX", New: "sha512-X", Changed: "packages/app"},
		{Name: "of another member", Old: "sha512-lyuxPGr", New: "sha512-X", Changed: "packages/other"},
		{Name: "of the root", Old: "sha512-xHjhDr3cNBK", New: "sha512-X", Changed: "all"},
		{Name: "where it came from", Old: "{integrity: sha512-41Cifkg6", New: "{tarball: x, integrity: sha512-41Cifkg6"},
		{Name: "nothing that counts", Old: "    engines: {node: '>=0.10.0'}\n", New: "    deprecated: it is old\n"},
		{Name: "blank lines", Old: "\n\n", New: "\n"},
	}
	for _, version := range []string{"v5", "v6", "v9"} {
		t.Run(version, func(t *testing.T) { checkEdits(t, ParsePNPM, read(t, "pnpm-"+version+".yaml"), edits) })
	}
	checkEdits(t, ParsePNPM, read(t, "pnpm-v9.yaml"), []edit{
		{Name: "another version", Old: "is-number: 6.0.0", New: "is-number: 7.0.0", Changed: "packages/app packages/lib"},
		{Name: "from another importer", Old: "link:../lib", New: "link:../other", Changed: "packages/app"},
		{Name: "to outside", Old: "link:../lib", New: "link:../../../x", Changed: "packages/app"},
		{Name: "settings", Old: "autoInstallPeers: true", New: "autoInstallPeers: false", Changed: "all"},
		{Name: "tools", Old: "lockfileVersion", New: `lockfileVersion: '9.0'
importers:
  .:
    configDependencies:
      x: {specifier: 1.0.0, version: 1.0.0}
---
lockfileVersion`, Changed: "all"},
	})
}

func TestPNPMLonePackage(t *testing.T) {
	parse := func(text string) string {
		lock, err := ParsePNPM("pnpm-lock.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		digest, ok := lock.Digest(Root)
		if !ok {
			t.Fatal("the package is not known")
		}
		return digest
	}
	const text = "lockfileVersion: '6.0'\n\ndependencies:\n  a:\n    specifier: ^1.0.0\n    version: 1.0.0(b@2.0.0)\n\npackages:\n\n  /a@1.0.0(b@2.0.0):\n    resolution: {integrity: sha512-a}\n"
	if parse(text) == parse(strings.Replace(text, "sha512-a", "sha512-b", 1)) {
		t.Error("a change is not seen")
	}
}

func TestPNPMRefuses(t *testing.T) {
	refuses(t, ParsePNPM, "/w/x.yaml", map[string]string{
		"":                          "x.yaml is empty",
		"a: [":                      "not valid YAML",
		"a: b":                      `pnpm lockfile version "" is not known`,
		"lockfileVersion: '12.0'\n": `pnpm lockfile version "12.0" is not known`,
		"lockfileVersion: 5.4\n<<<<<<< HEAD\nx: y\n": "not valid YAML",
	})
}

func FuzzPNPM(f *testing.F) {
	for _, name := range []string{"pnpm-v5.yaml", "pnpm-v6.yaml", "pnpm-v9.yaml"} {
		f.Add(read(f, name))
	}
	fuzz(f, ParsePNPM)
}

// BenchmarkPNPM reads the lockfile of 1,000 members that use 1,500 packages.
func BenchmarkPNPM(b *testing.B) {
	var t strings.Builder
	t.WriteString("lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n\n")
	for i := range 1000 {
		fmt.Fprintf(&t, "  packages/p%d:\n    dependencies:\n", i)
		for j := range 10 {
			fmt.Fprintf(&t, "      x%d:\n        specifier: ^1.0.0\n        version: 1.0.%d\n", (i+j*97)%1500, j)
		}
	}
	t.WriteString("\npackages:\n\n")
	for i := range 1500 {
		fmt.Fprintf(&t, "  x%d@1.0.0:\n    resolution: {integrity: sha512-%s}\n    engines: {node: '>=8'}\n\n", i, strings.Repeat("x", 86))
	}
	t.WriteString("snapshots:\n\n")
	for i := range 1500 {
		fmt.Fprintf(&t, "  x%d@1.0.0:\n    dependencies:\n      x%d: 1.0.0\n\n", i, i/2)
	}
	data := []byte(t.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := ParsePNPM("pnpm-lock.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}
