package servertest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestServers: a server answers as soon as it is returned, keeps what it has over a restart, and leaves no process.
func TestServers(t *testing.T) {
	t.Parallel()
	s := BazelRemote(t)
	const at = "/cas/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+s.HTTP+at, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("put: %v, %v", res, err)
	}
	res.Body.Close()

	s.Stop()
	if res, err := http.Get("http://" + s.HTTP + at); err == nil {
		t.Fatalf("the stopped server answers %s", res.Status)
	}
	s.Start(t)
	if res, err = http.Get("http://" + s.HTTP + at); err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); string(got) != "hello" || err != nil {
		t.Errorf("after a restart: %q, %v", got, err)
	}
}

func TestCasd(t *testing.T) {
	t.Parallel()
	if s := Casd(t); s.GRPC == "" || s.HTTP != "" {
		t.Errorf("addresses %q and %q", s.GRPC, s.HTTP)
	}
}
