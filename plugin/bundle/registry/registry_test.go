package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	oci "github.com/google/go-containerregistry/pkg/registry"
)

// serve starts a registry on this machine. The function wrap may change its answers.
func serve(t *testing.T, wrap func(http.Handler) http.Handler) reference {
	t.Helper()
	handler := oci.New(oci.Logger(log.New(io.Discard, "", 0)))
	if wrap != nil {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return reference{Host: strings.TrimPrefix(server.URL, "http://"), Repo: "plugins/a"}
}

func (r reference) at(tag string) reference {
	r.Tag = tag
	return r
}

func TestPushAndPull(t *testing.T) {
	t.Parallel()
	r, c, ctx := serve(t, nil), &client{HTTP: http.DefaultClient}, context.Background()
	if _, err := c.Manifest(ctx, r.at("1.0.0")); !errors.Is(err, errNotFound) {
		t.Errorf("a missing artifact: %v", err)
	}
	blobs := []blob{{"application/x-one", []byte("one"), "one.tar"}, {"application/x-two", []byte("two"), ""}}
	digest, err := c.Push(ctx, r.at("1.0.0"), "application/x-a", blobs)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Push(ctx, r.at("1.1.0"), "application/x-a", blobs)
	if err != nil || again != digest {
		t.Errorf("the same blobs again: %s %v, want %s", again, err, digest)
	}
	tags, err := c.Tags(ctx, r)
	if err != nil || fmt.Sprint(tags) != "[1.0.0 1.1.0]" {
		t.Errorf("tags: %v %v", tags, err)
	}
	r.Digest = digest
	m, err := c.Manifest(ctx, r)
	if err != nil || m.Digest != digest || len(m.Layers) != 2 || m.Layers[0].Annotations["org.opencontainers.image.title"] != "one.tar" {
		t.Fatalf("the manifest: %+v %v", m, err)
	}
	data, err := c.Blob(ctx, r, m.Layers[1], 100)
	if err != nil || string(data) != "two" {
		t.Errorf("the blob: %q %v", data, err)
	}
	if _, err := c.Blob(ctx, r, m.Layers[1], 2); err == nil || !strings.Contains(err.Error(), "expected at most 2") {
		t.Errorf("a large blob: %v", err)
	}
}

// TestHostileRegistry: the client refuses a registry that answers with wrong bytes.
func TestHostileRegistry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		answer     func(w http.ResponseWriter, r *http.Request) bool // reports whether it has answered
	}{
		{"another blob", "expected sha256:", func(w http.ResponseWriter, r *http.Request) bool {
			return answerIf(w, strings.Contains(r.URL.Path, "/blobs/"), "onf")
		}},
		{"a longer blob", "more than 3 bytes", func(w http.ResponseWriter, r *http.Request) bool {
			return answerIf(w, strings.Contains(r.URL.Path, "/blobs/"), "one and more")
		}},
		{"a shorter blob", "has 1 bytes, expected 3", func(w http.ResponseWriter, r *http.Request) bool {
			return answerIf(w, strings.Contains(r.URL.Path, "/blobs/"), "o")
		}},
		{"another manifest", "the manifest has the digest", func(w http.ResponseWriter, r *http.Request) bool {
			return answerIf(w, strings.Contains(r.URL.Path, "/manifests/sha256:"), "{}")
		}},
		{"no manifest", "is no JSON", func(w http.ResponseWriter, r *http.Request) bool {
			return answerIf(w, strings.Contains(r.URL.Path, "/manifests/"), "<html>")
		}},
		{"a path for a digest", "expected sha256 and a size", func(w http.ResponseWriter, r *http.Request) bool {
			return answerIf(w, strings.Contains(r.URL.Path, "/manifests/"), `{"layers": [{"digest": "sha256:../../x", "size": 1}]}`)
		}},
		{"an endless manifest", "more than 4194304 bytes", func(w http.ResponseWriter, r *http.Request) bool {
			return answerIf(w, strings.Contains(r.URL.Path, "/manifests/"), strings.Repeat(" ", maxManifest+1))
		}},
		{"an error", `"DENIED not you"`, func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return answerIf(w, true, `{"errors": [{"code": "DENIED", "message": "not you"}]}`)
		}},
		{"a login", "docker login", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}},
		{"a token in the clear", "expected an address with https", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://registry.invalid/token"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}},
	} {
		armed := false
		r := serve(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !armed || !c.answer(w, r) {
					next.ServeHTTP(w, r)
				}
			})
		}).at("1")
		client, ctx := &client{HTTP: http.DefaultClient}, context.Background()
		digest, err := client.Push(ctx, r, "application/x-a", []blob{{"application/x-one", []byte("one"), ""}})
		if err != nil {
			t.Fatal(err)
		}
		if armed = true; c.name == "another manifest" {
			r.Digest = digest
		}
		m, err := client.Manifest(ctx, r)
		if err == nil {
			_, err = client.Blob(ctx, r, m.Layers[0], 100)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func answerIf(w http.ResponseWriter, yes bool, body string) bool {
	if yes {
		_, _ = io.WriteString(w, body)
	}
	return yes
}

// TestToken: the client fetches one token for an action and sends it again. It sends the login only to the
// host that issues tokens.
func TestToken(t *testing.T) {
	t.Parallel()
	tokens, address := 0, ""
	r := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch authorization := r.Header.Get("Authorization"); {
			case r.URL.Path == "/token":
				if name, password, ok := r.BasicAuth(); !ok || name != "me" || password != "secret" {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				tokens++
				_, _ = fmt.Fprintf(w, `{"token": %q}`, r.URL.Query().Get("service")+" "+r.URL.Query().Get("scope"))
			case !strings.HasPrefix(authorization, "Bearer here repository:plugins/a:pull"):
				w.Header().Set("WWW-Authenticate", `Bearer realm="`+address+`/token",service="here"`)
				w.WriteHeader(http.StatusUnauthorized)
			default:
				next.ServeHTTP(w, r)
			}
		})
	})
	address = "http://" + r.Host
	c := &client{HTTP: http.DefaultClient, Login: func(host string) (string, string) {
		if host != r.Host {
			return "", ""
		}
		return "me", "secret"
	}}
	if _, err := c.Push(context.Background(), r.at("1"), "x", []blob{{"y", []byte("z"), ""}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Manifest(context.Background(), r.at("1")); err != nil {
		t.Fatal(err)
	}
	if tokens != 2 { // one for the push, one for the read
		t.Errorf("%d tokens, want 2", tokens)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	r := serve(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch last := r.URL.Query().Get("last"); last {
			case "":
				w.Header().Set("Link", `</v2/plugins/a/tags/list?last=1>; rel="next"`)
				_, _ = io.WriteString(w, `{"tags": ["1"]}`)
			default:
				w.Header().Set("Link", `<http://elsewhere.invalid/v2/>; rel="next"`)
				_, _ = io.WriteString(w, `{"tags": ["2"]}`)
			}
		})
	})
	_, err := (&client{HTTP: http.DefaultClient}).Tags(context.Background(), r)
	if err == nil || !strings.Contains(err.Error(), `names the address "http://elsewhere.invalid/v2/"`) {
		t.Errorf("a page elsewhere: %v", err)
	}
}

func TestParseReference(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"r.example.com/a/b":         "https://r.example.com/v2/a/b",
		"localhost:5000/a:1.0":      "http://localhost:5000/v2/a",
		"[::1]:5000/a":              "http://[::1]:5000/v2/a",
		"r.example.com/a@" + digest: "https://r.example.com/v2/a",
		"a":                         "its host is not valid",
		"r.example.com/A":           "its name is not valid",
		"r.example.com/../a":        "its name is not valid",
		"r.example.com/a:-":         "its tag is not valid",
		"r.example.com/a@sha256:1":  "its digest is not valid",
		"u:p@r.example.com/a":       "its host is not valid",
		"r.example.com:x/a":         "its host is not valid",
	} {
		r, err := parseReference(text)
		got := r.base()
		if err != nil {
			got = err.Error()
		} else if r.String() != text {
			t.Errorf("%q is written as %q", text, r)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
