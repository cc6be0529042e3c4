package ainb

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/plugin/ainb/manifest"
)

// TestPartOfAGrant: the user grants a part of the capabilities that a manifest declares. A link in that
// part gives no access beyond the manifest.
func TestPartOfAGrant(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lay(t, home, "mine/a", "mine/sub/b", "mine/out -> ../secret", "secret/key")
	const capabilities = `read_paths = ["~/mine"]
event_bus = true
network = ["a.example", "b.example"]
"secrets:read" = true
spawn_managed_subprocess = ["sh", "git"]
unix_socket_dial = ["/run/a", "/run/b"]`
	part := map[string]manifest.Grant{
		"read_paths": {Only: []string{"~/mine/sub", "~/mine/out", "~/secret"}}, "event_bus": {Only: []string{"run.*"}}, "network": {Only: []string{"b.example"}},
		"secrets:read": {Only: []string{"token"}}, "spawn_managed_subprocess": {Only: []string{"git"}}, "unix_socket_dial": {Only: []string{"/run/b"}},
	}
	ask(t, capabilities, func(o *Options) {
		o.Home, o.Extensions[0].Grants = home, part
	}, func(k *kid) {
		for i, c := range []struct{ method, params, want string }{
			{"host/fs/read_dir", fmt.Sprintf(`{"path":%s}`, quoted(home+"/mine/sub")), `{"entries":[{"name":"b","is_dir":false,"size":4}]}`},
			{"host/fs/read_dir", fmt.Sprintf(`{"path":%s}`, quoted(home+"/mine")), "-32001 capability denied: read_paths"},
			{"host/fs/read_dir", fmt.Sprintf(`{"path":%s}`, quoted(home+"/mine/out")), "-32001 capability denied: read_paths"},
			{"host/fs/read_dir", fmt.Sprintf(`{"path":%s}`, quoted(home+"/secret")), "-32001 capability denied: read_paths"},
			{"host/snapshot/get", `{"topic":"run.finished"}`, `{"payload":null,"version":0}`},
			{"host/snapshot/get", `{"topic":"cache.stats"}`, "-32001 capability denied: event_bus"},
			{"host/network/fetch", `{"url":"http://a.example/"}`, `-32001 capability denied: network {"host":"a.example"}`},
			{"host/secret_store_get", `{"scope":"user","key":"other"}`, `-32001 capability denied: secrets:read {"key":"other"}`},
			{"host/secret_store_get", `{"scope":"user","key":"token"}`, "-32004 secret not found: scope=user key=token"},
			{"host/spawn_managed_subprocess", `{"bin":"sh"}`, `-32001 capability denied: spawn_managed_subprocess {"bin":"sh"}`},
			{"host/unix_socket_dial", `{"path":"/run/a"}`, `-32001 capability denied: unix_socket_dial {"path":"/run/a"}`},
		} {
			if got := k.ask(fmt.Sprint(i), c.method, c.params).outcome(); got != c.want {
				t.Errorf("%s %s: got %s, want %s", c.method, c.params, got, c.want)
			}
		}
	})
}
