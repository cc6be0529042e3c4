package servertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// buildGrid is the configuration of a cache alone, which needs no database: its address and its directory.
const buildGrid = `server:
  - !channel { address: "%s", insecure-mode: true }
authorization: { method: none }
storages:
  - !disk-storage &disk { path: %q }
caches:
  - !lru-action-cache &results { storage: *disk, max-cached-refs: 10000, allow-updates: true, cache-failed-actions: false }
instances:
  - name: ""
    services:
      - !action-cache { cache: *results }
      - !cas { storage: *disk }
      - !bytestream { storage: *disk }
thread-pool-size: 30
`

// BuildGrid starts BuildGrid's cache: the Remote Execution API, without capabilities that matter. scripts/toolchains
// installs it where there is Python 3.13.
func BuildGrid(t testing.TB, _ ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("bgd"); err != nil || testing.Short() {
		t.Skip("bgd is not installed: pip install buildgrid==0.9.1, with Python 3.13")
	}
	return start(t, func(s *Server) []string {
		file := filepath.Join(t.TempDir(), "server.yml")
		if err := os.WriteFile(file, fmt.Appendf(nil, buildGrid, s.GRPC, s.Dir), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{tool(t, "bgd"), "server", "start", file}
	})
}
