package gemlock

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

const sample = `GIT
  remote: https://git.example/web.git
  revision: abc
  branch: main
  specs:
    web (1.0)
      rack (>= 2)

PATH
  remote: app
  specs:
    app (1.0.0)
      lib
      web

PATH
  remote: lib
  specs:
    lib (1.0.0)
      rainbow (~> 3.0)

GEM
  remote: https://index.example/
  specs:
    native (1.0-x86_64-linux)
    native (1.0-arm64-darwin)
    one (1.0)
      two
    rack (2.2)
    rainbow (3.1.1)
    rake (13.0.6)
    two (1.0)
      one
    unused (1.0)

PLATFORMS
  x86_64-linux

DEPENDENCIES
  app!
  lib!
  native
  one (~> 1)
  rake

CHECKSUMS
  rake (13.0.6) sha256=aa
  rainbow (3.1.1) sha256=bb

RUBY VERSION
   ruby 3.1.2p20

BUNDLED WITH
   2.3.15
`

func parse(t testing.TB, text string) *Lock {
	t.Helper()
	l, err := Parse("/x/Gemfile.lock", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDigests(t *testing.T) {
	digests := func(text string) map[string]string {
		l := parse(t, text)
		out := map[string]string{"all": l.Digest()}
		for _, name := range []string{"app", "lib"} {
			var ok bool
			if out[name], ok = l.DigestOf([]string{name}); !ok {
				t.Errorf("%s is not known", name)
			}
		}
		return out
	}
	before := digests(sample)
	for _, tt := range []struct{ name, old, new, want string }{
		{"nothing", "", "", ""},
		{"the version of bundler", "2.3.15", "2.5.1", ""},
		{"the address of the index", "index.example", "mirror.example", ""},
		{"CRLF", "\n", "\r\n", ""},
		{"what is not reached", "unused (1.0)", "unused (2.0)", ""},
		{"a gem of the library", "rainbow (3.1.1)", "rainbow (3.2)", "all app lib"},
		{"a checksum", "sha256=bb", "sha256=bc", "all app lib"},
		{"a gem of the application", "rack (2.2)", "rack (2.3)", "all app"},
		{"a revision", "revision: abc", "revision: abd", "all app"},
		{"a gem for all", "rake (13.0.6)", "rake (13.1)", "all app lib"},
		{"a gem for another platform", "1.0-arm64", "1.1-arm64", "all app lib"},
		{"in a circle", "two (1.0)", "two (1.1)", "all app lib"},
		{"Ruby", "3.1.2p20", "3.1.3", "all"},
		{"a platform", "PLATFORMS\n", "PLATFORMS\n  ruby\n", "all"},
		{"a requirement", "one (~> 1)", "one (~> 1.0)", "all app lib"},
	} {
		text := sample
		if tt.old != "" {
			if !strings.Contains(sample, tt.old) {
				t.Fatalf("%s: no %q", tt.name, tt.old)
			}
			text = strings.ReplaceAll(sample, tt.old, tt.new)
		}
		after := digests(text)
		var changed []string
		for _, name := range []string{"all", "app", "lib"} {
			if before[name] != after[name] {
				changed = append(changed, name)
			}
		}
		if got := strings.Join(changed, " "); got != tt.want {
			t.Errorf("%s: %q changed, want %q", tt.name, got, tt.want)
		}
	}
	if _, ok := parse(t, sample).DigestOf([]string{"nobody"}); ok {
		t.Error("nobody is known")
	}
}

func TestParse(t *testing.T) {
	l := parse(t, "\xef\xbb\xbf"+sample)
	if diff := cmp.Diff([]Path{{"app", "app", 12}, {"lib", "lib", 19}}, l.Paths); diff != "" {
		t.Error(diff)
	}
	if !l.Has("two") || l.Has("three") {
		t.Error("what is resolved to")
	}
	if l := parse(t, ""); l.Digest() == "" || len(l.Paths) > 0 {
		t.Error("an empty lockfile")
	}
}

func TestParseRefuses(t *testing.T) {
	_, err := Parse("/x/Gemfile.lock", []byte("GEM\n  specs:\n<<<<<<< HEAD\n    a (1)\n=======\n    a (2)\n>>>>>>> other\n"))
	var problems diagnostics.Problems
	if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), "/x/Gemfile.lock:3:1: merge conflict markers") {
		t.Errorf("%v", err)
	}
	_, err = Parse("/x/Gemfile.lock", []byte("FUTURE\n  x\n"))
	if err == nil || errors.As(err, &problems) || err.Error() != `the section "FUTURE" of Gemfile.lock is not known` {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("PATH\n  remote: .\n  specs:\n    a (1)\n      a\nDEPENDENCIES\n  a!\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("/x/Gemfile.lock", data)
		if err != nil {
			return
		}
		one, _ := l.DigestOf([]string{"a"})
		if two, _ := l.DigestOf([]string{"a"}); one != two || l.Digest() == "" {
			t.Fatalf("%q, %q", one, two)
		}
	})
}
