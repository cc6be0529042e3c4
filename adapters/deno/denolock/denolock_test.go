package denolock

import (
	"os"
	"strings"
	"testing"
)

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func digests(t *testing.T, text string) map[string]string {
	t.Helper()
	lock, err := Parse("deno.lock", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, m := range []string{"packages/app", "packages/lib", "packages/other"} {
		out[m] = lock.Digest(m)
	}
	out["app and lib"] = lock.Digest("packages/app", "packages/lib")
	return out
}

func TestWhoSeesAChange(t *testing.T) {
	for _, tt := range []struct {
		file, old, new string
		changed        string
	}{
		{"v5.lock", "sha512-zbB9rCJAT1", "sha512-X", "packages/app app and lib"},
		{"v5.lock", "sha512-41Cifkg6", "sha512-X", "packages/lib app and lib"},
		{"v5.lock", "sha512-Tpp60P6I", "sha512-X", "packages/other"},
		{"v5.lock", "sha512-6FlzubT", "sha512-X", "all"},
		{"v5.lock", `"npm:chalk@4": "4.1.2"`, `"npm:chalk@4": "4.1.3"`, "packages/app app and lib"},
		{"v5.lock", `"specifiers": {`, `"specifiers": {"npm:has-flag@4": "4.0.0",`, "all"},
		{"v5.lock", "  ", "", ""},
		{"v5.lock", `"version": "5"`, `"version": "4"`, ""},
		{"v3.lock", "sha512-cccc", "sha512-X", "packages/app app and lib"},
		{"v3.lock", "bbbb", "X", "packages/lib app and lib"},
		{"v3.lock", "sha512-eeee", "sha512-X", "all"},
		{"v3.lock", "sha512-ffff", "sha512-X", "all"}, // no manifest requires it
		{"v3.lock", "1234", "5678", "all"},
	} {
		data := read(t, tt.file)
		if !strings.Contains(data, tt.old) {
			t.Fatalf("%q is not there", tt.old)
		}
		before, after := digests(t, data), digests(t, strings.Replace(data, tt.old, tt.new, 1))
		for member := range before {
			changed := before[member] != after[member]
			if want := tt.changed == "all" || strings.Contains(tt.changed, member); changed != want {
				t.Errorf("%s, %s: %s changed is %v", tt.file, tt.old, member, changed)
			}
		}
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string][2]bool{
		read(t, "v5.lock"):                        {true, false},
		read(t, "v3.lock"):                        {true, true},
		`{"version": "5"}`:                        {false, false},
		`{"version": "4", "remote": {"a": "b"}}`:  {false, true},
		`{"version": "4", "jsr": {"@a/b@1": {}}}`: {false, true},
	} {
		l, err := Parse("deno.lock", []byte(text))
		if err != nil || l.HasNPM != want[0] || l.HasRemote != want[1] {
			t.Errorf("%.40s: npm %v, remote %v, %v", text, l.HasNPM, l.HasRemote, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "not valid JSON",
		"{}":               `deno lockfile version "" is not known`,
		`{"version": "9"}`: `deno lockfile version "9" is not known`,
	} {
		if _, err := Parse("deno.lock", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gave %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(read(f, "v3.lock")))
	f.Add([]byte(read(f, "v5.lock")))
	f.Add([]byte(`{"version": "5", "npm": {"a@1": {"dependencies": ["b@npm:a@1", "", "@"]}}, "specifiers": {"npm:": ""}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := Parse("f", data)
		if (lock == nil) == (err == nil) {
			t.Fatalf("%v and %v", lock, err)
		}
		if err == nil {
			lock.Digest("packages/app")
		}
	})
}
