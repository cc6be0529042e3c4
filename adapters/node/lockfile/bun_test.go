package lockfile

import (
	"strings"
	"testing"
)

func TestBunEdits(t *testing.T) {
	checkEdits(t, ParseBun, read(t, "bun.lock"), []edit{
		{Name: "of the library", Old: "sha512-41Cifkg6", New: "sha512-X", Changed: "packages/app packages/lib"},
		{Name: "for its development", Old: "sha512-CQpnWPrD", New: "sha512-X", Changed: "packages/app packages/lib"},
		{Name: "far down", Old: "sha512-NOW9QQXM", New: "sha512-X", Changed: "packages/app"},
		{Name: "under another name", Old: "sha512-6FlzubT", New: "sha512-X", Changed: "packages/app"},
		{Name: "optional", Old: "sha512-5xoDfX", New: "sha512-X", Changed: "packages/app"},
		{Name: "of another member", Old: "sha512-lyuxPGr", New: "sha512-X", Changed: "packages/other"},
		{Name: "of the root", Old: "sha512-xHjhDr3cNBK", New: "sha512-X", Changed: "all"},
		{Name: "where it came from", Old: `"is-number@7.0.0", ""`, New: `"is-number@7.0.0", "https://x.invalid"`},
		{Name: "whom it trusts", Old: `"packages": {`, New: `"trustedDependencies": ["x"], "packages": {`, Changed: "all"},
		{Name: "a patch", Old: `"packages": {`, New: `"patchedDependencies": {"is-odd@3.0.1": "p.patch"}, "packages": {`, Changed: "packages/app packages/lib"},
		{Name: "the layout", Old: "\n\n", New: "\n// x\n"},
		{Name: "lockfile version", Old: `"lockfileVersion": 2`, New: `"lockfileVersion": 1`},
	})
}

func TestBunKeys(t *testing.T) {
	for key, want := range map[string]string{"a": "", "a/b": "a", "@s/a": "", "@s/a/b": "@s/a", "a/@s/b": "a", "@s/a/@s/b": "@s/a", "/": "", "": "", "@/": ""} {
		if got := withoutLast(key); got != want {
			t.Errorf("%q without its last name is %q, want %q", key, got, want)
		}
	}
}

func TestBunRefuses(t *testing.T) {
	var deps strings.Builder
	for i := range 60_000 {
		deps.WriteString(`"d` + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + `": "1",`)
	}
	refuses(t, ParseBun, "bun.lock", map[string]string{
		"":                        "not valid JSON",
		`{"lockfileVersion": 99}`: `bun lockfile version "99" is not known`,
		"#!/usr/bin/env bun\nbun-lockfile-format-v0\n\x00":                                                                                    "not valid JSON",
		`{"lockfileVersion": 1, "packages": {"` + strings.Repeat("a/", 2100) + `a": ["a@1"]}}`:                                                "a path of 4201 bytes",
		`{"lockfileVersion": 1, "packages": {"` + strings.Repeat("a/", 2000) + `a": ["a@1", "", {"dependencies": {` + deps.String() + `}}]}}`: "its paths are nested too deep",
	})
}

func FuzzBun(f *testing.F) {
	f.Add(read(f, "bun.lock"))
	f.Add([]byte(`{"lockfileVersion": 0, "packages": {"a": [], "b": [1, {}], "c": "d", "e": [{"dependencies": {"/": 1}}]}}`))
	fuzz(f, ParseBun)
}
