package python

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
)

func TestAddToFiles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		dev   bool
		file  string
		want  string
	}{
		{"requirements", []string{"requirements.txt", "# ours\r\nattrs"}, false, "requirements.txt", "# ours\r\nattrs\r\nsix>=1\r\nidna\r\n"},
		{"a new file for development", []string{"requirements.txt", "attrs"}, true, "requirements-dev.txt", "six>=1\nidna\n"},
		{"the file for development", []string{"requirements.txt", "", "dev-requirements.txt", "x\n"}, true, "dev-requirements.txt", "x\nsix>=1\nidna\n"},
		{"project", []string{"pyproject.toml", "[project]\nname='x' # why\ndependencies = [\n  'attrs', # one\n]\n"}, false,
			"pyproject.toml", "[project]\nname='x' # why\ndependencies = [\n  'attrs', # one\n  \"six>=1\",\n  \"idna\",\n]\n"},
		{"group", []string{"pyproject.toml", "[project]\n", "requirements.txt", ""}, true,
			"pyproject.toml", "[project]\n\n[dependency-groups]\ndev = [\"six>=1\", \"idna\"]\n"},
		{"dynamic", []string{"pyproject.toml", "[project]\ndynamic=['dependencies']\n", "requirements.txt", ""}, false, "requirements.txt", "six>=1\nidna\n"},
		{"there already", []string{"requirements.txt", "six>=1\nidna\n"}, false, "requirements.txt", "six>=1\nidna\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := adaptertest.Tree(t, tt.files...)
			if err := os.Chmod(filepath.Join(root, tt.files[0]), 0o600); err != nil {
				t.Fatal(err)
			}
			err := newPip().Add(t.Context(), adapters.AddRequest{DishDir: root, Packages: []string{"six>=1", "idna"}, Dev: tt.dev}, nil)
			got, readErr := os.ReadFile(filepath.Join(root, tt.file))
			if err != nil || readErr != nil || string(got) != tt.want {
				t.Errorf("%q, %v, %v; want %q", got, err, readErr, tt.want)
			}
			if fi, err := os.Stat(filepath.Join(root, tt.files[0])); err != nil || fi.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", fi.Mode(), err)
			}
			entries, _ := filepath.Glob(filepath.Join(root, ".*.*"))
			if len(entries) > 0 {
				t.Errorf("left behind: %q", entries)
			}
		})
	}
}

func TestAddRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, pkg   string
		unsupported bool
		files       []string
		want        string
	}{
		{"setup.py", "six", true, []string{"setup.py", ""}, "setup.py"},
		{"hashes", "six", true, []string{"requirements.txt", "attrs==1 --hash=sha256:aa\n"}, "hashes"},
		{"UTF-16", "six", true, []string{"requirements.txt", "\xff\xfea\x00\n\x00"}, "UTF-16"},
		{"an option", "--index-url=x", false, []string{"requirements.txt", ""}, "is not a requirement"},
		{"two lines", "six\n-r x", false, []string{"requirements.txt", ""}, "is not a requirement"},
		{"a path", "./lib", false, []string{"requirements.txt", ""}, "is not a requirement"},
		{"another version", "Six>=2", false, []string{"requirements.txt", "x\nsix>=1\n"}, `as "six>=1" at `},
		{"an inline table", "six", false, []string{"pyproject.toml", "project={name='x'}\n"}, "is no [table]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := adaptertest.Tree(t, tt.files...)
			err := newPip().Add(t.Context(), adapters.AddRequest{DishDir: root, Packages: []string{tt.pkg}}, nil)
			var unsupported *adapters.Unsupported
			if err == nil || errors.As(err, &unsupported) != tt.unsupported || !strings.Contains(err.Error()+unsupportedHint(unsupported), tt.want) {
				t.Errorf("%v", err)
			}
			if got, _ := os.ReadFile(filepath.Join(root, tt.files[0])); string(got) != tt.files[1] {
				t.Errorf("%s became %q", tt.files[0], got)
			}
		})
	}
}

func unsupportedHint(u *adapters.Unsupported) string {
	if u == nil {
		return ""
	}
	return u.What + u.Hint
}
