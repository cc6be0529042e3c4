//go:build unix

package discovery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFindRootPassesOver checks that FindRoot skips a marker of another user above the start.
func TestFindRootPassesOver(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may give files to others")
	}
	for _, name := range []string{"bento.toml", "bentos/", ".git/"} {
		base := write(t, map[string]string{"top/" + name: "", "top/mine/deep/": ""})
		top := filepath.Join(base, "top")
		own := func(path string, uid int, mode os.FileMode) {
			t.Helper()
			if err := os.Lchown(path, uid, uid); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		own(top, 0, 0o777|os.ModeSticky)
		marker := filepath.Join(top, name)
		start := RootOptions{Cwd: filepath.Join(top, "mine", "deep")}
		finds := func(want string) {
			t.Helper()
			var passed []string
			start.PassedOver = func(why string) { passed = append(passed, why) }
			got, err := FindRoot(start)
			if want != "" && (got != want || err != nil) || want == "" && (err == nil || len(passed) == 0 || !strings.Contains(err.Error(), passed[0])) {
				t.Errorf("%s: %q, %v, passed over %q; want %q", name, got, err, passed, want)
			}
		}
		finds(top) // root's own
		own(marker, 3001, 0o755)
		finds("")
		start.Dir = start.Cwd
		finds("") // the search starts at the directory of -C
		own(start.Cwd, 3001, 0o755)
		finds(top) // the start belongs to the same user as the marker
		own(start.Cwd, 0, 0o755)
		own(marker, 0, 0o755)
		own(top, 3001, 0o755)
		finds("")
		own(top, 0, 0o777)
		finds(top) // the mode of a directory makes no difference
		own(top, 0, 0o755)
		own(marker, 3001, 0o755)
		if err := os.Mkdir(filepath.Join(top, "mine", ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		finds(filepath.Join(top, "mine"))
	}
}
