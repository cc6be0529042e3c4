package companion

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func digest(t *testing.T, dir string) string {
	t.Helper()
	d, err := digestOf(dir)
	if err != nil || len(d) != 64 {
		t.Fatalf("%q, %v", d, err)
	}
	return d
}

// TestDigest: each change of a file, a name, a mode or a link is another digest, and the place of
// the directory is not part of it.
func TestDigest(t *testing.T) {
	lay := func() string {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "manifest.toml"), "a", 0o644)
		put(t, filepath.Join(dir, "lib", "x.py"), "b", 0o644)
		if err := os.Symlink("lib/x.py", filepath.Join(dir, "main")); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	first := lay()
	seen := map[string]string{digest(t, first): "as it was"}
	if digest(t, lay()) != digest(t, first) {
		t.Error("equal directories have different digests")
	}
	for name, change := range map[string]func(dir string) error{
		"a byte":     func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib/x.py"), []byte("c"), 0o644) },
		"a new file": func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib/y.py"), nil, 0o644) },
		"a name": func(dir string) error {
			return os.Rename(filepath.Join(dir, "manifest.toml"), filepath.Join(dir, "manifest"))
		},
		"a mode": func(dir string) error { return os.Chmod(filepath.Join(dir, "lib/x.py"), 0o755) },
		"a directory": func(dir string) error {
			return os.Mkdir(filepath.Join(dir, "empty"), 0o755)
		},
		"a link": func(dir string) error {
			_ = os.Remove(filepath.Join(dir, "main"))
			return os.Symlink("manifest.toml", filepath.Join(dir, "main"))
		},
	} {
		dir := lay()
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		d := digest(t, dir)
		if same, known := seen[d]; known {
			t.Errorf("%s: the digest is that of: %s", name, same)
		}
		seen[d] = name
	}
}

// TestStamp: a record recalls a digest only for the same stats, and never for files that have just
// changed.
func TestStamp(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), "a", 0o644)
	if s := stampOf(dir); s != "" {
		t.Errorf("new files have the stamp %q", s)
	}
	later := time.Now().Add(2 * settled)
	first := stampAt(dir, later)
	r := Record{Stamp: first, Stamped: "d"}
	if first == "" || stampAt(dir, later) != first || r.Recall(first) != "d" || r.Recall("") != "" || r.Recall("other") != "" || (&Record{Stamped: "d"}).Recall("") != "" {
		t.Errorf("the stamp %q", first)
	}
	was, err := os.Stat(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "a"), "b", 0o644) // the same size, and times set back
	if err := os.Chtimes(filepath.Join(dir, "a"), was.ModTime(), was.ModTime()); err != nil {
		t.Fatal(err)
	}
	if stampAt(dir, later) == first {
		t.Error("a changed file keeps the stamp")
	}
	if stampOf(filepath.Join(dir, "absent")) != "" {
		t.Error("a missing directory has a stamp")
	}
}

// TestDigestRefuses: a directory whose content can change unnoticed has no digest.
func TestDigestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		lay  func(dir string) error
		want string
	}{
		"a link out":       {func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "x")) }, "leads to"},
		"a link upwards":   {func(dir string) error { return os.Symlink("..", filepath.Join(dir, "x")) }, "leads to"},
		"a link to itself": {func(dir string) error { return os.Symlink("x", filepath.Join(dir, "x")) }, `"x"`},
		"a pipe":           {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "x"), 0o644) }, "expected a regular file"},
		"a large file": {func(dir string) error {
			put(t, filepath.Join(dir, "x"), "", 0o644)
			return os.Truncate(filepath.Join(dir, "x"), maxBytes+1)
		}, "more than"},
		"nothing": {os.Remove, "no such file"},
	} {
		dir := t.TempDir()
		if err := c.lay(dir); err != nil {
			t.Fatal(err)
		}
		if d, err := digestOf(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want %q", name, d, err, c.want)
		}
	}
}

// TestRecords: a record is of one workspace and one id, and other users do not write it.
func TestRecords(t *testing.T) {
	r := &Records{Dir: filepath.Join(t.TempDir(), "state", "extensions")}
	check := func(root, id string, want Record) {
		t.Helper()
		if got, err := r.Load(root, id); got != want || err != nil {
			t.Errorf("%s %s: got %+v, %v, want %+v", root, id, got, err, want)
		}
	}
	change := func(root, id string, f func(*Record)) {
		t.Helper()
		if err := r.Change(root, id, f); err != nil {
			t.Fatal(err)
		}
	}
	check("/ws", "x", Record{})
	change("/ws", "x", func(*Record) {})
	check("/ws", "x", Record{})
	for _, d := range []string{"one", "two"} {
		change("/ws", "x", func(r *Record) { r.Approved = d })
		check("/ws", "x", Record{Approved: d})
	}
	change("/ws", "x", func(r *Record) { r.Disabled, r.Quarantined = true, "it exits" })
	check("/ws", "x", Record{Approved: "two", Disabled: true, Quarantined: "it exits"})
	check("/ws", "y", Record{})
	check("/other", "x", Record{})
	name := filepath.Join(r.Dir, recordName("/ws", "x"))
	if fi, err := os.Stat(name); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	for _, text := range []string{
		`{"root":"/ws","id":"x","approved":"two"}`, `{"root":"/other","id":"y","approved":"two"}`, `{"root":"/other","id":"x","approved":""}`, "two", "",
		`{"root":"/other","id":"x","approved":"` + strings.Repeat("x", maxRecord) + `"}`,
	} {
		put(t, filepath.Join(r.Dir, recordName("/other", "x")), text, 0o600)
		if got, err := r.Load("/other", "x"); got != (Record{}) || err == nil {
			t.Errorf("the file %.60q: %.60v, %v", text, got, err)
		}
	}
	change("/other", "x", func(r *Record) { r.Approved = "one" }) // in place of the damaged one
	check("/other", "x", Record{Approved: "one"})
	change("/ws", "x", func(r *Record) { *r = Record{} })
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("an empty record is a file: %v", err)
	}
	if err := os.Chmod(r.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := r.Change("/ws", "x", func(r *Record) { r.Approved = "one" }); err == nil || !strings.Contains(err.Error(), "other users may write to it") {
		t.Error(err)
	}
}

// TestRecordedFailures: a record has the last failures, and those of the last minute count. A clock that went back
// makes none of them eternal.
func TestRecordedFailures(t *testing.T) {
	var r Record
	at := time.UnixMilli(1_700_000_000_000)
	for i := range 20 {
		r.Fail(at.Add(time.Duration(i) * 10 * time.Second))
	}
	now := at.Add(190 * time.Second)
	if got := r.Failed(now, time.Minute); len(got) != 7 || !got[0].Equal(now.Add(-time.Minute)) || !got[6].Equal(now) {
		t.Errorf("failures %v", got)
	}
	if got := r.Failed(now.Add(-time.Hour), time.Minute); got != nil {
		t.Errorf("failures of the future: %v", got)
	}
	if n := len(strings.Fields(r.Failures)); n != maxFailures {
		t.Errorf("%d failures are kept, want %d", n, maxFailures)
	}
	r.Failures = "x 1700000190000 -"
	if got := r.Failed(now, time.Minute); len(got) != 1 {
		t.Errorf("failures of a damaged record: %v", got)
	}
}
