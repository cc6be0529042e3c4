//go:build unix

package owndir

import (
	"os"
	"testing"
)

// Every way to replace a file leaves only the new content, and no temporary file, whatever existed
// before.
func TestReplace(t *testing.T) {
	ways := map[string]func(d *Dir, name string, data []byte) error{
		"Replace":       func(d *Dir, name string, data []byte) error { return d.Replace(name, data[:1], data[1:]) },
		"ReplaceAs":     func(d *Dir, name string, data []byte) error { return d.ReplaceAs(name, 0o600, data) },
		"ReplaceSynced": func(d *Dir, name string, data []byte) error { return d.ReplaceSynced(name, 0o600, data) },
		"MoveOver": func(d *Dir, name string, data []byte) error {
			if err := os.WriteFile(d.file.Name()+"/new", data, 0o666); err != nil {
				return err
			}
			return d.MoveOver("new", d, name)
		},
	}
	for way, replace := range ways {
		t.Run(way, func(t *testing.T) {
			d, in := open(t)
			must(t, os.WriteFile(in("old"), []byte("longer than the new one"), 0o444), os.WriteFile(in("aim"), []byte("aim"), 0o666),
				os.Symlink("aim", in("link")), os.Mkdir(in("dir"), 0o777))
			before, err := os.Open(in("old"))
			must(t, err)
			defer before.Close()
			for _, name := range []string{"old", "link", "none"} {
				must(t, replace(d, name, []byte("text")))
				if data, err := os.ReadFile(in(name)); string(data) != "text" {
					t.Errorf("%s has %q (%v)", name, data, err)
				}
				if fi, err := os.Lstat(in(name)); err != nil || !fi.Mode().IsRegular() {
					t.Errorf("%s is %v (%v)", name, fi, err)
				}
			}
			if data, err := os.ReadFile(in("aim")); string(data) != "aim" {
				t.Errorf("the target of the link has %q (%v)", data, err)
			}
			if err := replace(d, "dir", []byte("text")); err == nil {
				t.Error("a directory was replaced")
			}
			if way == "MoveOver" {
				must(t, os.Remove(in("new"))) // the caller's
			}
			list, err := os.ReadDir(in("."))
			must(t, err)
			if len(list) != 5 {
				t.Errorf("%d entries, want aim, dir, link, none and old: %v", len(list), list)
			}
			old := make([]byte, 4)
			if _, err := before.ReadAt(old, 0); err != nil || string(old) != "long" {
				t.Errorf("a reader of the old file sees %q (%v)", old, err)
			}
		})
	}
}
