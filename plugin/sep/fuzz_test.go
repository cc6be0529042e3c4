package sep

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/bentobuild/bento/plugin/sep/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

// scripted is an extension's side of a connection that sends the bytes of a fuzzer.
type scripted struct {
	io.Reader
	out bytes.Buffer
}

func (s *scripted) Close() error { return nil }

func (s *scripted) Write(p []byte) (int, error) { return s.out.Write(p) }

// conversation sends bytes to an initialized session, and returns the output of the host.
func conversation(t *testing.T, data []byte, token string) (*session, string) {
	m, err := manifest.Parse("manifest.json", []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	m.Permissions = m.Permissions[3:]
	x := &Extension{o: (Options{Manifest: m}).withDefaults(), api: APIVersion, methods: methods(), terms: Settle(m, nil), events: newEvents()}
	s, life := newSession(t.Context(), x, token)
	s.ready, s.version = true, version{1, 0, 0}
	w := &scripted{Reader: bytes.NewReader(data)}
	p := wire.NewPeer(wire.NewConn(w, w, s.limits()), s.hooks(life))
	<-p.Done()
	s.work.Wait() // before the writer ends
	p.Close()
	s.end()
	return s, w.out.String()
}

// FuzzEnvelope: to any body the host answers only with frames of valid responses, whose errors have a code
// of the contract.
func FuzzEnvelope(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"host.get_capabilities"}`,
		`{"jsonrpc":"2.0","id":"a","method":"host.messages.list","params":{"limit":3}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"host.ui.register_tool_panel","params":{"id":"p","title":"P","slot":"tools.page.primary"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, `[]`, `{]`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var frame bytes.Buffer
		c := wire.NewConn(io.NopCloser(strings.NewReader("")), nopCloser{&frame}, wire.Limits{})
		if c.Send(body) != nil {
			return
		}
		_, out := conversation(t, frame.Bytes(), "")
		checkOutput(t, out)
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// FuzzStream is FuzzEnvelope for any bytes. With a token that the bytes do not know, they are not
// authenticated.
func FuzzStream(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"), true)
	f.Add([]byte("Content-Length: 67\r\n\r\n"+`{"jsonrpc":"2.0","method":"sep.hello","params":{"token":"guessed!"}}`), true)
	f.Add([]byte("Content-Length: 99999999\r\n\r\n{"), false)
	f.Fuzz(func(t *testing.T, data []byte, inherited bool) {
		token := "0123456789"
		if inherited {
			token = ""
		}
		s, out := conversation(t, data, token)
		checkOutput(t, out)
		if token != "" && s.authenticated {
			t.Fatal("a guess was let in")
		}
	})
}

func checkOutput(t *testing.T, out string) {
	conn := wire.NewConn(io.NopCloser(strings.NewReader(out)), nopCloser{io.Discard}, wire.Limits{})
	for {
		body, err := conn.Recv()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("the host wrote %q: %v", out, err)
		}
		m, err := wire.ParseMessage(body, maxDepth)
		if err != nil || m.Kind != wire.Response {
			t.Fatalf("the host wrote %q: %v %s", body, err, m.Why)
		}
		if m.Error == nil {
			continue
		}
		if reason := reasonOf(m.Error); reason == "" || codeOf(reason) != m.Error.Code || reason == internal {
			t.Fatalf("the host wrote the error %s", body)
		}
	}
}

// FuzzGreeting: an accepted answer to sep.initialize never has a version above that of bento or of the
// manifest.
func FuzzGreeting(f *testing.F) {
	f.Add([]byte(welcome), "1.0.0")
	f.Add([]byte(`{"extensionId":"acme.lint","version":"0.2.0","apiVersion":"1.7.0"}`), "1.9.0")
	f.Fuzz(func(t *testing.T, result []byte, declared string) {
		if !json.Valid(result) {
			return
		}
		m, err := manifest.Parse("manifest.json", []byte(minimal))
		if err != nil {
			t.Fatal(err)
		}
		m.APIVersion = declared
		x := &Extension{o: Options{Manifest: m}, api: "1.5.0"}
		v, _, _, err := x.accepts(wire.Answer{Result: result})
		most, _ := parseVersion(declared)
		if err == nil && (v[0] != 1 || !v.atMost(version{1, 5, 0}) || !v.atMost(most)) {
			t.Fatalf("%s with the manifest's %s was accepted", result, declared)
		}
	})
}
