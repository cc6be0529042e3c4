//go:build unix

package owner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes directories, files (with a dot) and links ("a -> b") below a new directory.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, to, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(strings.ReplaceAll(to, "ROOT", root), path)
		case strings.Contains(name, "."):
			err = os.WriteFile(path, nil, 0o755)
		default:
			err = os.Mkdir(path, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// chmod sets modes: the umask has no say.
func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestWays(t *testing.T) {
	names := []string{
		"lib/x/bin.sh", "real/deep/link.sh -> ../../lib/x/bin.sh", "bin/tool -> ../real/deep/link.sh", "usr -> ROOT/bin", "far/tool -> ROOT/usr/tool",
		"up/tool -> ../bin/../usr/../lib/./x//bin.sh",
	}
	for name, c := range map[string]struct {
		from   string
		change map[string]os.FileMode
		want   string // the component that is named, "" for none
	}{
		"nobody":                       {"far/tool", nil, ""},
		"the file":                     {"far/tool", map[string]os.FileMode{"lib/x/bin.sh": 0o757}, "lib/x/bin.sh"},
		"its directory":                {"far/tool", map[string]os.FileMode{"lib/x": 0o757}, "lib/x"},
		"above it":                     {"far/tool", map[string]os.FileMode{"lib": 0o777}, "lib"},
		"of a link to it":              {"far/tool", map[string]os.FileMode{"real/deep": 0o777}, "real/deep"},
		"above that link":              {"far/tool", map[string]os.FileMode{"real": 0o777}, "real"},
		"where the search found it":    {"far/tool", map[string]os.FileMode{"far": 0o777}, "far"},
		"a link to a directory":        {"usr/tool", map[string]os.FileMode{"bin": 0o777}, "bin"},
		"sticky":                       {"far/tool", map[string]os.FileMode{"lib": 0o777 | os.ModeSticky, "real/deep": 0o777 | os.ModeSticky}, ""},
		"a sticky file":                {"far/tool", map[string]os.FileMode{"lib/x/bin.sh": 0o777 | os.ModeSticky}, "lib/x/bin.sh"},
		"a group of the user":          {"far/tool", map[string]os.FileMode{"lib": 0o775, "lib/x/bin.sh": 0o775}, ""},
		"beside the way":               {"lib/x/bin.sh", map[string]os.FileMode{"real": 0o777, "bin": 0o777}, ""},
		"left by two dots":             {"up/tool", map[string]os.FileMode{"bin": 0o777}, "bin"},
		"a way through a link and up":  {"up/tool", map[string]os.FileMode{"lib/x": 0o757}, "lib/x"},
		"only those may write who can": {"far/tool", map[string]os.FileMode{"lib": 0o711, "lib/x/bin.sh": 0o111}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, names...)
			for path, mode := range c.change {
				chmod(t, filepath.Join(root, path), mode)
			}
			got, err := Of(root).Ways().To(filepath.Join(root, c.from))
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if got != nil {
					t.Errorf("%+v, want nothing", got)
				}
				return
			}
			if at := filepath.Join(root, c.want); got == nil || got.Path != at || got.Why != "everyone may write to "+at || got.Fix != "chmod o-w "+at {
				t.Errorf("%+v, want %s", got, at)
			}
		})
	}
}

// Another user can change his link or directory, even in a sticky directory. A group can change the
// files that it may write to.
func TestWaysOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: files are made those of another user")
	}
	const other = 4711
	for name, want := range map[string]string{
		"lib/x/bin.sh": "belongs to user 4711", "lib/x": "belongs to user 4711", "bin/tool": "belongs to user 4711", "group lib": "group 4711 may write to",
		"group lib/x/bin.sh": "group 4711 may write to", "group bin/tool": "",
	} {
		root := tree(t, "lib/x/bin.sh", "bin/tool -> ../lib/x/bin.sh")
		chmod(t, filepath.Join(root, "bin"), 0o777|os.ModeSticky)
		path, byGroup := strings.CutPrefix(name, "group ")
		uid, gid := other, 0
		if byGroup {
			uid, gid = 0, other
		}
		if err := os.Lchown(filepath.Join(root, path), uid, gid); err != nil {
			t.Fatal(err)
		}
		if byGroup && want != "" {
			chmod(t, filepath.Join(root, path), 0o775)
		}
		got, err := Of(root).Ways().To(filepath.Join(root, "bin", "tool"))
		switch {
		case err != nil:
			t.Error(err)
		case want == "" && got != nil, want != "" && (got == nil || got.Path != filepath.Join(root, path) || !strings.Contains(got.Why, want)):
			t.Errorf("%s: %+v, want %q", name, got, want)
		}
		// The owner of the workspace may do as he likes with his own files.
		if err := os.Chown(root, other, 0); err != nil {
			t.Fatal(err)
		}
		if got, err := Of(root).Ways().To(filepath.Join(root, "bin", "tool")); err != nil || got != nil && !byGroup {
			t.Errorf("%s in a workspace of its owner: %+v, %v", name, got, err)
		}
	}
}

func TestWaysThatLeadNowhere(t *testing.T) {
	root := tree(t, "a -> b", "b -> a", "dir/file.sh")
	if got, err := Of(root).Ways().To(filepath.Join(root, "a")); err == nil || got != nil {
		t.Errorf("a circle of links: %+v", got)
	}
	if _, err := Of(root).Ways().To(filepath.Join(root, "dir", "missing")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"/a/b.c-d": "/a/b.c-d", "/a b": "'/a b'", "/it's;rm": `'/it'\''s;rm'`} {
		if got := ShellWord(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}
