package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// provider gets credentials. There is none if it and the error are nil.
type provider func(ctx context.Context) (keys, error)

// early is how long before their end credentials are replaced.
const early = 5 * time.Minute

// keysTime is how long a request waits for credentials.
const keysTime = 10 * time.Second

// chain returns the first source of credentials that the user has set up, as AWS's own clients do: the environment, a
// web identity, the profile, the container, and if o.Metadata is set the machine. nil is none.
func (o *Options) chain(p profile) (provider, error) {
	env := environment(o.Lookup)
	k := keys{ID: env("AWS_ACCESS_KEY_ID"), Secret: env("AWS_SECRET_ACCESS_KEY"), Session: env("AWS_SESSION_TOKEN")}
	mine := keys{ID: p["aws_access_key_id"], Secret: p["aws_secret_access_key"], Session: p["aws_session_token"]}
	region := cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION"), p["region"], o.Region)
	switch {
	case k.ID != "" && k.Secret != "":
		return fixed(k)
	case env("AWS_WEB_IDENTITY_TOKEN_FILE") != "" && env("AWS_ROLE_ARN") != "":
		return o.webIdentity(role{env("AWS_ROLE_ARN"), env("AWS_ROLE_SESSION_NAME"), env("AWS_WEB_IDENTITY_TOKEN_FILE"), region})
	case p["role_arn"] != "" && p["web_identity_token_file"] != "":
		return o.webIdentity(role{p["role_arn"], p["role_session_name"], p["web_identity_token_file"], region})
	case mine.ID != "" && mine.Secret != "" && p["role_arn"] == "":
		return fixed(mine)
	case p["role_arn"] != "" || p["sso_session"] != "" || p["sso_start_url"] != "" || p["credential_process"] != "" || p["login_session"] != "":
		return nil, errors.New(`bento cannot use the kind of credentials of the AWS profile; set them by: eval "$(aws configure export-credentials --format env)"`)
	case env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || env("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		return o.container()
	case o.Metadata && !strings.EqualFold(env("AWS_EC2_METADATA_DISABLED"), "true"):
		return o.machine()
	}
	return nil, nil
}

func fixed(k keys) (provider, error) {
	for _, s := range []string{k.ID, k.Secret, k.Session} {
		if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			return nil, errors.New("the AWS credentials have a blank or a control character")
		}
	}
	return func(context.Context) (keys, error) { return k, nil }, nil
}

// ring keeps credentials until shortly before they expire. It is safe for concurrent use.
type ring struct {
	get  provider // nil: none
	now  func() time.Time
	turn chan struct{} // the right to call get and to set last
	last atomic.Pointer[keys]
}

func newRing(p provider, now func() time.Time) *ring {
	return &ring{get: p, now: now, turn: make(chan struct{}, 1)}
}

// keys returns valid credentials, the zero value if there are none. If new ones cannot be got before the old ones expire,
// it returns the old ones.
func (r *ring) keys(ctx context.Context) (keys, error) {
	if r.get == nil {
		return keys{}, nil
	}
	if k := r.last.Load(); k != nil && !r.expires(k, early) {
		return *k, nil
	}
	defer remote.Pause(ctx)() // it is not the bucket that is waited for
	ctx, cancel := context.WithTimeoutCause(ctx, keysTime, errors.New("no AWS credentials: timed out after "+keysTime.String()))
	defer cancel()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return keys{}, context.Cause(ctx)
	}
	old := r.last.Load()
	if old != nil && !r.expires(old, early) { // of a request that had the turn before
		return *old, nil
	}
	k, err := r.get(ctx)
	switch {
	case err == nil:
		r.last.Store(&k)
	case old != nil && !r.expires(old, 0):
		return *old, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	default:
		err = fmt.Errorf("no AWS credentials: %w", err)
	}
	return k, err
}

func (r *ring) expires(k *keys, within time.Duration) bool {
	return !k.Expires.IsZero() && !r.now().Add(within).Before(k.Expires)
}

// forget reports whether there may be better credentials than k, which a server says have expired.
func (r *ring) forget(k keys) bool {
	last := r.last.Load()
	if last == nil || k.Expires.IsZero() {
		return false
	}
	if last.ID == k.ID && last.Session == k.Session {
		r.last.CompareAndSwap(last, nil)
	}
	return true
}

// client returns a client for a server of credentials.
func (o *Options) client(t transport.Options) (*transport.Client, error) {
	t.CA, t.Connect = o.CA, o.Connect
	return transport.New(t)
}
