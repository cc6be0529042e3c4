package reapi

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
	"github.com/bentobuild/bento/cache/remote/servertest"
)

// passage is the way to a server. It can lead to another one, or lose what its connections carry.
type passage struct {
	listener net.Listener
	opened   atomic.Int32

	mu    sync.Mutex
	to    string
	conns []net.Conn
	lost  *atomic.Bool // of the connections since the last sleep
}

func newPassage(t *testing.T, to string) *passage {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &passage{listener: l, to: to, lost: new(atomic.Bool)}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.opened.Add(1)
			p.mu.Lock()
			p.conns = append(p.conns, conn)
			go carry(conn, p.to, p.lost)
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		p.lead("")
	})
	return p
}

func carry(conn net.Conn, to string, lost *atomic.Bool) {
	defer conn.Close()
	other, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(losing{other, lost}, conn)
		other.Close()
	}()
	_, _ = io.Copy(losing{conn, lost}, other)
}

// losing is a direction of a connection. Once it is lost, nothing arrives, without a word.
type losing struct {
	io.Writer
	lost *atomic.Bool
}

func (l losing) Write(p []byte) (int, error) {
	if l.lost.Load() {
		return len(p), nil
	}
	return l.Writer.Write(p)
}

// lead ends all connections. The next ones go to another server.
func (p *passage) lead(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = to
	for _, conn := range p.conns {
		conn.Close()
	}
	p.conns = nil
}

// sleep loses all connections, as the sleep of a machine does: both ends believe that they are open.
func (p *passage) sleep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost.Store(true)
	p.lost = new(atomic.Bool)
}

// TestOtherServer: under a run the server becomes another one, which gives other rights, then one that can do less. What is
// refused is not sent, what is not there is a miss, and what was sent is there.
func TestOtherServer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(file, []byte("ci:$2y$05$J2bsqdsLOau3tAgF4vpPN.s.nxSFXQ2neVDUQG.DdhahD8/Rs8t0e\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	way := newPassage(t, servertest.BazelRemote(t).GRPC)
	c := client(t, way.listener.Addr().String())
	first, second := make(remotetest.Contents), make(remotetest.Contents)
	first.Add(lines(100 << 10))
	for _, n := range []int{2000, 3 << 20} {
		second.Add(lines(n))
	}
	if sent, err := send(t.Context(), c, first); err != nil || len(sent) != 1 {
		t.Fatalf("%d, %v", len(sent), err)
	}

	way.lead(servertest.BazelRemote(t, "--htpasswd_file", file, "--allow_unauthenticated_reads").GRPC)
	if sent, err := send(t.Context(), c, second); !errors.Is(err, remote.ErrDenied) || len(sent) != 0 {
		t.Errorf("to a server that only lets read: %d, %v", len(sent), err)
	}
	if err := c.PutResult(t.Context(), remote.Sum(nil), nil); !errors.Is(err, remote.ErrDenied) {
		t.Errorf("a result to a server that only lets read: %v", err)
	}
	for d := range first {
		if got, err := fetchAll(t.Context(), c, remote.Want{Digest: d}); err != nil || got[d] != nil {
			t.Errorf("from a server that lacks it: %d bytes, %v", len(got[d]), err)
		}
	}
	if _, err := c.Result(t.Context(), remote.Sum([]byte("x"))); !errors.Is(err, remote.ErrMiss) {
		t.Errorf("a result of a server that lacks it: %v", err)
	}

	way.lead(servertest.Casd(t).GRPC) // it knows no zstd
	sent, err := send(t.Context(), c, second)
	t.Logf("to a server that can do less: %d of %d sent, %v", len(sent), len(second), err)
	for d := range sent {
		if got, err := fetchAll(t.Context(), c, remote.Want{Digest: d}); err != nil || !bytes.Equal(got[d], second[d]) {
			t.Errorf("from a server that can do less: %d bytes, %v", len(got[d]), err)
		}
	}
	if errors.Is(err, remote.ErrDenied) || err == nil && len(sent) != len(second) {
		t.Errorf("to a server that can do less: %d, %v", len(sent), err)
	}
}

// TestAsleep: after the sleep of the machine, whose connections are dead without a word, a call costs its time, and the
// next one has a new connection.
func TestAsleep(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"buildbox-casd", "bazel-remote"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way := newPassage(t, servers[name](t).GRPC)
			c := client(t, way.listener.Addr().String(), func(o *Options) { o.First, o.Idle = 2*time.Second, 2*time.Second })
			blobs := make(remotetest.Contents)
			blobs.Add(noise(1, 3<<20))
			if sent, err := send(t.Context(), c, blobs); err != nil || len(sent) != 1 {
				t.Fatalf("%d, %v", len(sent), err)
			}
			way.sleep()
			for begin := time.Now(); ; {
				err := ask(t, c)
				if err == nil {
					break
				}
				if !errors.Is(err, remote.ErrSilent) || time.Since(begin) > patience {
					t.Fatalf("after the sleep: %v", err)
				}
			}
			for d, data := range blobs {
				if got, err := fetchAll(t.Context(), c, remote.Want{Digest: d}); err != nil || !bytes.Equal(got[d], data) {
					t.Errorf("after the sleep: %d bytes, %v", len(got[d]), err)
				}
			}
			if n := way.opened.Load(); n < 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}
