package companion

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	ainb "github.com/bentobuild/bento/plugin/ainb/manifest"
)

const asking = `[plugin]
name = "x"
version = "1.0.0"
abi_version = 2
[capabilities]
event_bus = ["run.*", "cache.stats"]
network = ["a.example", "b.example"]
read_paths = ["~/logs"]
read_sessions = true
"secrets:read" = true
`

// TestGrants: an extension has the permissions that its manifest requests and its table grants. A grant without
// effect is a warning. An extension with a limit that bento cannot enforce does not start.
func TestGrants(t *testing.T) {
	t.Parallel()
	p := Places{Root: t.TempDir(), Records: &Records{Dir: filepath.Join(t.TempDir(), "records")}}
	write(t, filepath.Join(p.Root, "x", "manifest.toml"), asking)
	write(t, filepath.Join(p.Root, "x", "x"), "#!/bin/sh\n")
	all := ainb.Grant{All: true}
	list := func(list ...string) ainb.Grant { return ainb.Grant{Only: list} }
	for _, c := range []struct {
		grant string
		only  map[string][]string
		want  map[string]ainb.Grant
		say   string // of the warnings, or the problem
	}{
		{"", nil, map[string]ainb.Grant{}, ""},
		{"event_bus secrets:read read_sessions", nil, map[string]ainb.Grant{"event_bus": list("run.*", "cache.stats"), "secrets:read": all, "read_sessions": all}, ""},
		{"event_bus network secrets:read read_paths", map[string][]string{
			"event_bus": {"run.finished"}, "network": {"b.example"}, "secrets:read": {"token"}, "read_paths": {"~/logs/ci"},
		}, map[string]ainb.Grant{"event_bus": list("run.finished"), "network": list("b.example"), "secrets:read": list("token"), "read_paths": list("~/logs/ci")}, ""},
		{"network", map[string][]string{"network": {"c.example"}}, map[string]ainb.Grant{}, `only leaves nothing of "network": the manifest asks for ["a.example" "b.example"]`},
		{"unix_socket_dial", nil, map[string]ainb.Grant{}, `grant has no effect: the manifest does not ask for "unix_socket_dial"`},
		{"read_sessions", map[string][]string{"read_sessions": {"a"}}, nil, `only limits the permission "read_sessions", which cannot be limited`},
	} {
		table := config.Extension{Path: dish.Text{Text: "x"}, Grant: strings.Fields(c.grant), Only: c.only}
		e := Find(&config.Workspace{Extensions: map[string]config.Extension{"x": table}}, p)[0]
		var said []string
		for _, n := range e.Notes {
			said = append(said, n.Message)
		}
		if e.Status == Failed {
			said = append(said, e.Problem.Message)
		}
		if diff := cmp.Diff(c.want, e.granted); diff != "" || strings.Join(said, "|") != c.say || (c.want == nil) != (e.Status == Failed) {
			t.Errorf("%s %v: %s, %q\n%s", c.grant, c.only, e.Status, said, diff)
		}
	}
}

// TestApprovalIsOfTheTable: an approval applies only to the grants and variables of the table at that time.
func TestApprovalIsOfTheTable(t *testing.T) {
	t.Parallel()
	p := Places{Root: t.TempDir(), Records: &Records{Dir: filepath.Join(t.TempDir(), "records")}}
	write(t, filepath.Join(p.Root, "x", "manifest.toml"), asking)
	write(t, filepath.Join(p.Root, "x", "x"), "#!/bin/sh\n")
	status := func(change func(*config.Extension)) (string, *config.Workspace) {
		table := config.Extension{Path: dish.Text{Text: "x"}, Grant: []string{"network", "event_bus"}, Only: map[string][]string{"network": {"a.example"}}}
		change(&table)
		cfg := &config.Workspace{Extensions: map[string]config.Extension{"x": table}}
		return Find(cfg, p)[0].Status, cfg
	}
	_, cfg := status(func(*config.Extension) {})
	approve(t, cfg, p)
	for name, c := range map[string]struct {
		change func(*config.Extension)
		want   string
	}{
		"nothing":         {func(*config.Extension) {}, Ready},
		"the order":       {func(e *config.Extension) { e.Grant = []string{"event_bus", "network"} }, Ready},
		"the wait":        {func(e *config.Extension) { e.Wait = 1 }, Ready},
		"a permission":    {func(e *config.Extension) { e.Grant = append(e.Grant, "secrets:read") }, Changed},
		"a wider limit":   {func(e *config.Extension) { e.Only = map[string][]string{"network": {"a.example", "b.example"}} }, Changed},
		"no limit":        {func(e *config.Extension) { e.Only = nil }, Changed},
		"output":          {func(e *config.Extension) { e.Output = true }, Changed},
		"a passed name":   {func(e *config.Extension) { e.Env = []string{"TOKEN"} }, Changed},
		"a set variable":  {func(e *config.Extension) { e.SetEnv = map[string]string{"LD_PRELOAD": "x.so"} }, Changed},
		"another setting": {func(e *config.Extension) { e.Config = `{"url":"https://c.example"}` }, Ready},
		"the user's own":  {func(e *config.Extension) { e.Own, e.Path.Text, e.Output = true, filepath.Join(p.Root, "x"), true }, Ready},
	} {
		if got, _ := status(c.change); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
