package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
)

// executables makes files with these modes.
func executables(t *testing.T, files map[string]os.FileMode) string {
	t.Helper()
	dir := write(t, nil)
	for name, mode := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // regardless of the umask
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, root string) *config.Workspace {
	t.Helper()
	cfg, problems := config.Load(root, "")
	if len(diagnostics.Errors(problems)) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

// describe returns candidates as "id path [skip: reason]", paths relative to dir.
func describe(dir string, list []adapters.Candidate) []string {
	var out []string
	for _, c := range list {
		rel, _ := filepath.Rel(dir, c.Path)
		s := c.ID + " " + rel + " " + c.Contract
		if c.Skip != "" {
			s += " " + c.Skip + ": " + strings.ReplaceAll(c.SkipReason, dir, "DIR")
		}
		out = append(out, s)
	}
	return out
}

func messages(dir string, problems []diagnostics.Diagnostic) []string {
	var out []string
	for _, d := range problems {
		s := string(d.Severity) + " " + d.Rule + " " + strings.ReplaceAll(d.String(), dir+"/", "")
		if d.Hint != "" {
			s += " (" + strings.ReplaceAll(d.Hint, dir+"/", "") + ")"
		}
		out = append(out, s)
	}
	return out
}

// sha returns the digest of a file, or an error text.
func sha(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestAdapters(t *testing.T) {
	dir := executables(t, map[string]os.FileMode{
		"a/bento-adapter-zig":       0o755,
		"a/bento-adapter-zig~":      0o755,
		"a/bento-adapter-zig.bak":   0o755,
		"a/bento-adapter-zig.orig":  0o755,
		"a/bento-adapter-Zag":       0o755,
		"a/bento-adapter-":          0o755,
		"a/bento-adapter-plain":     0o644,
		"a/bento-adapter-open":      0o777,
		"a/bento-adapter-mod.wasm":  0o644,
		"a/bento-adapter-win.exe":   0o755,
		"a/bento-adapter-dir/x":     0o755,
		"a/other":                   0o755,
		"b/bento-adapter-zig":       0o755,
		"b/bento-adapter-a_b-1":     0o755,
		"relative/bento-adapter-no": 0o755,
	})
	for link, to := range map[string]string{"c/bento-adapter-many": "a/bento-adapter-zig", "c/bento-adapter-zig": "a/bento-adapter-zig", "c/bento-adapter-gone": "nowhere"} {
		_ = os.MkdirAll(filepath.Join(dir, "c"), 0o755)
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	path := strings.Join([]string{"", "relative", ".", dir + "/missing", dir + "/a", dir + "/b", dir + "/a", dir + "/c"}, ":")
	list, problems := Adapters(Places{Path: path}, load(t, write(t, nil)), sha)
	want := []string{
		"dir a/bento-adapter-dir bento-v1 unusable: it is not a regular file",
		"mod a/bento-adapter-mod.wasm wasm",
		"open a/bento-adapter-open bento-v1 not_trusted: everyone may write to DIR/a/bento-adapter-open",
		"plain a/bento-adapter-plain bento-v1 unusable: it is not executable",
		"win a/bento-adapter-win.exe bento-v1",
		"zig a/bento-adapter-zig bento-v1",
		"a_b-1 b/bento-adapter-a_b-1 bento-v1",
		"zig b/bento-adapter-zig bento-v1",
		"gone c/bento-adapter-gone bento-v1 unusable: it is a link to a file that does not exist",
		"many c/bento-adapter-many bento-v1", // one program may be several plugins
	}
	if diff := cmp.Diff(want, describe(dir, list)); diff != "" {
		t.Error(diff)
	}
	warnings := []string{
		`warning plugin_file a/bento-adapter- is not used as a plugin: "" is no adapter id, expected [a-z0-9][a-z0-9_-]* (rename it)`,
		`warning plugin_file a/bento-adapter-Zag is not used as a plugin: "Zag" is no adapter id, expected [a-z0-9][a-z0-9_-]* (rename it)`,
		`warning plugin_file a/bento-adapter-dir is not used as a plugin: it is not a regular file`,
		`warning plugin_file a/bento-adapter-open is not used as a plugin: everyone may write to a/bento-adapter-open (chmod o-w a/bento-adapter-open; or pin its present content: bento plugin lock open)`,
		`warning plugin_file a/bento-adapter-plain is not used as a plugin: it is not executable (chmod +x a/bento-adapter-plain)`,
		`warning plugin_file c/bento-adapter-gone is not used as a plugin: it is a link to a file that does not exist`,
	}
	if diff := cmp.Diff(warnings, messages(dir, problems)); diff != "" {
		t.Error(diff)
	}
}

func TestAdaptersPolicy(t *testing.T) {
	dir := executables(t, map[string]os.FileMode{
		"bento-adapter-both": 0o755, "bento-adapter-good": 0o755, "bento-adapter-bad": 0o755, "bento-adapter-none": 0o755,
	})
	sum := sha256.Sum256([]byte("bento-adapter-good"))
	good := hex.EncodeToString(sum[:])
	sum = sha256.Sum256([]byte("bento-adapter-bad"))
	zeros := strings.Repeat("0", 64)
	cfg := load(t, write(t, map[string]string{"bento.toml": `[plugins]
disable = ["both"]
allowlist = ["both", "good", "bad"]
[plugins.good]
sha256 = "` + good + `"
[plugins.bad]
sha256 = "` + zeros + `"
`}))
	list, _ := Adapters(Places{Path: dir}, cfg, sha)
	want := []string{
		"bad bento-adapter-bad bento-v1 not_trusted: its sha256 is " + hex.EncodeToString(sum[:]) + ", expected " + zeros + " at bento.toml:7:10",
		"both bento-adapter-both bento-v1 disabled: plugins.disable names it at bento.toml:2:12",
		"good bento-adapter-good bento-v1",
		"none bento-adapter-none bento-v1 not_allowed: plugins.allowlist does not name it",
	}
	if diff := cmp.Diff(want, describe(dir, list)); diff != "" {
		t.Error(diff)
	}
}

func TestAdaptersWithoutPath(t *testing.T) {
	if list, problems := Adapters(Places{Path: ""}, load(t, write(t, nil)), nil); len(list)+len(problems) > 0 {
		t.Error(list, problems)
	}
}

func FuzzPluginName(f *testing.F) {
	for _, name := range []string{"zig", "zig~", "a.wasm", ".exe", "-", "ü", "a\nb"} {
		f.Add(name)
	}
	cfg := &config.Workspace{}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.ContainsAny(name, "/\x00") || len(name) > 200 {
			t.Skip()
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, PluginPrefix+name), nil, 0o755); err != nil {
			t.Skip(err)
		}
		list, _ := Adapters(Places{Path: dir}, cfg, sha)
		for _, c := range list {
			if !config.ValidPluginID(c.ID) {
				t.Fatalf("id %q", c.ID)
			}
		}
	})
}
