package workspace

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/state"
)

// The answers of adapters stay saved if a variable changes that no adapter declares. They are dropped if an adapter may
// answer differently.
func TestSettings(t *testing.T) {
	st := state.Open(t.TempDir())
	of := func(env ...string) string {
		h := &Host{Builtin: builtin.All, Environ: adapters.NewEnviron(append([]string{"PATH=/bin", "HOME=/home/u"}, env...))}
		return h.settings("this", st, &config.Workspace{})
	}
	want := of()
	for _, same := range []string{"FOREIGN=1", "PWD=/x", "SHLVL=3", "TERM=xterm", "SSH_AUTH_SOCK=/x", "LS_COLORS=x", "SECRET_TOKEN=x", "DISPLAY=:1"} {
		if of(same) != want {
			t.Errorf("%s: the answers of all adapters are forgotten", same)
		}
	}
	for _, other := range []string{"GOFLAGS=-mod=mod", "YARN_NODE_LINKER=pnp", "UV_PYTHON=3.12", "JAVA_HOME=/jdk", "XDG_CONFIG_HOME=/c", "CARGO_HOME=/c", "PATH=/other"} {
		if of(other) == want {
			t.Errorf("%s: the answers of an adapter that sees it are remembered", other)
		}
	}
}

// TestDeclared: adapters see no variable that none of them declares.
func TestDeclared(t *testing.T) {
	h := &Host{Builtin: builtin.All, Environ: adapters.NewEnviron([]string{"PATH=/bin", "GOFLAGS=-x", "JAVA_HOME=/jdk", "npm_config_x=1", "FOREIGN=1", "MY_TOKEN=s", "LS_COLORS=x"})}
	got := strings.Join(h.declared(), " ")
	if want := "GOFLAGS=-x JAVA_HOME=/jdk PATH=/bin npm_config_x=1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
