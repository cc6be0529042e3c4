package sep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/sep/manifest"
)

// launched starts the kid of a name without a host; dir is the directory of sockets.
func launched(t *testing.T, name string, change func(*Options)) (s *host.Stream, token, dir string) {
	t.Helper()
	dir = t.TempDir()
	o := Options{
		Manifest: quick(t, name, "mark"), Dir: t.TempDir(),
		Env: adapters.NewEnviron([]string{"PATH=" + os.Getenv("PATH"), "HOME=/home/x", "LANG=C", "TMPDIR=" + dir, "SECRET=s", "LD_PRELOAD=x"}),
	}
	if change != nil {
		change(&o)
	}
	s, token, err := Launch(t.Context(), o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.End(true)
		s.Wait()
	})
	return s, token, dir
}

// TestSocket: each process has its own socket in a private directory, with its own token, for one
// connection.
func TestSocket(t *testing.T) {
	x := &Options{Manifest: quick(t, "well", "mark"), Dir: t.TempDir(), Env: adapters.NewEnviron([]string{"TMPDIR=" + t.TempDir()})}
	e, err := newEndpoint(x, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.listen(); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(e.dir)
	if err != nil || fi.Mode().Perm() != 0o700 || filepath.Dir(e.dir) != x.Env.Get("TMPDIR") || len(e.token) != 64 {
		t.Errorf("%v, %v, token %q", fi.Mode(), err, e.token)
	}
	e.remove()
	if _, err := os.Stat(e.dir); err == nil {
		t.Error("the directory is left")
	}
	tokens := make(map[string]bool)
	for range 3 {
		_, token, dir := launched(t, "well", nil)
		tokens[token] = true
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("left after the connection: %v, %v", left, err)
		}
	}
	if len(tokens) != 3 {
		t.Errorf("%d tokens of 3 starts", len(tokens))
	}
}

// TestStaleDirectories: a start removes only the directories that a killed bento has left.
func TestStaleDirectories(t *testing.T) {
	parent := t.TempDir()
	old := time.Now().Add(-2 * time.Minute)
	make := func(name string, file string, at time.Time) string {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	stale := make("bento-sep-1", socketName, old)
	kept := []string{make("bento-sep-2", socketName, time.Now()), make("bento-sep-3", "other", old), make("else-4", socketName, old)}
	used := make("bento-sep-5", socketName, old)
	held, err := holdDir(used)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	link := filepath.Join(parent, "bento-sep-6")
	if err := os.Symlink(kept[2], link); err != nil {
		t.Fatal(err)
	}
	dir, err := privateDir(adapters.NewEnviron([]string{"TMPDIR=" + parent}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("a stale directory is left")
	}
	for _, dir := range append(kept, used, link, dir) {
		if _, err := os.Lstat(dir); err != nil {
			t.Errorf("%s was removed", filepath.Base(dir))
		}
	}
}

// TestPeerUID: the user id from the kernel decides about a connection.
func TestPeerUID(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	conn, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := checkPeer(conn, os.Geteuid()); err != nil {
		t.Error(err)
	}
	if err := checkPeer(conn, os.Geteuid()+1); err == nil || !strings.Contains(err.Error(), "connected to the socket, required") {
		t.Errorf("another user: %v", err)
	}
}

// TestPlacesOfSockets: a directory that other users may write to is refused, and so is a path that is too
// long.
func TestPlacesOfSockets(t *testing.T) {
	good, shared := t.TempDir(), t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	sticky := t.TempDir()
	if err := os.Chmod(sticky, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(good, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ runtime, tmp, want string }{
		{"", good, good},
		{good, shared, good},
		{shared, good, good},
		{"", sticky, sticky},
		{long, "relative", "/tmp"},
		{file, filepath.Join(good, "missing"), "/tmp"},
		{shared, shared, "/tmp"},
	} {
		dir, err := privateDir(adapters.NewEnviron([]string{"XDG_RUNTIME_DIR=" + c.runtime, "TMPDIR=" + c.tmp}))
		if err != nil || filepath.Dir(dir) != c.want || len(filepath.Join(dir, "s")) > maxSocketPath {
			t.Errorf("%+v: got %q, %v", c, dir, err)
		}
		os.Remove(dir)
	}
}

// TestPrograms: where a command and its working directory may be.
func TestPrograms(t *testing.T) {
	for _, c := range []struct{ command, dir, want, in string }{
		{"./lint", "", "/x/lint", "/x"},
		{"bin/lint", "sub", "/x/bin/lint", "/x/sub"},
		{"/usr/bin/lint", "/var", "/usr/bin/lint", "/var"},
		{"../lint", "", "required a file below", ""},
		{"a/../../lint", "", "required a file below", ""},
		{"./lint", "../y", "required a directory below", ""},
		{"lint\x00", "", "NUL byte", ""},
		{"no-such-tool", "", "no-such-tool", ""},
	} {
		m := parsed(t)
		m.Entrypoint = manifest.Entrypoint{Command: c.command, WorkingDirectory: c.dir}
		e, err := newEndpoint(&Options{Manifest: m, Dir: "/x", Env: adapters.NewEnviron([]string{"PATH=/nowhere"})}, 0)
		if c.in == "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: got %v, want %s", c.command, err, c.want)
			}
			continue
		}
		if err != nil || e.command.Argv[0] != c.want || e.command.Dir != c.in {
			t.Errorf("%q: got %v in %s, %v", c.command, e.command.Argv, e.command.Dir, err)
		}
	}
}

// TestEnvironment checks the whole environment of a process. The manifest cannot set the variables of the
// protocol.
func TestEnvironment(t *testing.T) {
	s, token, dir := launched(t, "environment", func(o *Options) {
		o.Manifest.Entrypoint.Environment = map[string]string{"PYTHONUNBUFFERED": "1", "SEP_TOKEN": "mine", "BOTH": "manifest"}
		o.Set = map[string]string{"BOTH": "user", "MORE": "m"}
	})
	var got []string
	if err := json.NewDecoder(s.Stdout).Decode(&got); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := []string{"BOTH=user", "HOME=/home/x", "LANG=C", "MORE=m", "PATH=" + os.Getenv("PATH"), "PYTHONUNBUFFERED=1", "SEP_TOKEN=" + token, "TMPDIR=" + dir}
	endpoint := slices.IndexFunc(got, func(kv string) bool { return strings.HasPrefix(kv, "SEP_ENDPOINT=unix:"+dir) })
	if endpoint < 0 || !slices.Equal(slices.Delete(slices.Clone(got), endpoint, endpoint+1), want) {
		t.Errorf("got %q", got)
	}
}

// TestStdio: with the standard streams as the connection, no token is needed.
func TestStdio(t *testing.T) {
	seen := make(chan Status, 100)
	x, err := Start(t.Context(), Options{Manifest: quick(t, "stdio", "mark"), Dir: t.TempDir(), Stdio: true, Changed: func(s Status) { seen <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if s := until(t, seen, func(s Status) bool { return s.State == Running || s.Failure != nil }); s.Failure != nil {
		t.Error(s.Failure)
	}
}

// TestTwoAtOnce: four hosts with the same extension do not interfere.
func TestTwoAtOnce(t *testing.T) {
	m, dir := quick(t, "well", "mark"), t.TempDir()
	env := adapters.NewEnviron([]string{"TMPDIR=" + t.TempDir()})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			seen := make(chan Status, 100)
			x, err := Start(t.Context(), Options{Manifest: m, Dir: dir, Env: env, Changed: func(s Status) { seen <- s }})
			if err != nil {
				t.Error(err)
				return
			}
			defer x.Close()
			if s := <-seen; s.Failure != nil {
				t.Error(s.Failure)
			}
			until(t, seen, func(s Status) bool { return s.State == Running })
		})
	}
	all.Wait()
}

// TestTrace: the trace has all messages, and no token.
func TestTrace(t *testing.T) {
	var mu sync.Mutex
	var trace bytes.Buffer
	seen := make(chan Status, 100)
	x, err := Start(t.Context(), Options{
		Manifest: quick(t, "well", "mark"), Dir: t.TempDir(), Env: adapters.NewEnviron(nil), Changed: func(s Status) { seen <- s },
		Trace: func(sent bool, body []byte) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(&trace, "%t %s\n", sent, body)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	until(t, seen, func(s Status) bool { return s.State == Running })
	x.Close()
	lines := strings.Split(trace.String(), "\n")
	if lines[0] != `false {"jsonrpc":"2.0","method":"sep.hello","params":{"token":"…"}}` || !strings.HasPrefix(lines[1], `true {"jsonrpc":"2.0","id":1,"method":"sep.initialize"`) ||
		!strings.HasPrefix(lines[2], `false {"jsonrpc":"2.0","id":1,"result"`) || strings.Contains(trace.String(), x.socket.token) {
		t.Errorf("got %s", trace.String())
	}
}

// TestTooLarge: the host answers a request that is too large, and then ends the connection.
func TestTooLarge(t *testing.T) {
	_, out := conversation(t, []byte("Content-Length: 65537\r\n\r\n{"), "")
	if want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32015,"message":"a message has more than 65536 bytes","data":{"reason":"payload_too_large"}}}`; !strings.HasSuffix(out, want) {
		t.Errorf("got %s", out)
	}
}
