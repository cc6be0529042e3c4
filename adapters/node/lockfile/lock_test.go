package lockfile

import (
	"os"
	"strings"
	"testing"
)

// edit is an edit of a lockfile and the members that it concerns.
type edit struct {
	Name     string
	Old, New string // texts in the lockfile; Old has to occur
	Changed  string // directories of members, separated by spaces
}

// parser is a parser of lockfiles.
type parser func(name string, data []byte) (*Lock, error)

// members returns the members of the workspace of the tests.
func members() []string { return []string{"packages/app", "packages/lib", "packages/other", "."} }

// checkEdits checks that an edit of a lockfile changes the digests of the members that it concerns, and no
// others.
func checkEdits(t *testing.T, parse parser, data []byte, edits []edit) {
	t.Helper()
	before := digests(t, parse, string(data))
	for _, e := range edits {
		t.Run(e.Name, func(t *testing.T) {
			if !strings.Contains(string(data), e.Old) {
				t.Fatalf("%q is not there", e.Old)
			}
			after := digests(t, parse, strings.Replace(string(data), e.Old, e.New, 1))
			for _, member := range members() {
				changed := before[member] != after[member]
				if want := strings.Contains(" "+e.Changed+" ", " "+member+" ") || e.Changed == "all"; changed != want {
					t.Errorf("%s: changed is %v", member, changed)
				}
			}
		})
	}
}

func digests(t *testing.T, parse parser, text string) map[string]string {
	t.Helper()
	lock, err := parse("lockfile", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, member := range members() {
		d, ok := lock.Digest(member)
		if !ok {
			t.Fatalf("%s is not known", member)
		}
		out[member] = d
	}
	if _, ok := lock.Digest("packages/nobody"); ok {
		t.Error("a directory that the lockfile does not name is known")
	}
	return out
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// refuses checks the errors of lockfiles by their text.
func refuses(t *testing.T, parse parser, name string, want map[string]string) {
	t.Helper()
	for text, want := range want {
		if _, err := parse(name, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q gave %v, want %s", text, err, want)
		}
	}
}

// fuzz checks that a parser returns either a lock or an error.
func fuzz(f *testing.F, parse parser) {
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := parse("f", data)
		if (lock == nil) == (err == nil) {
			t.Fatalf("%v and %v", lock, err)
		}
		if err == nil {
			lock.Digest(Root)
		}
	})
}
