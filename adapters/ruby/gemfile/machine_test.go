package gemfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMachine splits all Ruby of this machine, which is far more than manifests have
// use for: that a program is taken for broken must be very rare.
func TestMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads thousands of files")
	}
	total, failed := 0, 0
	for _, root := range []string{"/usr/lib/ruby", "/usr/share/rubygems-integration", "/var/lib/gems"} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			name := d.Name()
			manifest := strings.HasSuffix(name, ".gemspec") || name == "Gemfile" || name == "Rakefile"
			if !manifest && !strings.HasSuffix(name, ".rb") {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			total++
			if tokens, err := tokenize(path, data); err != nil {
				failed++
				if manifest {
					t.Errorf("%v", err)
				} else if testing.Verbose() {
					t.Log(err)
				}
			} else {
				calls(tokens)
			}
			return nil
		})
	}
	if total == 0 {
		t.Skip("no Ruby is installed")
	}
	t.Logf("%d of %d files", failed, total)
	if failed*200 > total {
		t.Errorf("%d of %d files are taken for broken", failed, total)
	}
}
