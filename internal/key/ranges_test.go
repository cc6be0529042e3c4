package key

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// The digest of a dish with a link inside the workspace is known, and includes the target of the
// link. With a link out of the workspace it is unknown, because the warning must be repeated.
func TestRangeWithLink(t *testing.T) {
	w := &world{root: t.TempDir()}
	if err := os.Mkdir(w.root+".kept", 0o755); err != nil {
		t.Fatal(err)
	}
	st := state.Open(w.root + ".kept")
	of := func() rangeDigest {
		t.Helper()
		w.settle(t, st)
		files, err := tree.Walk(t.Context(), w.root, &tree.Options{State: st})
		if err != nil {
			t.Fatal(err)
		}
		return newRangeDigests(files).Of("d")
	}
	link := func(target string) rangeDigest {
		t.Helper()
		at := filepath.Join(w.root, "d", "link")
		_ = os.Remove(at)
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
		return of()
	}
	w.write(t, "d/src", "")
	w.write(t, "e/deep/file", "1")
	seen := map[rangeDigest]string{}
	want := func(what string, got rangeDigest) {
		t.Helper()
		if other, had := seen[got]; !got.Known || had {
			t.Errorf("%s: known %v, the same as %q", what, got.Known, other)
		}
		seen[got] = what
	}
	want("a file", link("src"))
	want("a directory", link("../e"))
	w.write(t, "e/deep/file", "2")
	want("a directory with other content", of())
	want("a file elsewhere", link("../e/deep/file"))
	w.write(t, "e/deep/file", "3")
	want("a file with other content", of())
	want("nothing", link("missing"))
	want("itself", link("link"))
	if got := link("../../outside"); got.Known {
		t.Error("a link out of the workspace is known")
	}
}

// An ignored path that a glob names is read from disk: the digest of a missing one is known, that of
// a directory or behind a link is unknown.
func TestRangeThatIsIgnored(t *testing.T) {
	w := &world{root: t.TempDir()}
	w.write(t, ".gitignore", "lock\nlink\ndir\n")
	w.write(t, "dir/file", "")
	if err := os.Symlink("dir", filepath.Join(w.root, "link")); err != nil {
		t.Fatal(err)
	}
	files, err := tree.Walk(t.Context(), w.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{"lock": true, "lock/below": true, "dir": false, "link": false, "dir/missing": true} {
		s := &validatorMaker{Evaluator: &Evaluator{tree: files}, ranges: newRangeDigests(files)}
		if got := s.addRange(&ownership{Dish: &dish.Dish{Path: "other"}}, at); got != want {
			t.Errorf("%s: known %v, want %v", at, got, want)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(w.root, "lock")); err != nil {
		t.Fatal(err)
	}
	s := &validatorMaker{Evaluator: &Evaluator{tree: files}, ranges: newRangeDigests(files)}
	if s.addRange(&ownership{Dish: &dish.Dish{Path: "other"}}, "lock") {
		t.Error("what lies behind a link is known")
	}
}
