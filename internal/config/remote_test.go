package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/diagnostics"
)

const aKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// The user's own file goes before bento.toml, key by key.
func TestRemote(t *testing.T) {
	root := write(t, map[string]string{
		"bento.toml": `[cache]
remote = "grpcs://cache.example:443/main"
remote_trust = "server"
remote_keys = ["ci:` + aKey + `", { key = "old:` + aKey + `", not_after = 2027-01-01 }]
remote_headers = { "x-team" = "a" }
remote_tls = { ca = "ca.pem" }
remote_class = "here"
remote_wait = "5s"
`,
		"own.toml": "[cache]\nremote = \"grpcs://cache.example\"\nremote_token_env = \"MINE\"\nremote_tls = { cert = \"mine.pem\" }\nmode = \"remote:rw\"\n",
	})
	w, problems := Load(root, root+"/own.toml")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := Remote{
		URL: "grpcs://cache.example", OwnURL: "grpcs://cache.example", Trust: TrustServer, TokenEnv: "MINE",
		Keys:    []PublicKey{{Text: "ci:" + aKey}, {Text: "old:" + aKey, NotAfter: time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC).Unix()}},
		Headers: map[string]string{"x-team": "a"}, TLS: RemoteTLS{CA: "ca.pem", Cert: "mine.pem"}, Class: "here", Wait: 5 * time.Second,
	}
	if diff := cmp.Diff(want, w.Cache.Remote, cmpopts.IgnoreTypes(diagnostics.Pos{})); diff != "" {
		t.Error(diff)
	}
	if all := (tierAccess{Read: true, Write: true}); w.Cache.Mode != (CacheMode{Local: all, Remote: all}) {
		t.Errorf("mode %+v", w.Cache.Mode)
	}
}

func TestRemoteRefuses(t *testing.T) {
	for line, want := range map[string]string{
		`remote = "bento://host"`:                     `3:10: cache.remote: "bento://host" has a scheme that bento does not know (write one of grpc://HOST,`,
		`remote = "cache.example"`:                    `has no scheme`,
		`remote = "grpc://"`:                          `names no host`,
		`remote = "file://dir"`:                       `names no directory of this machine`,
		`remote = "https://me:secret@cache.example"`:  `has credentials in it`,
		`remote = "https://a\nb"`:                     `is no URL`,
		`remote_keys = ["ci"]`:                        `cache.remote_keys[0] is no public key`,
		`remote_keys = ["` + aKey + `"]`:              `is no public key`,
		`remote_keys = [{ key = "ci:AAAA" }]`:         `is no public key`,
		`remote_keys = [{ not_after = 2027-01-01 }]`:  `is no public key`,
		`remote_trust = "all"`:                        `"all" is not valid, expected "signed" or "server"`,
		`remote_token_env = "A=B"`:                    `is no name of a variable`,
		`remote_keys = [{ key = 1, not_after = "x"}]`: `expected a date such as 2027-01-01`,
	} {
		root := write(t, map[string]string{"bento.toml": "\n[cache]\n" + line + "\n"})
		_, problems := Load(root, "")
		if text := strings.Join(texts(problems), "\n"); !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %q", line, text, want)
		}
	}
}
