package reapi

import (
	"bytes"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/cache/remote/transport"
	"github.com/bentobuild/bento/internal/sampling"
)

// servers are the real servers that the tests start.
var servers = map[string]func(testing.TB, ...string) *servertest.Server{
	"BuildGrid":     servertest.BuildGrid,
	"buildbox-casd": servertest.Casd,
	"bazel-remote":  servertest.BazelRemote,
}

// client returns a client of a server without TLS.
func client(t testing.TB, address string, set ...func(*Options)) *Client {
	t.Helper()
	u, err := url.Parse("grpc://" + address)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Transport: transport.Options{Address: u}, First: patience, Idle: patience}
	o.Transport.Connect = patience
	for _, f := range set {
		f(&o)
	}
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// noise returns n bytes that cannot be compressed, the same for a seed.
func noise(seed uint64, n int) []byte {
	data := make([]byte, n)
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	rand.NewChaCha8(key).Read(data)
	return data
}

func lines(n int) []byte {
	return bytes.Repeat([]byte("a line of a log, as long as they often are\n"), n/43+1)[:n]
}

// TestDescribe: a server says what it can do.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"buildbox-casd": "no compression",
		"bazel-remote":  "Remote Execution API 2.0 to 2.3, zstd",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := client(t, servers[name](t).GRPC).Describe(t.Context())
			if err != nil || !strings.HasPrefix(got, "Remote Execution API 2.") || !strings.HasSuffix(got, want) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestRealServers runs the kits of backends and of stores with real servers.
func TestRealServers(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := start(t).GRPC
			remotetest.Run(t, func(t *testing.T) remote.Backend { return client(t, address) })
			remotetest.RunStore(t, func(t *testing.T, o remote.Options) remote.Store { return remote.OverBackend(client(t, address), o) })
		})
	}
}

// TestEvictions: real servers lose files between two runs, or while they run.
func TestEvictions(t *testing.T) {
	t.Parallel()
	rounds := 3
	if sampling.All() {
		rounds = 100
	}
	for name, start := range map[string]func(testing.TB, ...string) *servertest.Server{"buildbox-casd": servertest.Casd, "bazel-remote": servertest.BazelRemote} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			losing := remotetest.Losing{Dir: s.Dir, Open: func(t *testing.T, o remote.Options) remote.Store { return remote.OverBackend(client(t, s.GRPC), o) }}
			if name == "bazel-remote" { // which knows its files by heart
				losing.Around = func(lose func()) {
					s.Stop()
					lose()
					s.Start(t)
				}
			}
			remotetest.RunEvictions(t, losing, rounds, sampling.Rand(t))
		})
	}
}
