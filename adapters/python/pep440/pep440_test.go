package pep440

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	ordered := strings.Fields(`1.0.dev456 1.0a1 1.0a2.dev456 1.0a12.dev456 1.0a12 1.0b1.dev456 1.0b2 1.0b2.post345.dev456
		1.0b2.post345 1.0rc1.dev456 1.0rc1 1.0 1.0.post456.dev34 1.0.post456 1.0.15 1.1.dev1 3.9 3.10 2024.1 1!0.1`)
	for i, a := range ordered {
		for j, b := range ordered {
			got := Compare(must(t, a), must(t, b))
			if want := min(max(i-j, -1), 1); got != want {
				t.Errorf("Compare(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
	for _, same := range []string{"1.0 1 v1.0.0 01.0", "1.0rc1 1.0-C.1 1.0_pre1 1.0.RC.1", "1.0.post1 1.0-1 1.0rev1", "1.0.dev0 1.0dev"} {
		f := strings.Fields(same)
		for _, other := range f[1:] {
			if Compare(must(t, f[0]), must(t, other)) != 0 {
				t.Errorf("%s and %s differ", f[0], other)
			}
		}
	}
	for _, bad := range []string{"", "x", "1.", "1..2", "1.0-", "99999999999999999999", "1.0 beta", strings.Repeat("1", 600), "1.0+"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is a version", bad)
		}
	}
}

func must(t *testing.T, text string) Version {
	t.Helper()
	v, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSpecifiers(t *testing.T) {
	for _, tt := range []struct{ spec, yes, no string }{
		{">=3.9,<4", "3.9 3.9.0 3.14", "3.8.18 4.0 4.0a1"},
		{"~=3.10", "3.10 3.11 3.99", "3.9 4.0"},
		{"~= 3.10.2", "3.10.2 3.10.9", "3.10.1 3.11"},
		{"==3.11.*", "3.11.0 3.11.7 3.11rc1", "3.1 3.110 3.12"},
		{"==3.11", "3.11 3.11.0", "3.11.1"},
		{"!=3.9.1, >3.8", "3.9 3.8.1", "3.9.1 3.8 3.8.post1"},
		{"<3.13", "3.12.9", "3.13 3.13rc1"},
		{"<3.13rc1", "3.13b1", "3.13rc1"},
		{"===3.11.7", "3.11.7", "3.11"},
		{"<=3.11", "3.11 3.10.9", "3.11.1"},
		{"", "1 99", ""},
	} {
		list, err := ParseSpecifiers(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range strings.Fields(tt.yes) {
			if !list.Has(must(t, v)) {
				t.Errorf("%s has not %s", tt.spec, v)
			}
		}
		for _, v := range strings.Fields(tt.no) {
			if list.Has(must(t, v)) {
				t.Errorf("%s has %s", tt.spec, v)
			}
		}
	}
	for _, bad := range []string{"3.9", "=>3.9", ">=x", "~=3", ">=3.9.*", "^3.9", ">=3.9 <4", strings.Repeat(">=1,", 200)} {
		if _, err := ParseSpecifiers(bad); err == nil {
			t.Errorf("%q is a specifier", bad)
		}
	}
}

// TestAgainstPackaging compares with the library that pip itself uses.
func TestAgainstPackaging(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("BENTO_REQUIRE_TOOLS") == "1" {
			t.Fatal("python3 is not installed")
		}
		t.Skip("python3 is not installed")
	}
	versions := strings.Fields("3.8.18 3.9 3.9.1 3.10.0rc2 3.10 3.10.0.post1 3.11.7 3.12.0a1.dev3 3.12.0.dev1 3.13 4.0 1!3.9")
	specs := []string{">=3.9", ">3.9", "<3.10", "<=3.10", "~=3.9.0", "~=3.9", "==3.10.*", "!=3.10.*", "==3.10", "!=3.9", "<3.10rc1", ">3.10.0rc1", ">=3.12.0a1", ">3.10.post0", ">=3.9,<3.12,!=3.10.*"}
	in, _ := json.Marshal(map[string][]string{"versions": versions, "specs": specs})
	cmd := exec.Command(python, "-c", `
import json, sys
from pip._vendor.packaging.specifiers import SpecifierSet
d = json.load(sys.stdin)
print(json.dumps([[SpecifierSet(s).contains(v, prereleases=True) for v in d["versions"]] for s in d["specs"]]))`)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("pip's library is not there: %v", err)
	}
	var want [][]bool
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for i, s := range specs {
		list, err := ParseSpecifiers(s)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range versions {
			if got := list.Has(must(t, v)); got != want[i][j] {
				t.Errorf("%s has %s: %v, pip says %v", s, v, got, want[i][j])
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1!2.3rc4.post5.dev6+local.7", ">=3.9, !=3.9.1, ~=3.8")
	f.Add("v3", "===x")
	f.Fuzz(func(t *testing.T, version, spec string) {
		v, err := Parse(version)
		if err == nil && Compare(v, v) != 0 {
			t.Fatalf("%q differs from itself", version)
		}
		list, specErr := ParseSpecifiers(spec)
		if err == nil && specErr == nil {
			list.Has(v)
		}
	})
}
