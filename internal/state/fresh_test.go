package state

import (
	"os"
	"path/filepath"
	"testing"
)

// The file is made in the directory that exists at the time of Create, not in an earlier one at the
// same path.
func TestFresh(t *testing.T) {
	for name, meanwhile := range map[string]func(root string) error{
		"nothing happens":          func(string) error { return nil },
		"the directory is removed": func(root string) error { return os.RemoveAll(filepath.Join(root, Name)) },
		"the directory is moved": func(root string) error {
			return os.Rename(filepath.Join(root, Name), filepath.Join(root, "old"))
		},
		"the directory is replaced": func(root string) error {
			old := filepath.Join(root, "old")
			if err := os.Rename(filepath.Join(root, Name, "logs"), old); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(root, Name, "logs"), 0o755)
		},
		"the file is made": func(root string) error {
			return os.WriteFile(filepath.Join(root, Name, "logs", "a.log"), []byte("other"), 0o644)
		},
	} {
		root := t.TempDir()
		path := filepath.Join(root, Name, "logs", "a.log")
		d := Open(root)
		for round := range 2 {
			f := d.Fresh("logs/a.log")
			if _, err := os.Lstat(path); err == nil {
				t.Fatalf("%s: the old file is still there", name)
			}
			if round == 1 {
				if err := meanwhile(root); err != nil {
					t.Fatal(err)
				}
			}
			file, err := f.Create()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := file.WriteString("new"); err != nil {
				t.Fatal(err)
			}
			file.Close()
			f.Close()
			if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
	}
	root := t.TempDir()
	d := Open(root)
	f := d.Fresh("logs/a.log")
	f.Close()
	if _, err := os.Lstat(filepath.Join(root, Name)); err == nil {
		t.Error("a file that is not needed makes the directory")
	}
}
