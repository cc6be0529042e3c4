package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExtensions(t *testing.T) {
	w, _, problems := loadText(t, `[extensions."acme.notify"]
path = "./tools/notify"
grant = ["event_bus", "network"]
config = { channel = "${builds}", "${x}" = [1, true, { a = 1.5 }] }
output = true
env = { A = "b" }
only = { network = ["a.example", "b.example"] }
sha256 = "`+strings.Repeat("AB", 32)+`"
[extensions.plain]
path = "plain"
env = ["TOKEN"]
`, "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	e := w.Extensions["acme.notify"]
	if e.Path.Text != "tools/notify" || e.Path.Pos.Line != 2 || e.Own || !e.Output || len(e.Grant) != 2 || strings.Join(e.Only["network"], " ") != "a.example b.example" || e.SetEnv["A"] != "b" || e.SHA256.Text != strings.Repeat("ab", 32) {
		t.Errorf("%+v", e)
	}
	if want := `{"channel":"${builds}","${x}":[1,true,{"a":1.5}]}`; e.Config != want {
		t.Errorf("config: got %s, want %s", e.Config, want)
	}
	if p := w.Extensions["plain"]; p.Config != "" || p.Output || p.Env[0] != "TOKEN" || p.Grant != nil {
		t.Errorf("%+v", p)
	}
	if ids := w.ExtensionIDs(); len(ids) != 2 || ids[0] != "acme.notify" {
		t.Error(ids)
	}
	if got, want := e.Dir("/ws", "/data"), "/ws/tools/notify"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestExtensionFaults: each fault is reported at its place, with what was expected.
func TestExtensionFaults(t *testing.T) {
	for _, c := range []struct{ workspace, want string }{
		{"extensions = 1", "bento.toml:1:14 extensions is an integer, expected a table"},
		{"[extensions]\nx = 1", "bento.toml:2:5 extensions.x is an integer, expected a table"},
		{"[extensions.x]", `extensions.x has no path, expected the directory of its manifest: the extension is off | write path = "tools/x"`},
		{"[extensions.x]\npath = 'a'\ngrants = []", "bento.toml:3:1 unknown key grants in extensions.x | did you mean \"grant\"?"},
		{"[extensions.X]\npath = 'a'", `bento.toml:1:13 "X" is no id of an extension`},
		{"[extensions.'a..b']\npath = 'a'", `"a..b" is no id of an extension`},
		{"[extensions." + strings.Repeat("x", 129) + "]\npath = 'a'", "of at most 128 bytes"},
		{"[extensions.x]\npath = ''", `bento.toml:2:8 extensions: path "" is empty`},
		{"[extensions.x]\npath = '/abs'", `path "/abs" is absolute, expected one relative to the workspace`},
		{"[extensions.x]\npath = '../up'", `path "../up" leads upwards`},
		{"[extensions.x]\npath = 3", "bento.toml:2:8 extensions.x.path is an integer, expected a string"},
		{"[extensions.x]\npath = 'a'\ngrant = ['a', 'a']", `bento.toml:3:15 the permission "a" is named twice`},
		{"[extensions.x]\npath = 'a'\ngrant = [' a']", `" a" is no permission`},
		{"[extensions.x]\npath = 'a'\nonly = 1", "bento.toml:3:8 extensions.x.only is an integer, expected a table of lists"},
		{"[extensions.x]\npath = 'a'\nonly = { network = ['a'] }", `bento.toml:3:10 only limits the permission "network", which grant does not name | add it to grant`},
		{"[extensions.x]\npath = 'a'\ngrant = ['network']\nonly = { network = [] }", `only limits the permission "network" to nothing, expected at least one entry | remove it from grant`},
		{"[extensions.x]\npath = 'a'\ngrant = ['network']\nonly.network = 'a'", "bento.toml:4:16 extensions.x.only.network is a string, expected an array"},
		{"[extensions.x]\npath = 'a'\ngrant = ['network']\nonly = { network = ['a', 'a'] }", `the entry of network "a" is named twice`},
		{"[extensions.x]\npath = 'a'\nconfig = 1", "bento.toml:3:10 extensions.x.config is an integer, expected a table"},
		{"[extensions.x]\npath = 'a'\nconfig = { at = 2020-01-01 }", "JSON has no other values | write a date as a string"},
		{"[extensions.x]\npath = 'a'\nconfig = { n = nan }", "which JSON cannot express"},
		{"[extensions.x]\npath = 'a'\noutput = 'yes'", "bento.toml:3:10 extensions.x.output is a string, expected"},
		{"[extensions.x]\npath = 'a'\nenv = ['A=b']", `"A=b" is no name of a variable`},
		{"[extensions.x]\npath = 'a'\nsha256 = 'no'", `bento.toml:3:10 sha256 "no" is no digest`},
	} {
		w, _, problems := loadText(t, c.workspace, "")
		if strings.Contains(c.want, "is off") && len(w.Extensions) > 0 {
			t.Errorf("%q: %+v", c.workspace, w.Extensions)
		}
		if len(problems) != 1 || !strings.Contains(problems[0], c.want) {
			t.Errorf("%q:\ngot  %q\nwant %q", c.workspace, problems, c.want)
		}
	}
}

// TestOwnExtensions: a table of the user's own file replaces the whole table of the repository. If the user's file is
// unreadable, no extension starts.
func TestOwnExtensions(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	const theirs = "[extensions.a]\npath = 'theirs'\ngrant = ['network']\noutput = true\n[extensions.b]\npath = 'b'\n"
	for path, want := range map[string]string{"/mine": "/mine", "~/mine": "/home/u/mine", "mine": "/data/mine"} {
		w, problems := load(t, theirs, "[extensions.a]\npath = '"+path+"'\n[extensions.c]\npath = 'c'\n")
		a := w.Extensions["a"]
		if len(problems) > 0 || !a.Own || a.Dir(w.Root, "/data") != want || a.Grant != nil || a.Output || w.Extensions["b"].Own || len(w.Extensions) != 3 {
			t.Errorf("%s: %+v, %v", path, w.Extensions, problems)
		}
	}
	for _, path := range []string{"../up", "", `a\u0000b`, `/a\u0000b`} {
		if _, problems := load(t, "", "[extensions.a]\npath = \""+path+"\"\n"); len(problems) != 1 || problems[0].Rule != rulePath {
			t.Errorf("%q: %v", path, problems)
		}
	}
	dir := write(t, map[string]string{"ws/bento.toml": theirs})
	if err := os.Mkdir(filepath.Join(dir, "config.toml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if w, problems := Load(filepath.Join(dir, "ws"), filepath.Join(dir, "config.toml")); len(w.Extensions) > 0 || len(problems) != 1 {
		t.Errorf("an unreadable file of the user: %+v, %v", w.Extensions, problems)
	}
}
