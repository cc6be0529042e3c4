package oneshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bentobuild/bento/adapters"
)

// seeds are lines of tools, good and bad.
func seeds() []string {
	return []string{
		`{"type":"handshake","manifest":{"plugin_id":"acme.fmt","plugin_version":"1","protocol_version":"rterm.plugin.v1","exposed_tools":["fmt.check"],"capabilities":["fs.read"]}}`,
		`{"type":"handshake","manifest":{}}`, `{"type":"handshake","manifest":[]}`, `{"manifest":{"plugin_id":5}}`, `{"TYPE":"handshake","type":null}`,
		`{"type":"response","request_id":"plugin_req_1","status":"ok","output":{"changed":0}}`,
		`{"type":"response","request_id":"plugin_req_1","status":"error","error":{"code":"invalid_input","message":"m"}}`,
		`{"type":"response","request_id":"plugin_req_1","status":"ok","error":{}}`, `{"a":1}{"b":2}`, `[1]`, `{"a":1,"a":2}`, "\ufeff{}", "{\"a\":\"\xff\"}", "{}\x00", `{"a":"\u0000"}`,
		"", " ", "\r", `{"output":1e999}`, `{"status":"ok","status":"error"}`,
	}
}

// FuzzLines: any output of a tool, in any pieces, has at most two lines. Each is a bounded object in
// UTF-8, every byte is counted once, and the pieces make no difference.
func FuzzLines(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s+"\n"+s), false)
		f.Add([]byte(s+"\r\n\n"+s+"\nmore"), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, pieces bool) {
		all := received(t, bytes.NewReader(data))
		var again io.Reader = iotest.HalfReader(bytes.NewReader(data))
		if pieces {
			again = iotest.OneByteReader(bytes.NewReader(data))
		}
		if got := received(t, again); !slices.EqualFunc(got, all, sameLine) {
			t.Errorf("in pieces %v, at once %v", got, all)
		}
	})
}

func sameLine(a, b line) bool {
	return bytes.Equal(a.text, b.text) && (a.err == nil) == (b.err == nil) && (a.err == nil || a.err.Error() == b.err.Error())
}

// received returns the lines of a stream.
func received(t *testing.T, stream io.Reader) (all []line) {
	counted := &counter{r: stream}
	in := newReceiver()
	in.read(counted, func(bool, []byte) {})
	close(in.came)
	for l := range in.came {
		all = append(all, l)
		var bad *badLine
		switch {
		case l.err == nil && (len(l.text) == 0 || len(l.text) > maxLine || l.text[0] != '{' || bytes.ContainsAny(l.text, "\n\x00")):
			t.Errorf("accepted %q", l.text)
		case l.err != nil && !errors.As(l.err, &bad) && l.err != io.EOF:
			t.Errorf("error %v", l.err)
		}
	}
	if len(all) == 0 || len(all) > lines+1 || all[len(all)-1].err != io.EOF {
		t.Errorf("%d lines: %v", len(all), all)
	}
	if n := in.received.Load() + in.trailing.Load(); n != counted.n {
		t.Errorf("%d bytes are counted, %d were written", n, counted.n)
	}
	return all
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// FuzzHandshake: only a manifest that fits the options is accepted. Each refusal has one of the codes of a
// handshake.
func FuzzHandshake(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, "fs.read")
		f.Add(s, "")
	}
	codes := []adapters.Code{
		adapters.MalformedResponse, adapters.HandshakeFailed, adapters.ProtocolVersionMismatch,
		adapters.ToolNotExposed, adapters.CapabilityNotDeclared, adapters.CapabilityNotAllowed,
	}
	f.Fuzz(func(t *testing.T, text, granted string) {
		o := Options{ID: "acme.fmt", Protocol: Protocol}
		if strings.TrimSpace(granted) == granted && granted != "" {
			o.Capabilities = []string{granted}
		}
		m, refused := o.readHandshake([]byte(text), "fmt.check")
		if refused != nil {
			if !slices.Contains(codes, refused.code) || refused.what == "" || strings.Contains(refused.what, "json: ") {
				t.Errorf("%q: %q", refused.code, refused.what)
			}
			return
		}
		if !json.Valid([]byte(text)) || m.ID != "acme.fmt" || strings.TrimSpace(m.Version) == "" || !slices.Contains(m.Functions, "fmt.check") {
			t.Errorf("accepted %q", text)
		}
		if slices.ContainsFunc(m.Capabilities, func(c string) bool { return c != granted }) || len(m.Capabilities) != len(o.Capabilities) {
			t.Errorf("accepted the capabilities %q of %q", m.Capabilities, o.Capabilities)
		}
	})
}

// FuzzResponse: an accepted response belongs to the request, and has either an output or an error.
func FuzzResponse(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, refused := readResponse([]byte(text), "plugin_req_1")
		switch {
		case refused != nil:
			if refused.code != adapters.MalformedResponse || refused.what == "" || strings.Contains(refused.what, "json: ") {
				t.Errorf("%q: %q", refused.code, refused.what)
			}
		case !strings.Contains(text, "request_id") && !json.Valid([]byte(text)):
			t.Errorf("accepted %q", text)
		case a.err == nil && (!json.Valid(a.output) || string(a.output) == "null"),
			a.err != nil && strings.TrimSpace(a.err.message) == "" && len(a.output) > 0:
			t.Errorf("%q: %+v", text, a)
		}
	})
}
