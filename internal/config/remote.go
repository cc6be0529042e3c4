package config

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Remote is the remote cache of a workspace: what bento.toml says, under what the user's own file says.
type Remote struct {
	URL    string          // "" for none
	Pos    diagnostics.Pos // of the URL
	OwnURL string          // of the user's own file, "" if it has none
	// OwnEndpoint is Endpoint of the user's own file: a bucket that the user has named is not known at a service of the repository.
	OwnEndpoint string
	Trust       string // TrustSigned or TrustServer
	Keys        []PublicKey
	// TokenEnv is the variable with the token.
	TokenEnv         string
	Headers          map[string]string
	CredentialHelper string
	TLS              RemoteTLS
	Region, Endpoint string        // of a bucket
	Scope, Class     string        // "" if not given
	Wait             time.Duration // 0 if not given
}

// PublicKey is a key of signatures of results.
type PublicKey struct {
	Text     string // NAME:BASE64
	NotAfter int64  // the first second since 1970 at which it is no longer trusted, 0 for none
	Pos      diagnostics.Pos
}

// RemoteTLS are the files of a server's certificate authority and of the client's certificate, as they are written.
type RemoteTLS struct{ CA, Cert, Key string }

// Whose results are trusted.
const (
	TrustSigned = "signed" // those with a signature of one of the keys
	TrustServer = "server" // all that the server has
)

// defaultTokenEnv is the variable with the token unless another is named.
const defaultTokenEnv = "BENTO_CACHE_TOKEN"

// remoteForms are the forms of the URL of a remote cache, by scheme.
var remoteForms = [...]string{
	"grpc://HOST", "grpcs://HOST", "http://HOST", "https://HOST", "turborepo+http://HOST", "turborepo+https://HOST", "s3://BUCKET", "file:///DIR",
}

// CheckRemote returns why a text is no URL of a remote cache, and a hint; "" if it is one.
func CheckRemote(text string) (why, hint string) {
	hint = "write one of " + strings.Join(remoteForms[:], ", ")
	u, err := url.Parse(text)
	if err != nil {
		return "is no URL", hint
	}
	known := slices.ContainsFunc(remoteForms[:], func(form string) bool { return strings.HasPrefix(form, u.Scheme+"://") })
	switch {
	case u.Scheme == "":
		return "has no scheme", hint
	case !known:
		return "has a scheme that bento does not know", hint
	case u.Scheme == "file" && (u.Host != "" || u.Path == ""):
		return "names no directory of this machine", "write file:///DIR, with three slashes"
	case u.Scheme != "file" && u.Host == "":
		return "names no host", hint
	case u.User != nil:
		return "has credentials in it", "leave them out: see remote_token_env, remote_credential_helper"
	}
	return "", ""
}

// remoteURL is the URL of a remote cache.
type remoteURL struct{ At tomlfile.At[string] }

// Shape returns the schema.
func (*remoteURL) Shape() tomlfile.Schema {
	schemes := make([]string, len(remoteForms))
	for i, form := range remoteForms {
		scheme, _, _ := strings.Cut(form, ":")
		schemes[i] = strings.ReplaceAll(scheme, "+", `\+`)
	}
	return tomlfile.Schema{"type": "string", "pattern": "^(" + strings.Join(schemes, "|") + ")://"}
}

// UnmarshalTOML reads and checks the URL.
func (u *remoteURL) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if problems := v.Decode(&u.At); len(problems) > 0 {
		return problems
	}
	if why, hint := CheckRemote(u.At.Value); why != "" {
		u.At = tomlfile.At[string]{}
		text, _ := v.Text()
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "%s: %q %s", v.Path(), text, why).WithHint(hint)}
	}
	return nil
}

// publicKey is NAME:BASE64, or a table.
type publicKey publicKeyTable

type publicKeyTable struct {
	Key      tomlfile.At[string] `toml:"key" doc:"the key, NAME:BASE64"`
	NotAfter endDate             `toml:"not_after" doc:"the last day of the key, in UTC; results that it signed are no longer used after it"`
}

// Shape returns the schema.
func (*publicKey) Shape() tomlfile.Schema {
	table := tomlfile.SchemaOf(publicKeyTable{})
	table["required"] = []string{"key"}
	return tomlfile.Schema{"anyOf": []any{tomlfile.Schema{"type": "string"}, table}}
}

// UnmarshalTOML reads and checks the key.
func (k *publicKey) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	const want = `a key such as "ci:BASE64", or { key = "ci:BASE64", not_after = 2027-01-01 }`
	switch v.Kind() {
	case tomlfile.String:
		problems = v.Decode(&k.Key)
	case tomlfile.Table:
		problems = v.Decode((*publicKeyTable)(k))
	default:
		return []diagnostics.Diagnostic{v.Expected(want)}
	}
	name, encoded, _ := strings.Cut(k.Key.Value, ":")
	if raw, err := base64.StdEncoding.DecodeString(encoded); len(problems) == 0 && (err != nil || len(raw) != 32 || name == "" || strings.ContainsFunc(name, control)) {
		problems = append(problems, v.Pos().Error(diagnostics.RuleInvalid, "%s is no public key, expected %s", v.Path(), want).
			WithHint("bento cache keygen NAME prints one"))
	}
	if len(problems) > 0 {
		k.Key.Value = "" // so that no later check reports it again
	}
	return problems
}

// endDate is the end of a day, in seconds since 1970.
type endDate int64

// Shape returns the schema.
func (*endDate) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
}

// UnmarshalTOML reads a date of TOML, or one in a string.
func (d *endDate) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	day, ok := v.Any().(time.Time)
	if text, isText := v.Text(); isText {
		var err error
		day, err = time.Parse(time.DateOnly, text)
		ok = err == nil
	}
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a date such as 2027-01-01")}
	}
	*d = endDate(time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, time.UTC).Unix())
	return nil
}

// remoteTLSTable is the schema of remote_tls.
type remoteTLSTable struct {
	CA   string `toml:"ca" doc:"a file of certificates, PEM: the authorities that may vouch for the server, in place of those of the system"`
	Cert string `toml:"cert" doc:"the file of the client's certificate, PEM"`
	Key  string `toml:"key" doc:"the file of its private key, PEM"`
}

// trustWords are the values of remote_trust.
type trustWords struct{}

func (trustWords) words() []string { return []string{TrustSigned, TrustServer} }

// overRemote overrides r by the values of the table.
func (t *cacheTable) overRemote(r *Remote) {
	if t.Remote.At.Given {
		r.URL, r.Pos = t.Remote.At.Value, t.Remote.At.Pos
	}
	if t.RemoteKeys != nil {
		r.Keys = nil
	}
	for _, k := range t.RemoteKeys {
		if k.Key.Value == "" {
			continue
		}
		r.Keys = append(r.Keys, PublicKey{Text: k.Key.Value, NotAfter: int64(k.NotAfter), Pos: k.Key.Pos})
	}
	if t.RemoteHeaders != nil {
		r.Headers = maps.Clone(t.RemoteHeaders)
	}
	r.Trust = cmp.Or(t.RemoteTrust.At.Value, r.Trust)
	r.TokenEnv = cmp.Or(string(t.RemoteTokenEnv), r.TokenEnv)
	r.CredentialHelper = cmp.Or(t.RemoteCredentialHelper, r.CredentialHelper)
	r.TLS.CA, r.TLS.Cert, r.TLS.Key = cmp.Or(t.RemoteTLS.CA, r.TLS.CA), cmp.Or(t.RemoteTLS.Cert, r.TLS.Cert), cmp.Or(t.RemoteTLS.Key, r.TLS.Key)
	r.Region, r.Endpoint = cmp.Or(t.RemoteRegion, r.Region), cmp.Or(t.RemoteEndpoint, r.Endpoint)
	r.Scope, r.Class = cmp.Or(t.RemoteScope, r.Scope), cmp.Or(t.RemoteClass, r.Class)
	r.Wait = cmp.Or(time.Duration(t.RemoteWait), r.Wait)
}

// defaultCache returns the table without a configured one.
func defaultCache() cache { return cache{Mode: defaultCacheMode(), Remote: defaultRemote()} }

// defaultRemote returns the settings without a configured remote cache.
func defaultRemote() Remote { return Remote{Trust: TrustSigned, TokenEnv: defaultTokenEnv} }
