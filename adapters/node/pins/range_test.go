package pins

import (
	"testing"

	"github.com/bentobuild/bento/internal/semver"
)

func TestRange(t *testing.T) {
	for text, ok := range map[string]bool{
		"20": true, "v20.11.1": true, "20.11": true, "20.11.0": false, "18": false, "": true, "lts/*": true, "lts/iron": true,
		"lts/jod": false, ">=18 <21": true, ">= 18, < 20": false, "^18 || ^20": true, "18.x || >=21": false, "~20.11": true,
		"16 - 20": true, "node": true, "*": true, ">20": false, "<=20": true,
	} {
		r, err := ParseRange(text)
		if err != nil || r.Has(version(t, "20.11.1")) != ok {
			t.Errorf("%q: %v, %v", text, !ok, err)
		}
	}
	if _, err := ParseRange("nonsense"); err == nil {
		t.Error("nonsense is a range")
	}
}

func TestFirstVersion(t *testing.T) {
	for text, want := range map[string]string{">=18.1 <21": "18.1", "lts/*": "", "v20.": "20", "^9.1.0-rc.1": "9.1.0", "": ""} {
		if got := firstVersion(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzRange(f *testing.F) {
	for _, seed := range []string{"v20.1.0", "lts/*", "18 || >=20 <21", "16 - 18", "^1.x.x-beta.1", "LTS/Iron"} {
		f.Add(seed)
	}
	v := version(f, "20.1.0")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRange(text)
		if err == nil {
			r.Has(v)
		}
		firstVersion(text)
	})
}

func version(t testing.TB, text string) semver.Version {
	t.Helper()
	v, err := semver.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
