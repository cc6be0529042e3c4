package lockfile

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/lockgraph"
)

func TestYarnEdits(t *testing.T) {
	data := read(t, "berry.lock")
	checksum := func(pkg string) string {
		_, rest, _ := strings.Cut(string(data), `"`+pkg+`"`+"\n")
		_, rest, _ = strings.Cut(rest, "checksum: ")
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	checkEdits(t, ParseYarn, data, []edit{
		{Name: "of the library", Old: checksum("is-number@npm:7.0.0"), New: "x", Changed: "packages/app packages/lib"},
		{Name: "for its development", Old: checksum("is-odd@npm:3.0.1"), New: "x", Changed: "packages/app packages/lib"},
		{Name: "far down", Old: checksum("kind-of@npm:3.2.2"), New: "x", Changed: "packages/app"},
		{Name: "under another name", Old: checksum("ms@npm:2.1.3"), New: "x", Changed: "packages/app"},
		{Name: "of another member", Old: checksum("loose-envify@npm:1.4.0"), New: "x", Changed: "packages/other"},
		{Name: "of the root", Old: checksum("isarray@npm:2.0.5"), New: "x", Changed: "all"},
		{Name: "patched", Old: "\"ms@npm:2.0.0\":\n", New: "\"loose-envify@patch:loose-envify@npm%3A1.4.0#x\":\n  resolution: \"loose-envify@patch:x\"\n\n\"ms@npm:2.0.0\":\n", Changed: "packages/other"},
		{Name: "replaced", Old: `loose-envify: "npm:1.4.0"`, New: `loose-envify: "npm:^1"`, Changed: "packages/other"},
		{Name: "another range", Old: `kind-of: "npm:^3.0.2"`, New: `kind-of: "npm:^9"`, Changed: "packages/app"},
		{Name: "gone", Old: `ms: "npm:2.0.0"`, New: `mss: "npm:2.0.0"`, Changed: "packages/other"},
		{Name: "ranges as yarn 3 writes them", Old: `ms: "npm:2.0.0"`, New: `ms: 2.0.0`},
		{Name: "lockfile version", Old: "version: 10\n", New: "version: 8\n"},
	})
}

func TestClassic(t *testing.T) {
	data := string(read(t, "classic.lock"))
	find := func(text, name, spec string) lockgraph.Sum {
		c, err := ParseClassic([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		sum, ok := c.Find(name, spec)
		if !ok {
			t.Fatalf("%s@%s is not found", name, spec)
		}
		return sum
	}
	for old, want := range map[string]string{"sha512-NOW9QQXM": "is-even", "sha512-6FlzubT": "alias", "sha512-lyuxPGr": "loose-envify"} {
		after := strings.Replace(data, old, "sha512-X", 1)
		for name, spec := range map[string]string{"is-even": "1.0.0", "alias": "npm:ms@2.1.3", "loose-envify": "1.4.0", "isarray": "2.0.5"} {
			if changed := find(data, name, spec) != find(after, name, spec); changed != (name == want) {
				t.Errorf("%s: %s changed is %v", old, name, changed)
			}
		}
	}
	if find(data, "ms", "2.0.0") != find(strings.ReplaceAll(data, "\n", "\r\n"), "ms", "2.0.0") {
		t.Error("line ends count")
	}
	c, _ := ParseClassic([]byte(data))
	if _, ok := c.Find("@ex/lib", "1.0.0"); ok {
		t.Error("a member is in the lockfile")
	}
	if !IsClassic([]byte(data)) || IsClassic(read(t, "berry.lock")) || !IsClassic(nil) {
		t.Error("the formats are not told apart")
	}
}

func TestYarnRefuses(t *testing.T) {
	refuses(t, ParseYarn, "/w/yarn.lock", map[string]string{
		"":                              "holds 0 documents",
		"__metadata:\n  version: 99\n":  `yarn lockfile version "99" is not known`,
		"__metadata:\n  version: &a 9a": `yarn lockfile version "9a" is not known`,
		"a: [":                          "not valid YAML",
	})
	for text, want := range map[string]string{
		"  version \"1\"\n":                      "line 1 is not in the layout of yarn: \"version \\\"1\\\"\" belongs to no entry",
		"a@1:\n    b \"1\"\n":                    "line 2 is not",
		"a@1:\n  version \"1\n":                  "has no closing quote",
		"a@1:\n  version \"1\" x\n":              "after a value",
		"<<<<<<< HEAD\n":                         "line 1 is not",
		"a@1\n":                                  "line 1 is not",
		"\"a@1\" b:\n":                           "expected a comma or a colon",
		"a@1:\n  dependencies:\n    b \"1\" x\n": "after a range",
		"a@1:\n  dependencies:\n    b\n":         "expected a text",
	} {
		if _, err := ParseClassic([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gave %v, want %s", text, err, want)
		}
	}
}

func FuzzYarn(f *testing.F) {
	f.Add(read(f, "berry.lock"))
	f.Add(read(f, "classic.lock"))
	f.Add([]byte("\"@s/a@^1, @s/a@npm:2\":\n  resolution: x@workspace:.\n  dependencies:\n    b: 1\n__metadata:\n  version: 8\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := ParseYarn("f", data)
		if (lock == nil) == (err == nil) {
			t.Fatalf("%v and %v", lock, err)
		}
		if err == nil {
			lock.Digest(Root)
		}
		if c, err := ParseClassic(data); err == nil {
			c.Find("a", "1")
		}
	})
}
