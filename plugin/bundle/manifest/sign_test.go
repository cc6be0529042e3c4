package manifest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"testing"
)

// TestCanonical: the signed bytes are those of the contract, which the test has as text.
func TestCanonical(t *testing.T) {
	t.Parallel()
	m, err := ReadModule(ModuleFile, []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	m.Description, m.HasDescription = "a \"b\" \\ <&> \u2028 \x01\n\t\b\f\r é", true
	want := `{"allowed_host_calls":["az_log","az_read_file","az_env_get","other"],` +
		`"capabilities":["host:az_read_file","az::az_http_get","wasi:filesystem/read","other"],` +
		`"dependencies":[{"id":"acme-base","version_req":"^1"}],` +
		`"description":"a \"b\" \\ <&> ` + "\u2028" + ` \u0001\n\t\b\f\r é",` +
		`"entrypoint":"az_tool_execute","hooks":[],"id":"acme-fmt","max_runtime_api":2,"min_runtime_api":1,` +
		`"version":"1.2.0","wasm_file":"fmt.wasm","wasm_sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`
	if got := string(m.Canonical()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid(m.Canonical()) {
		t.Error("no JSON")
	}
	m.HasDescription = false
	if !bytes.Contains(m.Canonical(), []byte(`"description":null`)) {
		t.Errorf("no description: %s", m.Canonical())
	}
}

func TestSignature(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	public := key.Public().(ed25519.PublicKey)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32)).Public().(ed25519.PublicKey)
	m, _ := ReadModule(ModuleFile, []byte(good))
	check := func(what, want string, keys Keys) {
		t.Helper()
		if got := m.CheckSignature(keys); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("before", Unsigned, Keys{"acme": public})
	m.Sign("acme", key)
	check("signed", Signed, Keys{"acme": public})
	check("without keys", Untrusted, nil)
	check("with another key of that name", Forged, Keys{"acme": other})
	m.Capabilities = append(m.Capabilities, "host:az_http_get")
	check("with one more capability", Forged, Keys{"acme": public})
}
