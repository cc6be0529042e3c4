package manifest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

const good = `[plugin]
name = "demo"
version = "1.2.0"
abi_version = 2
description = "d"
[capabilities]
event_bus = true
network = ["example.com"]
read_paths = []
spawn_subprocess = false
[provides]
screens = ["s"]
cli_namespaces = ["demo"]
[subscribes]
snapshots = ["a", "b"]
latest_state = ["b"]
[lifecycle]
spawn = "eager"
idle_reap_secs = 0
[[config]]
key = "k"
kind = "enum"
label = "K"
choices = ["x", "y"]
`

func text(problems []diagnostics.Diagnostic) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, string(p.Severity)+" "+p.String())
	}
	return strings.Join(lines, "\n")
}

func TestParse(t *testing.T) {
	t.Parallel()
	m, problems := Parse("m.toml", []byte(good))
	want := &Manifest{
		Plugin: Plugin{Name: "demo", Version: "1.2.0", Description: "d", ABIVersion: 2},
		Capabilities: map[string]Grant{
			"event_bus": {All: true}, "network": {Only: []string{"example.com"}}, "read_paths": {}, "spawn_subprocess": {},
		},
		Provides:   Provides{Screens: []string{"s"}, CLINamespaces: []string{"demo"}},
		Subscribes: Subscribes{Snapshots: []string{"a", "b"}, LatestState: []string{"b"}},
		Lifecycle:  Lifecycle{Eager: true},
		Config:     []Setting{{Key: "k", Kind: "enum", Label: "K", Choices: []string{"x", "y"}}},
	}
	if diff := cmp.Diff(want, m); diff != "" || len(problems) > 0 {
		t.Errorf("%s\n%s", diff, text(problems))
	}
	if got := m.Granted(); !slices.Equal(got, []string{"event_bus", "network"}) {
		t.Errorf("granted: %q", got)
	}
	least, _ := Parse("m.toml", []byte("[plugin]\nname = \"a\"\nversion = \"1.0.0\"\nabi_version = 2\n"))
	if least == nil || least.Lifecycle != (Lifecycle{IdleReap: 600}) {
		t.Errorf("defaults: %+v", least)
	}
}

// TestRoundTrip: a manifest that the TOML library reads and writes again is the same manifest.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	first, _ := Parse("m.toml", []byte(good))
	var tree map[string]any
	if err := toml.Unmarshal([]byte(good), &tree); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(tree); err != nil {
		t.Fatal(err)
	}
	second, problems := Parse("m.toml", b.Bytes())
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("%s\n%s", diff, text(problems))
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{good, "", "error m.toml:1:1: the section [plugin] is missing"},
		{"[plugin]", "plugin = 1\n[other]", "error m.toml:1:10: plugin is an integer, expected a table"},
		{"name = \"demo\"\n", "", "error m.toml:1:2: plugin.name is missing"},
		{`"demo"`, "7", "error m.toml:2:8: plugin.name is an integer, expected a string"},
		{`"demo"`, `""`, "error m.toml:2:8: plugin.name is empty"},
		{`"demo"`, `"host"`, `error m.toml:2:8: plugin.name "host" is reserved`},
		{`"demo"`, `"../x"`, `error m.toml:2:8: plugin.name "../x" is no name`},
		{`"demo"`, `"` + strings.Repeat("a", 101) + `"`, "is no name"},
		{"version = \"1.2.0\"\n", "", "plugin.version is missing"},
		{`"1.2.0"`, `"one"`, `error m.toml:3:11: plugin.version "one" is no version`},
		{`"1.2.0"`, `"1.2"`, "is no version"},
		{"abi_version = 2\n", "", "plugin.abi_version is missing, required 2"},
		{"abi_version = 2", "abi_version = 3", "error m.toml:4:15: plugin.abi_version is 3, required 2"},
		{"abi_version = 2", "abi_version = -1", "plugin.abi_version is -1, expected an integer from 0"},
		{"abi_version = 2", `abi_version = "2"`, "plugin.abi_version is a string, expected an integer"},
		{"description = \"d\"", "descripton = \"d\"", "warning m.toml:5:1: unknown key descripton"},
		{"event_bus = true", "event_bus = 1", "error m.toml:7:13: capabilities.event_bus is an integer, expected true, false or an array"},
		{`["example.com"]`, "[1]", "capabilities.network[0] is an integer"},
		{`["s"]`, `"s"`, "provides.screens is a string, expected an array"},
		{`latest_state = ["b"]`, `latest_state = ["c"]`, `error m.toml:16:17: the topic "c" of latest_state is not in snapshots`},
		{"latest_state = ", "latest = ", "error m.toml:16:1: unknown key latest in subscribes"},
		{`"eager"`, `"never"`, `lifecycle.spawn is "never", expected "lazy" or "eager"`},
		{`"eager"`, `""`, `lifecycle.spawn is "", expected`},
		{`"eager"`, "1", "lifecycle.spawn is an integer"},
		{"idle_reap_secs = 0", "idle_reap_secs = 4294967296", "expected an integer from 0 to 4294967295"},
		{`"enum"`, `"colour"`, `config[0].kind is "colour", expected one of path, string, bool, enum, int`},
		{"label = \"K\"\n", "", "label is missing"},
		{"[[config]]", "[config]", "config is a table, expected an array"},
		{"[plugin]", "[plugin", "m.toml:1"},
	} {
		changed := strings.Replace(good, c.old, c.new, 1)
		m, problems := Parse("m.toml", []byte(changed))
		got := text(problems)
		if !strings.Contains(got, c.want) || (m == nil) != strings.Contains(got, "error ") {
			t.Errorf("%q for %q: manifest %v\n got %s\nwant %s", c.new, c.old, m != nil, got, c.want)
		}
	}
	if m, problems := Parse("m.toml", make([]byte, 10<<20)); m != nil || !strings.Contains(text(problems), "10485760 bytes, expected at most 1048576") {
		t.Errorf("10 MiB: %s", text(problems))
	}
	many := good + strings.Repeat("[[config]]\nkey = 1\n", 500)
	if m, problems := Parse("m.toml", []byte(many)); m != nil || len(problems) > maxProblems {
		t.Errorf("%d problems", len(problems))
	}
}

// TestBoth: an extension has the capabilities that its manifest declares and the user allows, and no
// others.
func TestBoth(t *testing.T) {
	t.Parallel()
	list := func(list ...string) Grant { return Grant{Only: list} }
	all, none := Grant{All: true}, Grant{}
	for _, c := range []struct {
		capability              string
		declared, allowed, want Grant
	}{
		{"secrets:read", all, list("a", "b"), list("a", "b")}, {"secrets:read", list("a", "b"), all, list("a", "b")},
		{"secrets:read", list("a", "b"), list("b", "c"), list("b")}, {"secrets:read", all, none, none}, {"secrets:read", none, list("a"), none},
		{"secrets:read", all, all, all}, {"secrets:read", list("a*"), list("ab"), none}, {"odd", list("a", "b"), list("b"), list("b")},
		{"event_bus", list("run.*", "x"), list("run.finished", "task.*", "x.y"), list("run.finished")},
		{"event_bus", list("run.finished"), list("run.*"), list("run.finished")}, {"event_stream_subscribe", list("a.*"), list("a.b*"), list("a.b*")},
		{"event_bus", all, list("fleet.x", "run.*"), list("run.*")}, {"event_bus", list("f*"), list("fleet.x"), none}, {"event_bus", list("fleet.x"), list("fleet.x"), list("fleet.x")},
		{"network", list("Example.com", "b.example"), list("example.com"), list("Example.com", "example.com")}, {"network", list("example.com"), list("sub.example.com"), none},
		{"read_paths", list("~/logs", "/srv"), list("~/logs/x", "/srvx", "/"), list("/srv", "~/logs/x")},
		{"read_paths", list("~"), list("~/a/../../etc", "~/.ssh/"), list("~/.ssh/")}, {"read_paths", list("/a"), list("/a/.."), none},
		{"read_paths", all, list("~/logs"), all}, {"spawn_managed_subprocess", all, list("git"), all}, {"unix_socket_dial", all, none, none},
		{"spawn_managed_subprocess", list("git", "/bin/sh"), list("git"), list("git")},
	} {
		if got := Both(c.capability, c.declared, c.allowed); !cmp.Equal(got, c.want) {
			t.Errorf("%s: %+v and %+v: got %+v, want %+v", c.capability, c.declared, c.allowed, got, c.want)
		}
	}
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, manifest string, mode os.FileMode) {
		one := filepath.Join(dir, name)
		if err := os.MkdirAll(one, 0o755); err != nil {
			t.Fatal(err)
		}
		if manifest != "" {
			if err := os.WriteFile(filepath.Join(one, File), []byte(manifest), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if mode != 0 {
			if err := os.WriteFile(filepath.Join(one, name), nil, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	named := func(name string) string { return strings.Replace(good, `"demo"`, `"`+name+`"`, 1) }
	put("demo", good, 0o755)
	put("empty", "", 0)
	put("other", good, 0o755)
	put("broken", "[", 0o755)
	put("unbuilt", named("unbuilt"), 0)
	put("plain", named("plain"), 0o644)
	put("outside", named("outside"), 0)
	put("pipe", "", 0o755)
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o644),
		os.Symlink("/bin/sh", filepath.Join(dir, "outside", "outside")),
		os.Symlink("demo", filepath.Join(dir, "link")),
		syscall.Mkfifo(filepath.Join(dir, "pipe", File), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []*Found
	var problems []diagnostics.Diagnostic
	for _, e := range entries {
		if e.IsDir() {
			one, more := Read(filepath.Join(dir, e.Name()))
			problems = append(problems, more...)
			if one != nil {
				found = append(found, one)
			}
		}
	}
	if len(found) != 1 || found[0].Executable != filepath.Join(dir, "demo", "demo") {
		t.Errorf("found %+v", found)
	}
	got := text(problems)
	for _, want := range []string{
		`plugin.name is "demo" and the directory "other"`, "broken/manifest.toml:1", "not found beside the manifest", "(chmod +x)",
		`"outside" of the extension: statat outside: path escapes`, "pipe/manifest.toml: the manifest cannot be read: it is not a regular file",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in\n%s", want, got)
		}
	}
	if len(problems) != 6 {
		t.Errorf("%d problems, want 6:\n%s", len(problems), got)
	}
}

// FuzzParse: an accepted manifest has a name that may be part of a path, and a known revision.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("plugin = {name = \"a\", version = \"1.0.0\", abi_version = 2}\ncapabilities.x = []"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems := Parse("m.toml", data)
		if m == nil {
			if len(problems) == 0 || len(problems) > maxProblems {
				t.Errorf("refused with %d problems", len(problems))
			}
			return
		}
		if WrongName(m.Plugin.Name) != "" || !filepath.IsLocal(m.Plugin.Name) || m.Plugin.ABIVersion != ABI || m.Plugin.Version == "" {
			t.Errorf("accepted: %+v", m.Plugin)
		}
	})
}
