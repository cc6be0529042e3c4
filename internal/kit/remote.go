package kit

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/bucket"
	"github.com/bentobuild/bento/cache/remote/place"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/cache/remote/share"
	"github.com/bentobuild/bento/cache/remote/transport"
	"github.com/bentobuild/bento/cache/remote/turborepo"
	"github.com/bentobuild/bento/cache/remote/web"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/tier"
	"github.com/bentobuild/bento/internal/workspace"
)

// The variables of the remote cache.
const (
	remoteEnv  = "BENTO_REMOTE"
	signKeyEnv = "BENTO_REMOTE_SIGN_KEY"
)

// The limits of a server that does not answer. Connecting has its own.
const (
	answerTime = time.Second
	idleTime   = 5 * time.Second
)

// ciWait is how long the end of a run waits for uploads in CI, where no user waits for the prompt.
const ciWait = time.Minute

// Remote is the remote cache of a workspace, as it is configured. Nothing is opened yet.
type Remote struct {
	*place.Endpoint
	Known  bool         // the user has named the server, and not only the repository
	Scopes place.Scopes // what is read and written
	Read   bool         // results are looked for
	Write  bool         // results are sent
	// Why says why nothing is looked for, and why nothing is sent; "" if something is, or if that is not wanted.
	Why struct{ Read, Write string }

	host   *workspace.Host
	root   string
	set    config.Remote
	signer *remote.Signer
	keys   []remote.PublicKey
	dated  func(time.Time) // see transport.Options
	others remote.Classes  // of results that are made in containers
}

// FindRemote returns the remote cache of a workspace, nil if none is configured. mode is what is wanted. Problems are
// those of the configuration and of the environment.
func FindRemote(h *workspace.Host, cfg *config.Workspace, mode config.CacheMode) (*Remote, []diagnostics.Diagnostic) {
	set := cfg.Cache.Remote
	named, pos := set.OwnURL, set.Pos
	if env := h.Environ.Get(remoteEnv); env != "" {
		named, pos, set.URL = env, diagnostics.Pos{}, env
	}
	if set.URL == "" {
		return nil, nil
	}
	r := &Remote{host: h, root: cfg.Root, set: set}
	problem := func(err error) []diagnostics.Diagnostic {
		d := pos.Error(diagnostics.RuleInvalid, "%s%v", map[bool]string{true: "$" + remoteEnv + ": "}[pos == diagnostics.Pos{}], err)
		if of := (*place.Error)(nil); errors.As(err, &of) {
			d.Hint = of.Hint
		}
		return []diagnostics.Diagnostic{d}
	}
	var err error
	if r.Endpoint, err = endpoint(set.URL, set.Endpoint); err != nil {
		return nil, problem(err)
	}
	if named != "" {
		own, err := endpoint(named, set.OwnEndpoint)
		r.Known = err == nil && r.Endpoint.Known(own)
	}
	if r.Scopes, err = place.ScopesOf(set.Scope, h.Environ.Get); err != nil {
		return nil, problem(err)
	}
	if set.Class != "" {
		if err = place.CheckClass(set.Class); err != nil {
			return nil, problem(err)
		}
	}
	problems := r.readKeys()
	r.Read, r.Write = mode.Remote.Read && mode.Local.Read, mode.Remote.Write && mode.Local.Write
	if r.mayRead(mode); r.Why.Read == noKeys {
		problems = append(problems, pos.Warning("remote_without_keys", "no result of the remote cache is used: %s", noKeys).
			WithHint(`bento cache keygen NAME makes a key; with remote_trust = "server" all who can write to the server are trusted`))
	}
	return r, append(problems, r.mayWrite(mode)...)
}

func endpoint(text, service string) (*place.Endpoint, error) {
	e, err := place.ParseEndpoint(text)
	if err == nil && e.Kind == place.S3 {
		err = e.SetService(service)
	}
	return e, err
}

// readKeys reads the public keys.
func (r *Remote) readKeys() (problems []diagnostics.Diagnostic) {
	for _, k := range r.set.Keys {
		key, err := remote.ParsePublicKey(k.Text)
		if err != nil {
			problems = append(problems, k.Pos.Error(diagnostics.RuleInvalid, "cache.remote_keys: %v", err))
			continue
		}
		if k.NotAfter > 0 {
			key.NotAfter = time.Unix(k.NotAfter, 0)
		}
		r.keys = append(r.keys, key)
	}
	return problems
}

// noKeys says why no result could be trusted.
const noKeys = `remote_trust is "signed", and [cache] remote_keys has no key`

// mayRead decides whether results are looked for.
func (r *Remote) mayRead(mode config.CacheMode) {
	switch {
	case !mode.Remote.Read:
	case !mode.Local.Read:
		r.Why.Read = "its results are kept in the local cache, from which nothing is taken"
	case r.set.Trust == config.TrustSigned && len(r.keys) == 0:
		r.Why.Read = noKeys
	}
	r.Read = r.Read && r.Why.Read == ""
}

// mayWrite decides whether results are sent.
func (r *Remote) mayWrite(mode config.CacheMode) (problems []diagnostics.Diagnostic) {
	value := r.host.Environ.Get(signKeyEnv)
	switch {
	case !mode.Remote.Write:
		return nil
	case !mode.Local.Write:
		r.Why.Write = "a result that is not stored in the local cache cannot be sent"
	case r.Scopes.Write == "":
		r.Why.Write = r.Scopes.Why
	case value == "" && r.set.Trust == config.TrustSigned:
		r.Why.Write = "$" + signKeyEnv + " is not set"
	case value == "" && !r.Known: // with remote_trust = "server", bento.toml alone would decide what is written where
		r.Why.Write = "only the repository names the server: name it in $" + remoteEnv + " or your own configuration, too"
	case value != "":
		var advice string
		var err error
		if r.signer, advice, err = remote.ParseSigner(value); err != nil {
			problems = append(problems, diagnostics.Pos{}.Error(diagnostics.RuleInvalid, "$%s: %v", signKeyEnv, err).WithHint("bento cache keygen NAME makes a pair of keys"))
			r.Why.Write = "$" + signKeyEnv + " is not valid"
		} else if advice != "" {
			problems = append(problems, diagnostics.Pos{}.Warning("remote_key_readable", "%s", advice))
		}
	}
	r.Write = r.Write && r.Why.Write == ""
	return problems
}

// Class returns the class of this machine.
func (r *Remote) Class() string { return cmp.Or(r.set.Class, place.Class()) }

// Trust returns whose results are used: config.TrustSigned or config.TrustServer.
func (r *Remote) Trust() string { return r.set.Trust }

// TokenEnv returns the variable with the token.
func (r *Remote) TokenEnv() string { return r.set.TokenEnv }

// Keys returns the public keys whose results are used.
func (r *Remote) Keys() []remote.PublicKey { return r.keys }

// Signer returns the name of the key that signs results, "" for none.
func (r *Remote) Signer() string {
	if r.signer == nil {
		return ""
	}
	return r.signer.Name
}

// Tier returns the connection of the workspace, nil if it is not used at all. It opens nothing.
func (r *Remote) Tier(w *workspace.Workspace) *tier.Tier {
	disk := cache.DiskOf(w.Store)
	if disk == nil || !r.Read && !r.Write {
		return nil
	}
	wait := r.set.Wait
	if _, ci := r.host.Environ.Lookup("CI"); wait == 0 && ci {
		wait = ciWait
	}
	return tier.New(tier.Options{Open: r.Open, Contain: r.contain, Disk: disk, State: w.State, Read: r.Read, Write: r.Write, Wait: wait})
}

// contain notes that the result of a key belongs to the class of an image.
func (r *Remote) contain(k cache.Key, image [32]byte) {
	r.others.Set(k, place.Contained(r.set.Class, image))
}

// Open opens the store.
func (r *Remote) Open() (remote.Store, error) {
	o := remote.Options{
		Place:  remote.Place{Class: r.Class(), Read: r.Scopes.Read, Write: r.Scopes.Write, Others: &r.others},
		Trust:  remote.Trust{Server: r.set.Trust == config.TrustServer, Keys: r.keys},
		Signer: r.signer, Secrets: remote.SecretsOf(r.host.Environ), Limits: remote.Limits{Answer: answerTime, Idle: idleTime},
	}
	if r.Kind == place.Turborepo {
		return r.turborepo(o)
	}
	b, err := r.backend()
	if err != nil {
		return nil, err
	}
	return remote.OverBackend(b, o), nil
}

// backend returns the server.
func (r *Remote) backend() (remote.Backend, error) {
	secure := ""
	if r.TLS {
		secure = "s"
	}
	switch r.Kind {
	case place.Directory:
		return share.Open(r.Path), nil
	case place.REAPI:
		o, err := r.way("grpc" + secure)
		if err != nil {
			return nil, err
		}
		host, _ := os.Hostname() // "" will do
		return reapi.Open(reapi.Options{Transport: o, Sender: host + ":" + r.root, First: answerTime, Idle: idleTime})
	case place.HTTP:
		o, err := r.way("http" + secure)
		if err != nil {
			return nil, err
		}
		return web.Open(o)
	case place.S3:
		return bucket.Open(r.bucket())
	}
	return nil, fmt.Errorf("%s: %w", r.Endpoint, errors.ErrUnsupported)
}

// turborepo returns the store on a server that keeps whole results.
func (r *Remote) turborepo(o remote.Options) (remote.Store, error) {
	secure := ""
	if r.TLS {
		secure = "s"
	}
	way, err := r.way("http" + secure)
	if err != nil {
		return nil, err
	}
	return turborepo.Open(turborepo.Options{Options: o, Way: way, Team: r.Team})
}

// bucket returns the options of a bucket. The machine is asked for credentials only if the user says that it has some.
func (r *Remote) bucket() bucket.Options {
	env := r.host.Environ.Get
	return bucket.Options{
		Options: transport.Options{
			Address: &url.URL{Scheme: "s3", Host: r.Bucket, Path: "/" + r.Path}, Trusted: r.Known, Dated: r.dated,
			CA: r.file(r.set.TLS.CA), Certificate: r.file(r.set.TLS.Cert), Key: r.file(r.set.TLS.Key),
		},
		Region: r.set.Region, Endpoint: r.Service, Lookup: env, Metadata: strings.EqualFold(env("AWS_EC2_METADATA_DISABLED"), "false"),
	}
}

// way returns the way to a server that speaks HTTP.
func (r *Remote) way(scheme string) (transport.Options, error) {
	o := transport.Options{
		Address: &url.URL{Scheme: scheme, Host: r.Host, Path: "/" + r.Path}, Trusted: r.Known, Header: make(http.Header), Dated: r.dated,
		CA: r.file(r.set.TLS.CA), Certificate: r.file(r.set.TLS.Cert), Key: r.file(r.set.TLS.Key),
	}
	for name, value := range r.set.Headers {
		if variable, secret := strings.CutPrefix(value, "$"); secret {
			if value = r.host.Environ.Get(variable); value == "" || !r.Known {
				continue
			}
		}
		o.Header.Set(name, value)
	}
	o.Credentials.Token = r.host.Environ.Get(r.set.TokenEnv)
	if r.set.CredentialHelper == "" || !r.Known {
		return o, nil
	}
	helper, err := r.program(r.set.CredentialHelper)
	o.Credentials.Helper, o.Credentials.Env, o.Credentials.Dir = []string{helper}, r.host.Environ, r.root
	return o, err
}

// file returns the absolute path of a file that the configuration names, "" for none.
func (r *Remote) file(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.root, name)
}

// program returns the absolute path of a program, which is searched on PATH unless its name has a slash.
func (r *Remote) program(name string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return r.file(name), nil
	}
	for _, dir := range filepath.SplitList(r.host.Environ.Get("PATH")) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", fmt.Errorf("the credential helper %q is not on PATH", name)
}
