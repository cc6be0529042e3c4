package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// TestCacheDirOfWorkspace: bento.toml can name a cache directory below .bento/ only.
func TestCacheDirOfWorkspace(t *testing.T) {
	for dir, taken := range map[string]bool{
		".bento/cache": true, ".bento/a/b": true,
		"c": false, "../outside": false, "/abs": false, "~/c": false, ".bento": false, ".bento/": false, ".bento/..": false,
		".bento/../x": false, ".bento//x": false, "./.bento/x": false, ".bento/x/": false, ".bentox/y": false, ".bento/x/../../y": false,
	} {
		root := write(t, map[string]string{"bento.toml": "[cache]\ndir = \"" + dir + "\"\n"})
		w, problems := Load(root, "")
		if taken && (w.Cache.Dir != filepath.Join(root, dir) || len(problems) > 0) {
			t.Errorf("%q: %q, %v", dir, w.Cache.Dir, problems)
		}
		if taken {
			continue
		}
		if w.Cache.Dir != "" || len(problems) != 1 || problems[0].Rule != ruleIgnored || problems[0].Severity != diagnostics.Warning ||
			problems[0].Line != 2 || !strings.Contains(problems[0].Hint, "$BENTO_CACHE_DIR") {
			t.Errorf("%q: %q, %v", dir, w.Cache.Dir, problems)
		}
	}
}

// load loads a workspace with the user's own file.
func load(t *testing.T, bento, own string) (*Workspace, []diagnostics.Diagnostic) {
	t.Helper()
	dir := write(t, map[string]string{"ws/bento.toml": bento, "config.toml": own})
	return Load(filepath.Join(dir, "ws"), filepath.Join(dir, "config.toml"))
}

func wordsOf(list []dish.Text) (out []string) {
	for _, t := range list {
		out = append(out, t.Text)
	}
	return out
}

// TestOwnForbids: the user's file can forbid more or allow less, and a workspace cannot loosen it.
func TestOwnForbids(t *testing.T) {
	for _, c := range []struct {
		name, bento, own string
		check            func(w *Workspace) bool
	}{
		{"disable adds", "disable = ['a']", "disable = ['b']", func(w *Workspace) bool { return slices.Equal(wordsOf(w.Plugins.Disable), []string{"a", "b"}) }},
		{"allowlists meet", "allowlist = ['a', 'b']", "allowlist = ['b', 'c']", func(w *Workspace) bool {
			return w.Plugins.Restrict && slices.Equal(wordsOf(w.Plugins.Allowlist), []string{"b"})
		}},
		{"the user's alone", "", "allowlist = ['b']", func(w *Workspace) bool {
			return w.Plugins.Restrict && slices.Equal(wordsOf(w.Plugins.Allowlist), []string{"b"})
		}},
		{"an empty one", "allowlist = ['a']", "allowlist = []", func(w *Workspace) bool { return w.Plugins.Restrict && len(w.Plugins.Allowlist) == 0 }},
		{"the workspace's alone", "allowlist = ['a']", "", func(w *Workspace) bool { return slices.Equal(wordsOf(w.Plugins.Allowlist), []string{"a"}) }},
		{"the stricter sandbox", "sandbox = 'off'", "sandbox = 'required'", func(w *Workspace) bool { return w.Plugins.SandboxOf("x").Text == SandboxRequired }},
		{"also the workspace's", "sandbox = 'required'", "sandbox = 'auto'", func(w *Workspace) bool { return w.Plugins.SandboxOf("x").Text == SandboxRequired }},
		{"of one plugin", "sandbox = 'auto'\n[plugins.x]\nsandbox = 'off'", "sandbox = 'required'", func(w *Workspace) bool { return w.Plugins.SandboxOf("x").Text == SandboxRequired }},
		{"the user's of one", "", "[plugins.x]\nsandbox = 'required'", func(w *Workspace) bool {
			return w.Plugins.SandboxOf("x").Text == SandboxRequired && w.Plugins.SandboxOf("y").Text == SandboxOff
		}},
		{"the user excepts one", "", "sandbox = 'required'\n[plugins.x]\nsandbox = 'off'", func(w *Workspace) bool { return w.Plugins.SandboxOf("x").Text == SandboxOff }},
		{"no way out of it", "[plugins.x]\nread = ['/a', '/b']\nwrite = ['~']", "sandbox = 'auto'\n[plugins.x]\nread = ['/b', '/c']", func(w *Workspace) bool {
			p := w.Plugins.ByID["x"]
			return slices.Equal(wordsOf(p.Read), []string{"/b", "/c"}) && len(p.Write) == 0
		}},
		{"no more variables", "[plugins.x]\npass_env = ['A', 'B']", "[plugins.x]\npass_env = ['B', 'C']", func(w *Workspace) bool { return slices.Equal(w.Plugins.ByID["x"].PassEnv, []string{"B"}) }},
		{"the user's pin", "[plugins.x]\nsha256 = '" + strings.Repeat("a", 64) + "'", "[plugins.x]\nsha256 = '" + strings.Repeat("b", 64) + "'", func(w *Workspace) bool { return w.Plugins.ByID["x"].SHA256.Text == strings.Repeat("b", 64) }},
	} {
		w, problems := load(t, "[plugins]\n"+c.bento, "[plugins]\n"+c.own)
		if !c.check(w) || len(diagnostics.Errors(problems)) > 0 {
			t.Errorf("%s: %+v, %v", c.name, w.Plugins, problems)
		}
	}
}

func TestOwnFile(t *testing.T) {
	w, problems := load(t, "[cache]\nmax_size = '1GB'\nmax_age = '1d'\ndir = '.bento/c'\n", "[cache]\ndir = '/mine'\nmax_size = '2GB'\n[extensions.x]\npath = '/x'\n[extensions.y]\npath = 'y'\n")
	if len(problems) > 0 || w.Cache.OwnDir != "/mine" || w.Cache.MaxSize != 2e9 || w.Cache.MaxAge == 0 || w.Cache.Dir != filepath.Join(w.Root, ".bento/c") ||
		len(w.Extensions) != 2 || !w.Extensions["y"].Own || filepath.Base(w.Own) != "config.toml" {
		t.Errorf("%+v, %v", w, problems)
	}
	for text, rule := range map[string]string{
		"[cache]\ndir = 'relative'":    rulePath,
		"[cache]\ndir = ''":            rulePath,
		"[cache]\ndri = '/x'":          "unknown_key",
		"[workspace]\ndiscover = true": "unknown_key",
		"[defaults]\nparallelism = 3":  "unknown_key",
		"[toolchain]\ngo = '1.22'":     "unknown_key",
		"[plugins]\nsandbox = 3":       "wrong_type",
		"extensions = 1":               "wrong_type",
		"[extensions]\nx = 1":          "wrong_type",
		"[[extensions]]\nx = 1":        "wrong_type",
		"nonsense":                     "toml_syntax",
	} {
		_, problems := load(t, "", text)
		if len(problems) == 0 || problems[0].Rule != rule || !filepath.IsAbs(problems[0].File) || problems[0].Line == 0 || problems[0].Severity != diagnostics.Error {
			t.Errorf("%q: %v, want %s", text, problems, rule)
		}
	}
}

// TestOwnInTheWay: if the user's own file is no regular file or is too large, that is an error. bento does not block on
// it, and starts no plugin.
func TestOwnInTheWay(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{fifo, dir, "/dev/zero", large} {
		w, problems := Load(dir, own)
		if len(diagnostics.Errors(problems)) != 1 || problems[0].File != own || !w.Plugins.Restrict || len(w.Plugins.Allowlist) > 0 {
			t.Errorf("%s: %v", own, problems)
		}
	}
	if w, problems := Load(dir, filepath.Join(dir, "none")); len(problems) > 0 || w.Own != "" || w.Plugins.Restrict {
		t.Errorf("without a file: %v", problems)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/null", link); err != nil {
		t.Fatal(err)
	}
	if _, problems := Load(dir, link); len(problems) != 1 {
		t.Errorf("a link to a device: %v", problems)
	}
}

// TestFilesBehindLinks: a file of the workspace that is a link out of it is treated as missing, and no message shows
// its content.
func TestFilesBehindLinks(t *testing.T) {
	for _, name := range []string{dish.WorkspaceFile, LockFile, "bentos/x.toml", "bentos", "a/dish.toml", "a"} {
		dir := write(t, map[string]string{"ws/keep": "", "out/f": "CANARY = 1\n", "out/dish.toml": "CANARY = 1\n", "out/x.toml": "CANARY = 1\n"})
		target := filepath.Join(dir, "out")
		if filepath.Ext(name) != "" {
			target = filepath.Join(target, "f")
		}
		link := filepath.Join(dir, "ws", name)
		if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		w, problems := Load(filepath.Join(dir, "ws"), "")
		_, more := w.LoadDishes([]Found{{Dir: "a"}}, nil)
		warned := 0
		for _, p := range append(problems, more...) {
			if strings.Contains(p.Message, "CANARY") {
				t.Errorf("%s: %s", name, p)
			}
			if p.Rule == "link_leads_out" && p.File == name {
				warned++
			}
		}
		if warned != 1 || !w.Discover && filepath.Dir(name) != "bentos" {
			t.Errorf("%s: %v, %v", name, problems, more)
		}
	}
}

// TestFilesOfPlugins: only the user can set the file and the identity of a plugin, and only the workspace can set its
// options.
func TestFilesOfPlugins(t *testing.T) {
	for _, c := range []struct{ bento, own, path, identity, options, problem string }{
		{"", "path = '/a/bento-adapter-x'\nidentity = 'dev'", "/a/bento-adapter-x", "dev", "", ""},
		{"options = { a = 1 }", "path = '~/bento-adapter-x'", "~/bento-adapter-x", "", `{"a":1}`, ""},
		{"path = '/a/bento-adapter-x'", "", "", "", "", "bento.toml:2:8: plugins.x.path: a workspace does not choose"},
		{"path = '../x'", "path = '/b/bento-adapter-x'", "/b/bento-adapter-x", "", "", "bento.toml:2:8: plugins.x.path: a workspace does not choose"},
		{"identity = 'dev'", "", "", "", "", "bento.toml:2:12: plugins.x.identity: a workspace does not choose"},
		{"options = { a = 1 }", "options = { a = 2 }", "", "", `{"a":1}`, "config.toml:2:11: plugins.x.options: results depend on options"},
		{"", "path = 'bento-adapter-x'", "", "", "", `config.toml:2:8: path "bento-adapter-x": expected an absolute one`},
		{"", "path = 7", "", "", "", "config.toml:2:8: "},
	} {
		w, problems := load(t, "[plugins.x]\n"+c.bento, "[plugins.x]\n"+c.own)
		got := w.Plugins.ByID["x"]
		if got.Path.Text != c.path || got.Identity.Text != c.identity || got.Options.JSON != c.options {
			t.Errorf("%+v: got %+v", c, got)
		}
		said := diagnostics.AsError(problems)
		if c.problem == "" && said != nil || c.problem != "" && (len(problems) != 1 || !strings.Contains(said.Error(), c.problem)) {
			t.Errorf("%+v: %v", c, said)
		}
	}
}
