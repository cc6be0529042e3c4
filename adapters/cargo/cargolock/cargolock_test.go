package cargolock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// sum returns the digest of a package in a lockfile, with app 1.0.0 for the version.
func sum(t *testing.T, lock, name string) (sum, why string) {
	t.Helper()
	l, err := Parse("Cargo.lock", []byte(lock))
	if err != nil {
		t.Fatal(err)
	}
	return l.Sum(name, "1.0.0")
}

const registry = `source = "registry+https://example.com/index"`

const base = `version = 4

[[package]]
name = "app"
version = "1.0.0"
dependencies = ["lib", "ryu"]

[[package]]
name = "lib"
version = "1.0.0"
dependencies = ["itoa 1.0.0"]

[[package]]
name = "other"
version = "1.0.0"
dependencies = ["itoa 2.0.0"]

[[package]]
name = "itoa"
version = "1.0.0"
` + registry + `
checksum = "aa"

[[package]]
name = "itoa"
version = "2.0.0"
` + registry + `
checksum = "bb"

[[package]]
name = "ryu"
version = "1.0.0"
` + registry + `
checksum = "cc"
`

func TestSumIsOfWhatAPackageResolvesTo(t *testing.T) {
	for _, test := range []struct {
		old, new string
		moves    string // of app, lib, other
	}{
		{`checksum = "aa"`, `checksum = "dd"`, "app lib"},
		{`checksum = "bb"`, `checksum = "dd"`, "other"},
		{`checksum = "cc"`, `checksum = "dd"`, "app"},
		{`name = "ryu"` + "\nversion = \"1.0.0\"", `name = "ryu"` + "\nversion = \"1.0.1\"", "app"},
		{`dependencies = ["itoa 1.0.0"]`, `dependencies = ["itoa 2.0.0"]`, "app lib"},
		{`dependencies = ["itoa 2.0.0"]`, `dependencies = ["itoa 2.0.0", "itoa 1.0.0"]`, "other"},
		{`version = 4`, `version = 3`, ""},
		{`dependencies = ["lib", "ryu"]`, "dependencies = [\r\n \"ryu\", \"lib\",\r\n]", ""},
		{"[[package]]\nname = \"ryu\"", "[[package]]\nname = \"unused\"\nversion = \"9.0.0\"\n\n[[package]]\nname = \"ryu\"", ""},
	} {
		if !strings.Contains(base, test.old) {
			t.Fatalf("no %q", test.old)
		}
		edited := strings.Replace(base, test.old, test.new, 1)
		var moved []string
		for _, name := range []string{"app", "lib", "other"} {
			before, _ := sum(t, base, name)
			after, why := sum(t, edited, name)
			if after == "" {
				t.Fatalf("%q: %s: %s", test.new, name, why)
			}
			if before != after {
				moved = append(moved, name)
			}
		}
		if got := strings.Join(moved, " "); got != test.moves {
			t.Errorf("%q → %q moves %q, want %q", test.old, test.new, got, test.moves)
		}
	}
}

func TestOldFormats(t *testing.T) {
	v1 := `[root]
name = "app"
version = "1.0.0"
dependencies = ["itoa 1.0.0 (registry+https://example.com/index)"]

[[package]]
name = "itoa"
version = "1.0.0"
` + registry + `

[metadata]
"checksum itoa 1.0.0 (registry+https://example.com/index)" = "aa"
`
	before, why := sum(t, v1, "app")
	after, _ := sum(t, strings.Replace(v1, `"aa"`, `"bb"`, 1), "app")
	if before == "" || before == after {
		t.Errorf("%q (%s), %q", before, why, after)
	}
}

func TestTwoSourcesOfOneVersion(t *testing.T) {
	lock := `version = 4
[[package]]
name = "app"
version = "1.0.0"
dependencies = ["x 1.0.0 (git+https://example.com/x?rev=1)"]
[[package]]
name = "x"
version = "1.0.0"
source = "git+https://example.com/x?rev=1#1111"
[[package]]
name = "x"
version = "1.0.0"
source = "git+https://example.com/x?rev=2#2222"
`
	before, why := sum(t, lock, "app")
	other, _ := sum(t, strings.Replace(lock, "#2222", "#3333", 1), "app")
	own, _ := sum(t, strings.Replace(lock, "#1111", "#3333", 1), "app")
	if before == "" || other != before || own == before {
		t.Errorf("%q (%s), %q, %q", before, why, other, own)
	}
}

func TestWhyItCannotBeTold(t *testing.T) {
	for lock, want := range map[string]string{
		"version = 5\n":             "Cargo.lock version 5 is not known",
		"version = \"x\"\n":         "Cargo.lock version x is not known",
		"version = 4\n[[package]\n": "line 2: ",
		"\xff\xfev\x00e\x00":        "line 1: ",
		"version = 4\n":             "it does not list the package app",
		strings.Replace(base, "\"ryu\"]", "\"gone\"]", 1):                                                           "it does not resolve a dependency of the package app",
		"version = 4\n[[package]]\nname=\"app\"\nversion=\"2.0.0\"\n[[package]]\nname=\"app\"\nversion=\"3.0.0\"\n": "it lists several packages app",
	} {
		got, why := sum(t, lock, "app")
		if got != "" || !strings.HasPrefix(why, want) {
			t.Errorf("%.40q: %q, %q; want %q", lock, got, why, want)
		}
	}
}

// Both readers return the same for any layout of a lockfile.
func TestBothReadersAgree(t *testing.T) {
	written := strings.NewReplacer(`["`, "[\n \"", `", "`, "\",\n \"", `"]`, "\",\n]").Replace(base)
	fast, ok := scan(written)
	if !ok {
		t.Fatal("what cargo writes is not read at once")
	}
	if _, ok := scan(base); ok {
		t.Fatal("another layout is read at once")
	}
	f, problems := tomlfile.ParseManifest("Cargo.lock", []byte(base))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	slow := read(f.Root())
	slow.sums = nil
	if d := cmp.Diff(slow, fast, cmp.AllowUnexported(document{})); d != "" {
		t.Error(d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(base))
	f.Add([]byte("version = 4\n[[package]]\nname = \"app\"\ndependencies = [\"app\"]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("Cargo.lock", data)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"app", ""} {
			if got, why := l.Sum(name, "1.0.0"); (got == "") == (why == "") {
				t.Errorf("%s: %q and %q", name, got, why)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var lock strings.Builder
	lock.WriteString("version = 4\n")
	for i := range 1000 {
		fmt.Fprintf(&lock, "\n[[package]]\nname = \"p%d\"\nversion = \"1.0.0\"\n%s\nchecksum = \"%064x\"\ndependencies = [\n \"p%d\",\n \"p%d\",\n]\n", i, registry, i, (i+1)%1000, (i*7)%1000)
	}
	data := []byte(lock.String())
	for b.Loop() {
		if _, err := Parse("Cargo.lock", data); err != nil {
			b.Fatal(err)
		}
	}
}
