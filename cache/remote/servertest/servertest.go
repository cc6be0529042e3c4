// Package servertest starts real servers of remote caches for tests, each on a free port of this machine and with a
// new directory. scripts/toolchains installs them; a test is skipped where one is missing, as by adaptertest.Need.
package servertest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/proc"
)

// patience is how long a server may take to answer its first question, on a machine that does much else.
const patience = 2 * time.Minute

// attempts is how often a server is started whose port another program took first.
const attempts = 5

// Server is a server that answers until the test ends.
type Server struct {
	GRPC string // the address of the Remote Execution API, such as 127.0.0.1:8980
	HTTP string // the address of Bazel's plain HTTP, "" for none
	Dir  string // what it stores is in here

	argv func(*Server) []string
	env  []string // beside this process's
	child
}

// child is a process that runs until it is stopped.
type child struct {
	process *proc.Process
	waiting sync.WaitGroup // for its end; it reads the output
	output  log
}

// spawn starts the process, which has this one's environment and more.
func (c *child) spawn(t testing.TB, dir string, env []string, argv ...string) {
	t.Helper()
	p, err := proc.Start(proc.Spec{Argv: argv, Dir: dir, Env: append(os.Environ(), env...), Stdout: &c.output, Stderr: &c.output, Beside: true})
	if err != nil {
		t.Fatal(err)
	}
	c.process = p
	c.waiting.Go(func() { p.Wait(context.Background()) })
}

// Stop kills the process and all its children, as a crash would.
func (c *child) Stop() {
	if c.process == nil {
		return
	}
	c.process.Kill()
	c.waiting.Wait()
	c.process = nil
}

// stopAtEnd stops the process when the test has ended, and shows what it has printed if that has failed.
func (c *child) stopAtEnd(t testing.TB, name string) {
	t.Cleanup(func() {
		c.Stop()
		if t.Failed() {
			t.Logf("output of %s:\n%s", name, c.output.text())
		}
	})
}

// Casd starts buildbox-casd: the Remote Execution API, without TLS. It announces no compressor.
func Casd(t testing.TB, flags ...string) *Server {
	t.Helper()
	adaptertest.Need(t, "buildbox-casd")
	return start(t, func(s *Server) []string {
		return append(append([]string{tool(t, "buildbox-casd"), "--bind=" + s.GRPC}, limited(flags)...), s.Dir)
	})
}

// Workers starts buildbox-casd with its own executor of actions, which needs namespaces of its own. An action has /usr and /etc of
// this machine.
func Workers(t testing.TB, flags ...string) *Server {
	t.Helper()
	_, mounts := executor(t)
	for _, m := range mounts {
		flags = append(flags, "--runner-arg="+m)
	}
	return ImageWorkers(t, flags...)
}

// ImageWorkers is Workers whose actions have nothing of this machine: only the image that their property container-image names.
func ImageWorkers(t testing.TB, flags ...string) *Server {
	t.Helper()
	runner, _ := executor(t)
	flags = append(flags, "--buildbox-run="+runner, "--jobs=8")
	return start(t, func(s *Server) []string {
		s.env = beside(runner)
		return append(append([]string{tool(t, "buildbox-casd"), "--bind=" + s.GRPC}, limited(flags)...), s.Dir)
	})
}

// executor returns buildbox-run, which executes an action, and its flags: an action has /usr and /etc of this machine.
func executor(t testing.TB) (runner string, flags []string) {
	t.Helper()
	adaptertest.Need(t, "buildbox-casd")
	adaptertest.Need(t, "bwrap")
	runner = filepath.Join(filepath.Dir(tool(t, "buildbox-casd")), "buildbox-run")
	if _, err := os.Stat(runner); err != nil {
		t.Skipf("nothing executes actions: %v", err)
	}
	if out, err := exec.Command(tool(t, "bwrap"), "--ro-bind", "/", "/", "--unshare-all", "true").CombinedOutput(); err != nil {
		t.Skipf("bwrap can make no namespaces: %s", out)
	}
	for _, at := range []string{"/usr:/usr", "/usr/bin:/bin", "/usr/lib:/lib", "/usr/lib64:/lib64", "/etc:/etc"} {
		if from, _, _ := strings.Cut(at, ":"); isDir(from) {
			flags = append(flags, "--ro-bind-mount="+at)
		}
	}
	return runner, flags
}

// beside returns the variables with which buildbox-run finds the programs beside it.
func beside(runner string) []string {
	return []string{"PATH=" + filepath.Dir(runner) + ":" + os.Getenv("PATH")}
}

// limited adds the quota of buildbox-casd, which obeys the first one, unless flags have one.
func limited(flags []string) []string {
	if slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--quota-high=") }) {
		return flags
	}
	return append([]string{"--quota-high=1G"}, flags...)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// BazelRemote starts bazel-remote: the Remote Execution API and plain HTTP. It announces zstd. Flags such as
// --htpasswd_file and --tls_cert_file set what it asks of clients.
func BazelRemote(t testing.TB, flags ...string) *Server {
	t.Helper()
	adaptertest.Need(t, "bazel-remote")
	return start(t, func(s *Server) []string {
		if s.HTTP == "" {
			s.HTTP = free(t)
		}
		return append([]string{tool(t, "bazel-remote"), "--dir", s.Dir, "--max_size", "1", "--grpc_address", s.GRPC, "--http_address", s.HTTP}, flags...)
	})
}

// Turborepo starts turborepo-remote-cache, with local files, which accepts a token.
func Turborepo(t testing.TB, token string) *Server {
	t.Helper()
	adaptertest.Need(t, "node")
	if out, err := exec.Command(tool(t, "node"), "-p", "parseInt(process.versions.node)").Output(); err != nil || len(out) < 3 || string(out) < "20" {
		t.Skipf("turborepo-remote-cache requires Node.js 20, found %s %v", out, err)
	}
	adaptertest.Need(t, "turborepo-remote-cache")
	return start(t, func(s *Server) []string {
		if s.HTTP == "" {
			s.HTTP = free(t)
		}
		host, port, _ := net.SplitHostPort(s.HTTP)
		s.GRPC, s.env = "", []string{"HOST=" + host, "PORT=" + port, "TURBO_TOKEN=" + token, "STORAGE_PROVIDER=local", "STORAGE_PATH=" + s.Dir,
			"STORAGE_PATH_USE_TMP_FOLDER=false", "NODE_ENV=production", "LOG_LEVEL=warn", "BODY_LIMIT=104857600"}
		return []string{tool(t, "turborepo-remote-cache")}
	})
}

// Moto starts moto_server: many services of Amazon's, in memory.
func Moto(t testing.TB) *Server {
	t.Helper()
	adaptertest.Need(t, "moto_server")
	return start(t, func(s *Server) []string {
		if s.HTTP == "" {
			s.HTTP = free(t)
		}
		host, port, _ := net.SplitHostPort(s.HTTP)
		s.GRPC = ""
		return []string{tool(t, "moto_server"), "-H", host, "-p", port}
	})
}

func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts a server on free ports. A port can be taken between the moment it was found free and the start: then
// the server ends, and another one is started.
func start(t testing.TB, argv func(*Server) []string) *Server {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Dir: dir, argv: argv}
	s.stopAtEnd(t, "the server")
	for range attempts {
		s.GRPC, s.HTTP = free(t), ""
		if err = s.start(t); err == nil {
			return s
		}
		s.Stop()
	}
	t.Fatalf("%v\n%s", err, s.output.text())
	return nil
}

// Start starts a stopped server again, at the same addresses and with what it has stored.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(t); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start(t testing.TB) error {
	t.Helper()
	s.spawn(t, s.Dir, s.env, s.argv(s)...)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	for _, q := range []struct{ address, text string }{
		{s.GRPC, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"}, // with empty settings
		{s.HTTP, "GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"},
	} {
		for q.address != "" && !answers(ctx, q.address, q.text) {
			select {
			case <-s.process.Exited():
				return fmt.Errorf("%s ended before it answered", s.argv(s)[0])
			case <-ctx.Done():
				return fmt.Errorf("%s does not answer at %s", s.argv(s)[0], q.address)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	return nil
}

// answers reports whether a server answers a question: with a byte, or by closing the connection, as one that wants TLS
// does.
func answers(ctx context.Context, address, question string) bool {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	end, _ := ctx.Deadline()
	if err := conn.SetDeadline(end); err != nil {
		return false
	}
	if _, err := conn.Write([]byte(question)); err != nil {
		return false
	}
	_, _ = conn.Read(make([]byte, 1))
	return ctx.Err() == nil
}

// free returns an address of this machine whose port nothing listens at.
func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// log keeps the end of a server's output.
type log struct {
	mu   sync.Mutex
	data bytes.Buffer
}

const maxLog = 4 << 10

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.data.Len()+len(p) > maxLog {
		l.data.Reset()
	}
	return l.data.Write(p)
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.data.String()
}
