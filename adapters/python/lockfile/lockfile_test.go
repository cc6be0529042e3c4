package lockfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const uvText = `version = 1
revision = 3
requires-python = ">=3.9"
[manifest]
members = ["app", "lib", "tool"]
[manifest.dependency-groups]
dev = [{ name = "pytest", specifier = ">=8" }]
[[package]]
name = "app"
version = "1.0.0"
source = { virtual = "packages/app" }
dependencies = [{ name = "lib", extra = ["fast"] }, { name = "idna" }]
[[package]]
name = "fastlib"
version = "3"
source = { registry = "https://index.example/simple" }
sdist = { url = "https://files.example/a/b/fastlib-3.tar.gz", hash = "sha256:f3" }
[[package]]
name = "idna"
version = "3.0"
source = { registry = "https://index.example/simple" }
wheels = [
  { url = "https://files.example/a/b/idna-3.0-py3-none-any.whl", hash = "sha256:a1", size = 3 },
  { url = "https://files.example/a/b/idna-3.0-cp39.whl", hash = "sha256:a2" },
]
[[package]]
name = "lib"
version = "1.0.0"
source = { editable = "packages/lib" }
dependencies = [
  { name = "six", version = "1.0", source = { registry = "https://index.example/simple" }, marker = "python_version < '3.10'" },
  { name = "six", version = "2.0", source = { registry = "https://index.example/simple" }, marker = "python_version >= '3.10'" },
]
[package.optional-dependencies]
fast = [{ name = "fastlib" }]
slow = [{ name = "slowlib" }]
[package.dev-dependencies]
docs = [{ name = "sphinx" }]
[package.metadata]
requires-dist = [{ name = "six" }]
[[package]]
name = "pytest"
version = "8"
source = { registry = "https://index.example/simple" }
[[package]]
name = "six"
version = "1.0"
source = { registry = "https://index.example/simple" }
[[package]]
name = "six"
version = "2.0"
source = { registry = "https://index.example/simple" }
[[package]]
name = "slowlib"
version = "1"
source = { url = "https://files.example/slowlib-1.zip" }
[[package]]
name = "sphinx"
version = "1"
source = { git = "https://git.example/sphinx?rev=1#abc" }
[[package]]
name = "tool"
version = "0"
source = { virtual = "tool" }
dependencies = [{ name = "tool-a" }]
[[package]]
name = "tool-a"
version = "0"
source = { registry = "https://index.example/simple" }
dependencies = [{ name = "tool-b" }]
[[package]]
name = "tool-b"
version = "0"
source = { registry = "https://index.example/simple" }
dependencies = [{ name = "tool-a" }]
`

var uvMembers = []string{"packages/app", "packages/lib", "tool", "."}

func uvDigests(t *testing.T, text string) map[string]string {
	t.Helper()
	u, err := ParseUV("/x/uv.lock", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, dir := range uvMembers {
		digest, ok := u.Digest(dir, nil)
		if ok != (dir != ".") {
			t.Errorf("%s is known: %v", dir, ok)
		}
		out[dir] = digest
	}
	return out
}

func TestUVDigest(t *testing.T) {
	before := uvDigests(t, uvText)
	for _, tt := range []struct {
		name, old, new string
		want           []string // whose digests change
	}{
		{"nothing", "revision = 3", "revision = 4", nil},
		{"the address of an index", "index.example", "mirror.example", nil},
		{"the address of a file", "files.example/a/b/", "files.example/c/", nil},
		{"the size of a file", "size = 3", "size = 4", nil},
		{"what the manifest says", `requires-dist = [{ name = "six" }]`, `requires-dist = [{ name = "six", specifier = ">1" }]`, nil},
		{"a hash", "sha256:a2", "sha256:b2", []string{"packages/app"}},
		{"a version of several", "version = \"2.0\"", "version = \"2.1\"", []string{"packages/app", "packages/lib"}},
		{"an extra that is asked for", "sha256:f3", "sha256:f4", []string{"packages/app", "packages/lib"}},
		{"an extra that is not", "slowlib-1.zip", "slowlib-1.tgz", []string{"packages/lib"}},
		{"a group", "#abc", "#def", []string{"packages/lib"}},
		{"a group of the root", "version = \"8\"", "version = \"9\"", uvMembers},
		{"a marker", "< '3.10'", "< '3.11'", []string{"packages/app", "packages/lib"}},
		{"in a circle", "name = \"tool-b\"\nversion = \"0\"", "name = \"tool-b\"\nversion = \"1\"", []string{"tool"}},
		{"a dependency less", `{ name = "idna" }`, "", []string{"packages/app"}},
	} {
		if !strings.Contains(uvText, tt.old) {
			t.Fatalf("%s: no %q", tt.name, tt.old)
		}
		after := uvDigests(t, strings.ReplaceAll(uvText, tt.old, tt.new))
		var changed []string
		for _, dir := range uvMembers {
			if before[dir] != after[dir] {
				changed = append(changed, dir)
			}
		}
		if diff := cmp.Diff(tt.want, changed); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestUVDigestIgnoresOrder(t *testing.T) {
	parts := strings.SplitAfter(uvText, "[[package]]\n")
	head, packages := strings.TrimSuffix(parts[0], "[[package]]\n"), parts[1:]
	text := head
	for i := len(packages) - 1; i >= 0; i-- {
		text += "[[package]]\n" + strings.TrimSuffix(packages[i], "[[package]]\n")
	}
	if diff := cmp.Diff(uvDigests(t, uvText), uvDigests(t, text)); diff != "" {
		t.Error(diff)
	}
}

func TestUVToolsOfTheRoot(t *testing.T) {
	digest := func(text string) string {
		u, err := ParseUV("/x/uv.lock", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		d, _ := u.Digest("tool", []string{"sphinx"})
		return d
	}
	if digest(uvText) == digest(strings.ReplaceAll(uvText, "#abc", "#def")) {
		t.Error("a tool that the root brings does not count")
	}
}

func TestUVRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"version = 2\n":                    "this version of uv.lock is unknown, expected 1",
		"":                                 "this version of uv.lock is unknown",
		"version = '1'\n":                  "this version of uv.lock is unknown",
		"version = 1\nversion = 1\n":       "/x/uv.lock:2:1:",
		"version = 1\n[[package]]\nname\n": "/x/uv.lock:3:5:",
		"\xff\xfev\x00":                    "/x/uv.lock:1:4:",
	} {
		if _, err := ParseUV("/x/uv.lock", []byte(text)); err == nil || !strings.HasPrefix(Whole(err), want) || strings.Contains(Whole(err), "\n") {
			t.Errorf("%q gave %v", text, err)
		}
	}
}

func TestPoetryDigest(t *testing.T) {
	const two = `[[package]]
name = "six"
version = "1.0"
description = "x"
optional = false
groups = ["main"]
markers = "python_version < '3'"
files = [{file = "six-1.0.whl", hash = "sha256:aa"}, {file = "six-1.0.tar.gz", hash = "sha256:bb"}]
[package.dependencies]
attrs = {version = ">=1", markers = "x"}
[package.source]
type = "legacy"
url = "https://index.example/simple"
reference = "idx"
[[package]]
name = "lib"
version = "1"
files = []
[package.source]
type = "directory"
url = "../lib"
[metadata]
lock-version = "2.1"
content-hash = "xx"
`
	digest := func(text string) string {
		t.Helper()
		d, err := PoetryDigest("/x/poetry.lock", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for old, changes := range map[string]bool{
		"# ": false, "content-hash = \"xx\"": false, "description = \"x\"": false, "index.example": false, "lock-version = \"2.1\"": false,
		"version = \"1.0\"": true, "sha256:aa": true, "markers = \"x\"": true, "../lib": true, "\"main\"": true, "name = \"lib\"": true,
	} {
		changed := strings.Replace(old, "x", "y", 1)
		switch old {
		case "lock-version = \"2.1\"":
			changed = "lock-version = \"2.0\""
		case "# ":
			changed = ""
		case "version = \"1.0\"", "\"main\"", "name = \"lib\"", "../lib", "sha256:aa":
			changed = strings.TrimSuffix(old, "\"") + "x"
			if strings.HasSuffix(old, "\"") {
				changed += "\""
			}
		}
		if got := digest(two) != digest(strings.Replace(two, old, changed, 1)); got != changes {
			t.Errorf("%q: changes %v, want %v", old, got, changes)
		}
	}
	// Version 1 keeps the hashes at its end.
	const one = "[[package]]\nname = \"six\"\nversion = \"1.0\"\n[metadata]\nlock-version = \"1.1\"\n[metadata.files]\nsix = [{file = \"six.whl\", hash = \"sha256:aa\"}]\n"
	if digest(one) == digest(strings.Replace(one, "aa", "ab", 1)) {
		t.Error("a hash of version 1 does not count")
	}
}

func FuzzUV(f *testing.F) {
	f.Add([]byte(uvText))
	f.Add([]byte("version = 1\npackage = [{name='a', source={editable='.'}, dependencies=[{name='a', extra=['x']}], optional-dependencies={x=[{name='a'}]}}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := ParseUV("/x/uv.lock", data)
		if err != nil {
			return
		}
		for _, dir := range uvMembers {
			one, _ := u.Digest(dir, []string{"a"})
			if two, _ := u.Digest(dir, []string{"a"}); one != two || one == "" {
				t.Fatalf("%s: %q, %q", dir, one, two)
			}
		}
	})
}

func FuzzPoetry(f *testing.F) {
	f.Add([]byte("[[package]]\nname='a'\nfiles=[{file='x',hash='y'}]\n[package.dependencies]\nb={version='1'}\n[metadata]\nlock-version='2.0'\n[metadata.files]\na=[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		one, err := PoetryDigest("/x/poetry.lock", data)
		two, _ := PoetryDigest("/x/poetry.lock", data)
		if one != two || err == nil && one == "" {
			t.Fatalf("%q, %q, %v", one, two, err)
		}
	})
}
