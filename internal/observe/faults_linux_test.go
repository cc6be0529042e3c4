//go:build amd64 || arm64

package observe

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/internal/action"
)

// bomb is a script that doubles itself $1 times, and reads "a" in each of the 2^($1+1)-1 shells. The shells live until
// the last has ended.
const bomb = `f() { read x <a; [ $1 = 0 ] || { f $(($1-1)) & f $(($1-1)) & wait; }; }; `

// A fork bomb is seen as a whole, and ends with the command.
func TestForkBomb(t *testing.T) {
	needObserver(t)
	root := tree(t, "a", "b")
	_, r := run(t, root, "/bin/sh", "-c", bomb+"f 9; cat b >/dev/null")
	if got := lines(root, r); !slices.Contains(got, "a: read") || !slices.Contains(got, "b: read") || len(r.Unseen) > 0 {
		t.Errorf("want a and b read, got %q", got)
	}
}

// A fork bomb whose processes do not end is ended as a whole.
func TestForkBombIsEnded(t *testing.T) {
	needObserver(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	script := `f() { read x <a; if [ $1 = 0 ]; then exec sleep 1000; fi; f $(($1-1)) & f $(($1-1)) & wait; }; f 8 & echo; wait`
	res, _, err := observe(ctx, self(t), tree(t, "a"), ready{cancel}, []string{"/bin/sh", "-c", script})
	if err != nil || !res.Canceled {
		t.Errorf("%+v, %v", res, err)
	}
}

// A file that gets another name while it is noted, or that is removed and made again, is noted in some way, and nothing
// after it is missed.
func TestChangedWhileItIsNoted(t *testing.T) {
	needObserver(t)
	for name, change := range map[string]string{
		"renamed":           "rename:a:b rename:b:a",
		"deleted":           "remove:a write:a",
		"another directory": "rename:d:e rename:e:d",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "a", "d/a", "c")
			script := fmt.Sprintf(`while :; do "$0" static %s; done & p=$!; i=0; while [ $i -lt 300 ]; do { read x <a; read x <d/a; } 2>/dev/null; i=$((i+1)); done; kill $p; wait $p 2>/dev/null; cat c`, change)
			_, r := run(t, root, "/bin/sh", "-c", script, self(t))
			got := lines(root, r)
			if !slices.Contains(got, "c: read") || len(r.Unseen) > 0 {
				t.Errorf("want c read and all seen, got %q", got)
			}
			for _, p := range []string{"a", "d/a"} {
				if !slices.ContainsFunc(r.Files, func(f action.UsedFile) bool { return f.Path == filepath.Join(root, p) && f.Use != 0 }) {
					t.Errorf("%s is not noted: %q", p, got)
				}
			}
		})
	}
}

// What was made in a directory that gets other names with those around it has its last name.
func TestRenamedTwice(t *testing.T) {
	needObserver(t)
	root := tree(t)
	_, r := run(t, root, "/bin/sh", "-c", "mkdir -p s/a; echo x >s/a/f; mv s/a s/b; echo y >s/b/g; mv s out; mv out/b/f out/f")
	got := lines(root, r)
	for _, want := range []string{"out/f: write absent", "out/b/g: write absent"} {
		if !slices.ContainsFunc(got, func(line string) bool { return line == want }) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	for _, f := range r.Files {
		if rel, _ := filepath.Rel(root, f.Path); rel != "out/f" && filepath.Base(rel) == "f" && f.Use&action.Remove == 0 {
			t.Errorf("%s is noted as if it were still there: %q", rel, got)
		}
	}
}

// More paths than are noted make the report incomplete, and take no more room.
func TestAMillionPaths(t *testing.T) {
	t.Parallel()
	n := newNotes("/w")
	for i := range 1_000_000 {
		n.add(fmt.Sprint("/w/", i), action.Stat, true)
	}
	n.add("/w/1", action.Read, true)
	used := n.used()
	if len(used.Files) != maxFiles || len(used.Unseen) != 1 {
		t.Errorf("%d files are noted, want %d; unseen %q", len(used.Files), maxFiles, used.Unseen)
	}
	if i := slices.IndexFunc(used.Files, func(f action.UsedFile) bool { return f.Path == "/w/1" }); i < 0 || used.Files[i].Use&action.Read == 0 {
		t.Error("a noted file is not noted as read later")
	}
}

// A path that is not UTF-8 and as long as the kernel allows is noted as it is.
func TestLongestPath(t *testing.T) {
	needObserver(t)
	root := tree(t)
	name := "\xff\xfe"
	for len(root)+1+len(name) < 4000 {
		name += "/" + "\xff\xfe" + fmt.Sprint(len(name))
	}
	_, used, err := observe(t.Context(), self(t), root, io.Discard, []string{self(t), "static", "read:" + name})
	if err != nil || len(used.Unseen) > 0 {
		t.Fatalf("%v, unseen %q", err, used.Unseen)
	}
	if got := lines(root, used); !slices.ContainsFunc(got, func(line string) bool { return line[:2] == "\xff\xfe" }) {
		t.Errorf("got %q", got)
	}
}
