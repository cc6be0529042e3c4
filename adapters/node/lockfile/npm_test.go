package lockfile

import (
	"strings"
	"testing"
)

func TestNPMEdits(t *testing.T) {
	checkEdits(t, ParseNPM, read(t, "npm-v3.json"), []edit{
		{Name: "of the library", Old: "sha512-41Cifkg6", New: "sha512-X", Changed: "packages/app packages/lib"},
		{Name: "for its development", Old: `"node_modules/is-odd": {
      "version": "3.0.1"`, New: `"node_modules/is-odd": {"version": "3.0.2"`, Changed: "packages/app packages/lib"},
		{Name: "far down", Old: "sha512-NOW9QQXM", New: "sha512-X", Changed: "packages/app"},
		{Name: "under another name", Old: `"name": "ms"`, New: `"name": "mss"`, Changed: "packages/app"},
		{Name: "optional", Old: "sha512-5xoDfX", New: "sha512-X", Changed: "packages/app"},
		{Name: "of another member", Old: "sha512-lyuxPGr", New: "sha512-X", Changed: "packages/other"},
		{Name: "in a directory of its own", Old: `"node_modules/ms"`, New: `"packages/other/node_modules/ms"`},
		{Name: "out of reach", Old: `"node_modules/ms"`, New: `"packages/lib/node_modules/ms"`, Changed: "packages/other"},
		{Name: "of the root", Old: "sha512-xHjhDr3cNBK", New: "sha512-X", Changed: "all"},
		{Name: "where it came from", Old: `"integrity": "sha512-41Cifkg6`, New: `"resolved": "x", "integrity": "sha512-41Cifkg6`},
		{Name: "nothing that counts", Old: `"license": "MIT",`, New: ""},
		{Name: "lockfile version", Old: `"lockfileVersion": 3`, New: `"lockfileVersion": 2`},
	})
}

func TestNPMVersion1(t *testing.T) {
	data := string(read(t, "npm-v1.json"))
	sum := func(text string) string {
		lock, err := ParseNPM("package-lock.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		digest, ok := lock.Digest(Root)
		if !ok {
			t.Fatal("the package is not known")
		}
		return digest
	}
	if sum(data) == sum(strings.Replace(data, "sha512-NOW9QQXM", "sha512-X", 1)) {
		t.Error("a change is not seen")
	}
	if sum(data) != sum(strings.ReplaceAll(data, "  ", "\t")) {
		t.Error("the layout counts")
	}
}

func TestNPMRefuses(t *testing.T) {
	deep := strings.Repeat("node_modules/a/", 270) + "node_modules/a"
	var deps strings.Builder
	for i := range 60_000 {
		deps.WriteString(`"d` + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + `": "1",`)
	}
	refuses(t, ParseNPM, "package-lock.json", map[string]string{
		"":                       "not valid JSON",
		"{}":                     `npm lockfile version "" is not known`,
		`{"lockfileVersion": 4}`: `npm lockfile version "4" is not known`,
		`{"lockfileVersion": 3, "packages": {"node_modules/` + strings.Repeat("a/", 2100) + `a": {}}}`:           "a path of 4214 bytes",
		`{"lockfileVersion": 3, "packages": {"` + deep + `": {"dependencies": {` + deps.String() + `"e": ""}}}}`: "its paths are nested too deep",
	})
}

func FuzzNPM(f *testing.F) {
	for _, name := range []string{"npm-v1.json", "npm-v3.json"} {
		f.Add(read(f, name))
	}
	f.Add([]byte(`{"lockfileVersion": 2, "packages": {"": {"dependencies": {"a": "1"}}, "node_modules/a": {"link": true, "resolved": "node_modules/a"}, "/": {}, "../x": {"devDependencies": {"..": ""}}}}`))
	fuzz(f, ParseNPM)
}
