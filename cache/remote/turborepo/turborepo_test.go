package turborepo

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/cache/remote/transport"
)

func open(t *testing.T, address, team, token string, o remote.Options) remote.Store {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Options: o, Team: team, Way: transport.Options{Address: u, Trusted: true, Credentials: transport.Credentials{Token: token}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shelf is a server in this process that a test may change.
type shelf struct {
	mu   sync.Mutex
	data map[string][]byte // by the path and query of the artifact
	last http.Header       // of the last PUT
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.URL.RequestURI()
	switch data, ok := s.data[name]; {
	case r.Method == http.MethodPut:
		if _, err := fmt.Sscanf(r.URL.Path, "/up/v8/artifacts/%16x", new(uint64)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.data[name], s.last = body, r.Header
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, `{"urls": []}`)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error": {"code": "not_found", "message": "Artifact not found"}}`)
	default:
		w.Write(data)
	}
}

func newShelf(t *testing.T) (*shelf, string) {
	t.Helper()
	s := &shelf{data: make(map[string][]byte)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL + "/up"
}

// TestKit runs the conformance test of all stores with a server in this process, and with a real one.
func TestKit(t *testing.T) {
	t.Parallel()
	t.Run("here", func(t *testing.T) {
		_, address := newShelf(t)
		remotetest.RunStore(t, func(t *testing.T, o remote.Options) remote.Store { return open(t, address, "team_1", "", o) })
	})
	t.Run("turborepo-remote-cache", func(t *testing.T) {
		s := servertest.Turborepo(t, "hush")
		remotetest.RunStore(t, func(t *testing.T, o remote.Options) remote.Store { return open(t, "http://"+s.HTTP, "us", "hush", o) })
	})
}

// TestRights: a missing or wrong token is refused credentials, and the answer names a missing team.
func TestRights(t *testing.T) {
	t.Parallel()
	s := servertest.Turborepo(t, "hush")
	disk := remotetest.NewDisk(t)
	for _, c := range []struct {
		team, token, text string
		want              error
	}{{"us", "", "", remote.ErrDenied}, {"us", "guess", "", remote.ErrDenied}, {"", "hush", "'team'", nil}} {
		store := open(t, "http://"+s.HTTP, c.team, c.token, options(t))
		key := remotetest.Key()
		_, get := remotetest.Get(t.Context(), store, disk, key)
		var put error
		out := remote.Outgoing{Key: key, Record: remotetest.Result(t, disk, key, []byte("x"))}
		store.Send(t.Context(), disk, []remote.Outgoing{out}, func(s remote.Sent) { put = s.Err })
		for _, err := range []error{get, put} {
			if err == nil || errors.Is(err, remote.ErrMiss) || errors.Is(err, remote.ErrDenied) != (c.want != nil) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("team %q, token %q: %v", c.team, c.token, err)
			}
		}
		store.Close()
	}
}

// options are those of a writer who trusts himself.
func options(t *testing.T) remote.Options {
	t.Helper()
	ci := remotetest.NewSigner(t, "ci")
	return remote.Options{Place: remote.Place{Class: "class", Read: []string{"trunk"}, Write: "trunk"}, Trust: remote.Trust{Keys: []remote.PublicKey{ci.Public()}}, Signer: ci}
}

// TestRequests: what bento sends to a server, and what a server may answer.
func TestRequests(t *testing.T) {
	t.Parallel()
	s, address := newShelf(t)
	disk := remotetest.NewDisk(t)
	for team, query := range map[string]string{"": "", "a b": "?slug=a+b", "team_1": "?teamId=team_1"} {
		store := open(t, address, team, "", options(t))
		key := remotetest.Key()
		out := remote.Outgoing{Key: key, Record: remotetest.Result(t, disk, key, remotetest.Noise(9000))}
		store.Send(t.Context(), disk, []remote.Outgoing{out}, func(s remote.Sent) {
			if s.Err != nil || s.Bytes < 9000 {
				t.Errorf("%d bytes, %v", s.Bytes, s.Err)
			}
		})
		name := "/up/v8/artifacts/" + nameOf(remote.ID{Key: key, Class: "class", Scope: "trunk"}) + query
		if s.data[name] == nil || s.last.Get("X-Artifact-Duration") != "3000" || len(s.last.Get("X-Artifact-Tag")) != 88 || s.last.Get("Content-Length") == "" && s.last.Get("Content-Type") == "" {
			t.Errorf("team %q: %v", team, s.last)
		}
		store.Close()
	}
	for text, want := range map[string]string{
		`{"error": {"code": "c", "message": "m"}}`: "c|m",
		`{"message": "m", "error": "e"}`:           "|m",
		"text\nmore":                               "|text",
		`{}`:                                       "|",
	} {
		if code, message := parseRefusal([]byte(text)); code+"|"+message != want {
			t.Errorf("%s: %q, %q", text, code, message)
		}
	}
}

// TestKept: small artifacts need one request; what is kept of them has a bound, and what is not kept is asked for again.
func TestKept(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	gets := 0
	s := &shelf{data: make(map[string][]byte)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			mu.Lock()
			gets++
			mu.Unlock()
		}
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	o, disk, there := options(t), remotetest.NewDisk(t), remotetest.NewDisk(t)
	st := open(t, server.URL+"/up", "", "", o).(*store)
	defer st.Close()
	var keys []cache.Key
	var out []remote.Outgoing
	const many = 100 // of 100 kB
	for range many {
		key := remotetest.Key()
		keys = append(keys, key)
		out = append(out, remote.Outgoing{Key: key, Record: remotetest.Result(t, disk, key, remotetest.Noise(100_000))})
	}
	st.Send(t.Context(), disk, out, func(s remote.Sent) {
		if s.Err != nil {
			t.Error(s.Err)
		}
	})
	var found []*remote.Found
	st.Find(t.Context(), keys, func(a remote.Answer) {
		if a.Found != nil {
			found = append(found, a.Found)
		}
	})
	if len(found) != many || gets != many || st.bytes > maxKept || st.bytes < maxKept*9/10 {
		t.Errorf("%d found by %d requests, %d bytes kept", len(found), gets, st.bytes)
	}
	for _, f := range found {
		if err := st.Fetch(t.Context(), f, there); err != nil {
			t.Fatal(err)
		}
	}
	if kept := maxKept / 101_000; gets < 2*many-kept-10 || gets > 2*many-kept+10 || st.bytes != 0 || len(st.kept) != 0 {
		t.Errorf("%d requests, %d bytes kept", gets, st.bytes)
	}
}

// TestUnpacked: any program that reads tar and zstd finds the outputs in an artifact.
func TestUnpacked(t *testing.T) {
	t.Parallel()
	o, disk := options(t), remotetest.NewDisk(t)
	_, packed, _, r := made(t, o, disk, "trunk")
	files := make(map[string][]byte)
	in := tar.NewReader(bytes.NewReader(turboTar(t, packed)))
	for {
		h, err := in.Next()
		if err != nil {
			break
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeLink {
			data = files[h.Linkname]
		}
		files[h.Name] = data
	}
	for _, out := range r.Outputs {
		if data, ok := files[out.Path]; out.Kind == cache.File && (!ok || cache.Sum(data) != out.Digest) {
			t.Errorf("%s: %d bytes, want %d", out.Path, len(data), out.Size)
		}
	}
	if cache.Sum(files[logName]) != r.Log || files[recordName] == nil {
		t.Errorf("it has no log or no record")
	}
}

// TestTooLarge: an artifact that is too large for a server is not sent, and keeps no other from being sent.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := &shelf{data: make(map[string][]byte)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 1<<20 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	disk, store := remotetest.NewDisk(t), open(t, server.URL+"/up", "", "", options(t))
	defer store.Close()
	var out []remote.Outgoing
	for _, size := range []int{10, 3 << 20, 100_000} {
		key := remotetest.Key()
		out = append(out, remote.Outgoing{Key: key, Record: remotetest.Result(t, disk, key, remotetest.Noise(size))})
	}
	full, sent := 0, 0
	store.Send(t.Context(), disk, out, func(s remote.Sent) {
		switch {
		case errors.Is(s.Err, remote.ErrFull) && s.Key == out[1].Key:
			full++
		case s.Err == nil && s.Key != out[1].Key:
			sent++
		default:
			t.Error(s.Err)
		}
	})
	if full != 1 || sent != 2 {
		t.Errorf("%d too large, %d sent", full, sent)
	}
}
