package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHiddenFilesCountByContent: files that git was told to assume unchanged are compared by content,
// for an index of any form.
func TestHiddenFilesCountByContent(t *testing.T) {
	needGit(t)
	for name, form := range map[string][]string{
		"plain": {"--index-version=2"}, "compressed": {"--index-version=4"}, "split": {"--split-index"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newRepo(t)
			write(t, dir, "assumed", "assumed and gone", "assumed and same", "both", "skipped", "skipped and absent", "skipped and same", "seen")
			if err := os.Symlink("seen", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-qm", "one")
			git(t, dir, append([]string{"update-index"}, form...)...)
			git(t, dir, "update-index", "--assume-unchanged", "assumed", "assumed and gone", "assumed and same", "both", "link")
			git(t, dir, "update-index", "--skip-worktree", "skipped", "skipped and absent", "skipped and same", "both")
			for _, name := range []string{"assumed", "both", "skipped"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("other"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			touch(t, dir, "assumed and same", "skipped and same")
			for _, name := range []string{"assumed and gone", "skipped and absent"} {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			paths, _, err := open(t, dir).Changed(context.Background(), "HEAD")
			if diff := cmp.Diff([]string{"assumed", "assumed and gone", "both", "skipped"}, paths); diff != "" || err != nil {
				t.Errorf("Changed: %v (-want +got):\n%s", err, diff)
			}
			if err := os.Remove(filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("both", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			paths, _, err = open(t, dir).Changed(context.Background(), "HEAD")
			if diff := cmp.Diff([]string{"assumed", "assumed and gone", "both", "link", "skipped"}, paths); diff != "" || err != nil {
				t.Errorf("Changed: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func FuzzParseHidden(f *testing.F) {
	f.Add([]byte("h 100644 78981922613b2afb6025042ff6bd878ac1994e85 0\ta\x00S 100644 61780798228d17af2d34fce4cfbdf35556832472 0\tb\x00"))
	f.Add([]byte("H 160000 00 0\ta\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		list, err := parseHidden(out)
		for _, h := range list {
			if int(h.off+h.len) > len(out) || h.len == 0 {
				t.Fatalf("%+v, %v", h, err)
			}
		}
	})
}
