package bunlock

import (
	"os"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/node/lockfile"
	"github.com/bentobuild/bento/adapters/node/locktest"
)

func read(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/bun.lock")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestWhoSeesAChange(t *testing.T) {
	locktest.Run(t, Parse, read(t), []locktest.Edit{
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

func TestKeys(t *testing.T) {
	for key, want := range map[string]string{"a": "", "a/b": "a", "@s/a": "", "@s/a/b": "@s/a", "a/@s/b": "a", "@s/a/@s/b": "@s/a", "/": "", "": "", "@/": ""} {
		if got := withoutLast(key); got != want {
			t.Errorf("%q without its last name is %q, want %q", key, got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	var deps strings.Builder
	for i := range 60_000 {
		deps.WriteString(`"d` + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + `": "1",`)
	}
	for text, want := range map[string]string{
		"":                        "not valid JSON",
		`{"lockfileVersion": 99}`: `bun lockfile version "99" is not known`,
		"#!/usr/bin/env bun\nbun-lockfile-format-v0\n\x00":                                                                                    "not valid JSON",
		`{"lockfileVersion": 1, "packages": {"` + strings.Repeat("a/", 2100) + `a": ["a@1"]}}`:                                                "a path of 4201 bytes",
		`{"lockfileVersion": 1, "packages": {"` + strings.Repeat("a/", 2000) + `a": ["a@1", "", {"dependencies": {` + deps.String() + `}}]}}`: "its paths are nested too deep",
	} {
		if _, err := Parse("bun.lock", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q gave %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(read(f))
	f.Add([]byte(`{"lockfileVersion": 0, "packages": {"a": [], "b": [1, {}], "c": "d", "e": [{"dependencies": {"/": 1}}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := Parse("f", data)
		if (lock == nil) == (err == nil) {
			t.Fatalf("%v and %v", lock, err)
		}
		if err == nil {
			lock.Digest(lockfile.Root)
		}
	})
}
