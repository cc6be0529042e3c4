package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/cache/remote/transport"
)

func open(t *testing.T, address string, change func(*transport.Options)) remote.Backend {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	o := transport.Options{Address: u, Trusted: true}
	if change != nil {
		change(&o)
	}
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

// blobs are contents by their digests.
type blobs map[remote.Digest][]byte

func texts(list ...string) (all blobs, digests []remote.Digest) {
	all = make(blobs)
	for _, text := range list {
		d := remote.Sum([]byte(text))
		all[d] = []byte(text)
		digests = append(digests, d)
	}
	return all, digests
}

func (b blobs) open(d remote.Digest) (io.ReadSeekCloser, error) {
	return content{bytes.NewReader(b[d])}, nil
}

func (b blobs) send(ctx context.Context, to remote.Backend, digests ...remote.Digest) (n int, err error) {
	err = to.Send(ctx, digests, b.open, func(remote.Digest) { n++ })
	return n, err
}

// action is an ActionResult with the output "hello".
const action = "\x2a\x05hello"

// TestBazelRemote drives the real server: results, blobs of each size, a position, those that are missing.
func TestBazelRemote(t *testing.T) {
	t.Parallel()
	s := servertest.BazelRemote(t)
	for _, prefix := range []string{"", "/", "/an/instance/"} {
		t.Run(fmt.Sprintf("prefix %q", prefix), func(t *testing.T) {
			b := open(t, "http://"+s.HTTP+prefix, nil)
			key := remote.Sum([]byte("action" + prefix))
			if _, err := b.Result(t.Context(), key); !errors.Is(err, remote.ErrMiss) {
				t.Errorf("no result yet: %v", err)
			}
			if err := b.PutResult(t.Context(), key, []byte(action)); err != nil {
				t.Error(err)
			}
			if got, err := b.Result(t.Context(), key); err != nil || !strings.HasPrefix(string(got), action) { // it adds who has sent it
				t.Errorf("%q, %v", got, err)
			}
			list := []string{"", "x" + prefix, strings.Repeat("y"+prefix, 100_000), strings.Repeat("big"+prefix, 3<<20)}
			for i := range 500 {
				list = append(list, fmt.Sprint(prefix, i))
			}
			all, digests := texts(list...)
			missing, err := b.Missing(t.Context(), digests)
			if err != nil || len(missing) != len(list)-1 {
				t.Errorf("%d of %d are missing, %v", len(missing), len(list), err)
			}
			if n, err := all.send(t.Context(), b, digests...); n != len(digests) || err != nil {
				t.Fatalf("%d of %d were sent, %v", n, len(digests), err)
			}
			if missing, err := b.Missing(t.Context(), digests); err != nil || len(missing) != 0 {
				t.Errorf("%d are missing, %v", len(missing), err)
			}
			fetchAll(t, b, all, digests)
		})
	}
}

func fetchAll(t *testing.T, b remote.Backend, all blobs, digests []remote.Digest) {
	t.Helper()
	gone := remote.Sum([]byte("gone"))
	wants := []remote.Want{{Digest: gone}, {Digest: digests[3], From: 1 << 20}, {Digest: digests[2], From: 99_999}}
	for _, d := range digests {
		wants = append(wants, remote.Want{Digest: d})
	}
	got := 0
	err := b.Fetch(t.Context(), wants, func(w remote.Want, r io.Reader) error {
		got++
		if w.Digest == gone {
			if r != nil {
				t.Error("a blob that no one has sent")
			}
			return nil
		}
		if r == nil {
			return fmt.Errorf("%d bytes from %d on are missing", w.Size, w.From)
		}
		data, err := io.ReadAll(r)
		if !bytes.Equal(data, all[w.Digest][w.From:]) {
			t.Errorf("%d bytes from %d on: found %d others", w.Size, w.From, len(data))
		}
		return err
	})
	if err != nil || got != len(wants) {
		t.Errorf("%d of %d, %v", got, len(wants), err)
	}
}

// hushed is the bcrypt hash of "hush".
const hushed = "$2y$05$J2bsqdsLOau3tAgF4vpPN.s.nxSFXQ2neVDUQG.DdhahD8/Rs8t0e"

// TestKit runs the conformance tests of all backends and stores.
func TestKit(t *testing.T) {
	t.Parallel()
	s := servertest.BazelRemote(t)
	remotetest.Run(t, func(t *testing.T) remote.Backend { return open(t, "http://"+s.HTTP, nil) })
	remotetest.RunStore(t, func(t *testing.T, o remote.Options) remote.Store {
		return remote.OverBackend(open(t, "http://"+s.HTTP, nil), o)
	})
}

// TestRights: a client without a password may read, and not write.
func TestRights(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(file, []byte("ci:"+hushed+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := servertest.BazelRemote(t, "--htpasswd_file", file, "--allow_unauthenticated_reads")
	all, digests := texts("a", "b")
	key := remote.Sum([]byte("action"))
	reader := open(t, "http://"+s.HTTP, nil)
	if n, err := all.send(t.Context(), reader, digests...); !errors.Is(err, remote.ErrDenied) || n != 0 {
		t.Errorf("a reader has written %d blobs: %v", n, err)
	}
	if err := reader.PutResult(t.Context(), key, []byte(action)); !errors.Is(err, remote.ErrDenied) {
		t.Errorf("a reader has written a result: %v", err)
	}
	for name, change := range map[string]func(*transport.Options){
		"credentials": func(o *transport.Options) { o.Credentials = transport.Credentials{User: "ci", Password: "hush"} },
		"address":     func(o *transport.Options) { o.Address.User = url.UserPassword("ci", "hush") },
	} {
		writer := open(t, "http://"+s.HTTP, change)
		if n, err := all.send(t.Context(), writer, digests...); err != nil || n != 2 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if err := writer.PutResult(t.Context(), key, []byte(action)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := open(t, "http://"+s.HTTP, func(o *transport.Options) { o.Credentials = transport.Credentials{User: "ci", Password: "guess"} })
	if err := wrong.PutResult(t.Context(), key, []byte(action)); !errors.Is(err, remote.ErrDenied) {
		t.Errorf("a wrong password: %v", err)
	}
	if got, err := reader.Result(t.Context(), key); err != nil || !strings.HasPrefix(string(got), action) { // it adds who has sent it
		t.Errorf("a reader: %q, %v", got, err)
	}
}

// TestTooLarge: a blob that the server does not take keeps no other from being sent.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := servertest.BazelRemote(t, "--max_blob_size", "1000000")
	all, digests := texts("a", strings.Repeat("big", 1<<20), "b")
	b := open(t, "http://"+s.HTTP, nil)
	if n, err := all.send(t.Context(), b, digests...); n != 2 || !errors.Is(err, remote.ErrFull) {
		t.Errorf("%d of 3 were sent: %v", n, err)
	}
}
