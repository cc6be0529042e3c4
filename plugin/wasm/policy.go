package wasm

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// The host functions of the import module az.
const (
	azLog      = "az_log"
	azEnvGet   = "az_env_get"
	azReadFile = "az_read_file"
	azHTTPGet  = "az_http_get"
)

var hostFunctions = map[string]string{
	azLog:      "i32,i32,i32->",
	azEnvGet:   "i32,i32->i64",
	azReadFile: "i32,i32->i64",
	azHTTPGet:  "i32,i32->i64",
}

const (
	wasiRead      = "wasi:filesystem/read"
	wasiReadWrite = "wasi:filesystem/read-write"
)

// always are granted to every module and declared by each.
var always = []string{azLog, "wasi:random", "wasi:clock"}

// grant is the set of capabilities that a module may use: its manifest declares them in both of its lists,
// and the user grants them.
type grant struct {
	declared map[string]bool // nil: all that it imports
	granted  map[string]bool
	hosts    map[string]bool // host:port
}

// capability returns the one name of a capability that has several spellings.
func capability(name string) string {
	for _, prefix := range []string{"host:", "az::"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// granted computes the grant. It refuses a manifest that declares more than is granted, because a module
// without a capability that it needs would fail later and elsewhere.
func (t *Tool) granted() (grant, error) {
	g := grant{granted: map[string]bool{}, hosts: map[string]bool{}}
	for _, c := range slices.Concat(always, t.o.Capabilities) {
		c = capability(c)
		g.granted[c] = true
		if c == wasiReadWrite {
			g.granted[wasiRead] = true
		}
	}
	if t.o.ReadWorkspace {
		g.granted[wasiRead] = true
	}
	if g.granted[wasiRead] {
		g.granted[azReadFile] = true
	}
	for _, h := range t.o.Hosts {
		if err := g.allow(h); err != nil {
			return g, t.failure(adapters.LaunchFailed, "", err.Error(), `write "example.com" or "example.com:8443"`)
		}
	}
	if t.o.Manifest == nil {
		return g, nil
	}
	return g, t.declare(&g)
}

func (t *Tool) declare(g *grant) error {
	m := t.o.Manifest
	low, high := m.MinAPI, m.MaxAPI
	if low == 0 {
		low = API
	}
	if high == 0 {
		high = API
	}
	if low > API || high < API {
		return t.failure(adapters.ProtocolVersionMismatch, "",
			fmt.Sprintf("plugin runtime API compatibility failed: current=%d, supported=%d..=%d", API, low, high),
			"upgrade the plugin to SDK v2, or install a version that supports runtime API 2")
	}
	g.declared = map[string]bool{}
	calls := map[string]bool{azLog: true}
	for _, c := range m.HostCalls {
		calls[capability(c)] = true
	}
	for _, c := range slices.Concat(always, m.Capabilities) {
		c = capability(c)
		if !g.granted[c] {
			return t.failure(adapters.CapabilityNotAllowed, "", fmt.Sprintf("the manifest declares %q, which is not granted", c),
				fmt.Sprintf("if you trust the module: capabilities = [%q] of the tool", c))
		}
		if _, ok := hostFunctions[c]; !ok || calls[c] {
			g.declared[c] = true
		}
		if c == wasiReadWrite {
			g.declared[wasiRead] = true
		}
		if g.declared[wasiRead] {
			g.declared[azReadFile] = true
		}
	}
	return nil
}

// allow adds a host. Without a port it adds the ports of http and https.
func (g *grant) allow(host string) error {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), ""
	}
	if name == "" || strings.ContainsAny(name, "/@*? \t") {
		return fmt.Errorf("the allowed host %q is no name of a host", host)
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if port != "" {
		g.hosts[net.JoinHostPort(name, port)] = true
		return nil
	}
	g.hosts[net.JoinHostPort(name, "80")], g.hosts[net.JoinHostPort(name, "443")] = true, true
	return nil
}

// may reports whether the module may use a capability.
func (g *grant) may(capability string) bool {
	return g.granted[capability] && (g.declared == nil || g.declared[capability])
}
