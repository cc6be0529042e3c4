package sep

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// endpoint launches the process of an extension with a separate socket, in a directory that no other user
// may enter. It is for one process at a time.
type endpoint struct {
	o       *Options
	startup time.Duration
	command host.Command
	env     func(set map[string]string) []string
	user    int // the user that must connect

	token    string
	dir      string
	held     *os.File // dir, while it is in use
	listener *net.UnixListener
	copying  sync.WaitGroup // of the process's stdout
	stdout   io.Closer
}

// maxSocketPath is how long the path of a socket may be, in bytes: 104 with its end on macOS, 108 on Linux.
const maxSocketPath = 103

// The names of the directory of a socket, and of the socket in it.
const (
	dirPrefix  = "bento-sep-"
	socketName = "s"
)

// newEndpoint resolves the entrypoint of the manifest.
func newEndpoint(o *Options, startup time.Duration) (*endpoint, error) {
	e := o.Manifest.Entrypoint
	path, err := o.program(e.Command)
	if err != nil {
		return nil, err
	}
	dir := filepath.FromSlash(e.WorkingDirectory)
	if !filepath.IsAbs(dir) {
		if dir != "" && !filepath.IsLocal(dir) {
			return nil, fmt.Errorf("entrypoint.workingDirectory is %q, required a directory below that of the manifest, or an absolute one", e.WorkingDirectory)
		}
		dir = filepath.Join(o.Dir, dir)
	}
	env := o.Env.Select("PATH", "HOME", "LANG", "TMPDIR").With(e.Environment).With(o.Set)
	return &endpoint{
		o:       o,
		startup: startup,
		command: host.Command{Argv: append([]string{path}, e.Args...), Check: o.Check, Dir: dir},
		env:     func(set map[string]string) []string { return env.With(set) },
		user:    os.Geteuid(),
	}, nil
}

// program returns the path of a command: one with a separator is relative to the manifest.
func (o *Options) program(command string) (string, error) {
	switch {
	case strings.ContainsRune(command, 0):
		return "", errors.New("entrypoint.command has a NUL byte")
	case filepath.IsAbs(command):
		return filepath.Clean(command), nil
	case !strings.ContainsAny(command, `/\`):
		return o.Env.LookPath(command)
	case !filepath.IsLocal(filepath.FromSlash(command)):
		return "", fmt.Errorf("entrypoint.command is %q, required a file below the directory of the manifest, or an absolute path", command)
	}
	return filepath.Join(o.Dir, filepath.FromSlash(command)), nil
}

// Launch starts the process. The socket exists before the process.
func (e *endpoint) Launch(ctx context.Context, stderr io.Writer) (*host.Stream, error) {
	command := e.command
	if e.o.Stdio {
		command.Env = e.env(map[string]string{"SEP_ENDPOINT": "stdio:", "SEP_TOKEN": ""})
		return command.Launch(ctx, stderr)
	}
	if err := e.listen(); err != nil {
		return nil, err
	}
	command.Env = e.env(map[string]string{"SEP_ENDPOINT": "unix:" + e.listener.Addr().String(), "SEP_TOKEN": e.token})
	stream, err := command.Launch(ctx, stderr)
	if err != nil {
		e.remove()
		return nil, err
	}
	// The output of the process is its log. The process must not wait for a reader before it connects.
	stream.Stdin.Close()
	e.stdout = stream.Stdout
	e.copying.Go(func() { _, _ = io.Copy(stderr, stream.Stdout) })
	return stream, nil
}

// listen makes the directory, the socket and the token.
func (e *endpoint) listen() error {
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return err
	}
	e.token = hex.EncodeToString(random)
	dir, err := privateDir(e.o.Env)
	if err != nil {
		return err
	}
	held, err := holdDir(dir)
	if err != nil {
		os.Remove(dir)
		return err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, socketName)})
	if err != nil {
		os.Remove(dir)
		held.Close()
		return err
	}
	e.dir, e.held, e.listener = dir, held, l
	return nil
}

// privateDir makes a directory for one socket. Its parent is the first of a few that no other user can
// rename it in, and whose path is short enough.
func privateDir(env adapters.Environ) (string, error) {
	var reasons []error
	for _, parent := range []string{env.Get("XDG_RUNTIME_DIR"), env.Get("TMPDIR"), "/tmp"} {
		if parent == "" {
			continue
		}
		if err := suitable(parent); err != nil {
			reasons = append(reasons, err)
			continue
		}
		removeStale(parent)
		dir, err := os.MkdirTemp(parent, dirPrefix)
		if err == nil {
			return dir, nil
		}
		reasons = append(reasons, err)
	}
	return "", fmt.Errorf("there is no directory for the socket of an extension: %w", errors.Join(reasons...))
}

// suitable returns an error if parent may not have the directory of a socket.
func suitable(parent string) error {
	const below = len("/" + dirPrefix + "4294967295/" + socketName)
	if !filepath.IsAbs(parent) {
		return fmt.Errorf("%q is no absolute path", parent)
	}
	if len(parent)+below > maxSocketPath {
		return fmt.Errorf("%q is too long for the path of a socket, required at most %d bytes", parent, maxSocketPath-below)
	}
	fi, err := os.Stat(parent)
	if err != nil {
		return err
	}
	if !fi.IsDir() || fi.Mode().Perm()&0o022 != 0 && fi.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("%q is no directory in which other users can rename nothing (mode %v)", parent, fi.Mode())
	}
	return nil
}

// accept waits for the connection of the process and removes the socket behind it.
func (e *endpoint) accept(ctx context.Context, stream *host.Stream) (*net.UnixConn, error) {
	defer e.remove()
	type accepted struct {
		conn *net.UnixConn
		err  error
	}
	come := make(chan accepted, 1)
	var accepting sync.WaitGroup
	accepting.Go(func() {
		conn, err := e.listener.AcceptUnix()
		come <- accepted{conn, err}
	})
	var why error
	select {
	case a := <-come:
		come <- a
	case <-stream.Exited:
		why = errors.New("it exited before it connected to SEP_ENDPOINT")
		_ = e.listener.SetDeadline(time.Now().Add(lastConnection))
	case <-ctx.Done():
		why = fmt.Errorf("it did not connect to SEP_ENDPOINT within %v of its start", e.startup)
		e.listener.Close()
	}
	a := <-come
	accepting.Wait()
	if a.err != nil && why != nil {
		a.err = why
	}
	if a.err == nil {
		if a.err = checkPeer(a.conn, e.user); a.err != nil {
			a.conn.Close()
		}
	}
	return a.conn, a.err
}

// lastConnection is the time for a connection that a process made before it exited.
const lastConnection = 100 * time.Millisecond

// checkPeer checks that the other side of a connection is a process of a user.
func checkPeer(conn *net.UnixConn, user int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) }); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return fmt.Errorf("the user of the other side of the socket is unknown: %w", failed)
	case uid != user:
		return fmt.Errorf("the user %d connected to the socket, required %d", uid, user)
	}
	return nil
}

// remove removes the socket and its directory.
func (e *endpoint) remove() {
	if e.dir == "" {
		return
	}
	e.listener.Close() // also removes the socket
	os.RemoveAll(e.dir)
	e.held.Close()
	e.dir = ""
}

// finish releases the socket and the output of a process that has ended.
func (e *endpoint) finish() {
	e.remove()
	if e.stdout != nil {
		e.stdout.Close()
		e.stdout = nil
	}
	e.copying.Wait()
}

// Launch starts the process of an extension as Start does, without a host, for a suite. It waits for its
// connection, at most until ctx is done, and sends it nothing. The streams are those of the connection; the
// token is that of sep.hello, "" for inherited streams. stderr gets the output of the process. Wait also
// closes the connection.
func Launch(ctx context.Context, o Options, stderr io.Writer) (stream *host.Stream, token string, err error) {
	e, err := newEndpoint(&o, Settle(o.Manifest, o.Entry).Startup)
	if err != nil {
		return nil, "", err
	}
	process, err := e.Launch(ctx, stderr)
	if err != nil {
		return nil, "", err
	}
	launched := *process
	stream = &launched
	stream.Wait = func() string {
		status := process.Wait()
		stream.Stdin.Close()
		stream.Stdout.Close()
		e.finish()
		return status
	}
	if o.Stdio {
		return stream, "", nil
	}
	conn, err := e.accept(ctx, process)
	if err != nil {
		stream.End(true)
		return nil, "", fmt.Errorf("%w (%s)", err, stream.Wait())
	}
	stream.Stdin, stream.Stdout = writeHalf{conn}, conn
	return stream, e.token, nil
}

// writeHalf is the direction of a connection to the other side.
type writeHalf struct{ *net.UnixConn }

// Close closes this direction alone.
func (w writeHalf) Close() error { return w.CloseWrite() }
