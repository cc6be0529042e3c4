package sep

import (
	"fmt"
	"slices"
	"time"

	"github.com/bentobuild/bento/plugin/sep/manifest"
)

// Terms are the conditions under which one extension runs.
type Terms struct {
	Granted []string // permissions, in the order of the contract
	Denied  []string // permissions that the manifest declares and the user did not grant
	Events  []string // topics that it receives
	Limits  manifest.Limits

	Startup   time.Duration // from the start of the process to the answer to sep.initialize
	Heartbeat time.Duration // between two health checks
	Misses    int           // this many in a row are too many

	// Off is why the extension is not started, "" if it is.
	Off string

	declared []string
	policy   bool // the trust level or the policy denies, not a grant list
}

// The limits of the trust level untrusted_local.
const (
	untrustedBytes      = 64 << 10
	untrustedRate       = 10
	untrustedConcurrent = 4
	untrustedStartup    = 10 * time.Second
)

// Settle returns the terms of an extension; e is its entry in the policy, nil for none. The trust
// level alone grants nothing that the manifest does not declare. An extension of the level
// trusted_third_party has no permission until it is approved. One of the level untrusted_local is off
// until an entry enables it, and has only what a list grants.
func Settle(m *manifest.Manifest, e *Entry) Terms {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	t := Terms{
		Limits:    m.Limits,
		Startup:   ms(m.Health.StartupTimeoutMs),
		Heartbeat: ms(m.Health.HeartbeatIntervalMs),
		Misses:    m.Health.MissedHeartbeats,
		declared:  m.Permissions,
	}
	if m.TrustLevel == manifest.UntrustedLocal {
		t.Limits.MaxRequestBytes = min(t.Limits.MaxRequestBytes, untrustedBytes)
		t.Limits.MaxRequestsPerSecond = min(t.Limits.MaxRequestsPerSecond, untrustedRate)
		t.Limits.MaxConcurrentRequests = min(t.Limits.MaxConcurrentRequests, untrustedConcurrent)
		t.Startup = min(t.Startup, untrustedStartup)
	}
	t.grant(m, e)
	if t.Has(manifest.Subscribe) {
		t.Events = slices.Clone(m.Subscribed())
		if e != nil && e.Events != nil {
			t.Events = slices.DeleteFunc(t.Events, func(topic string) bool { return !slices.Contains(e.Events, topic) })
		}
	}
	return t
}

// grant sets the permissions and whether the extension is off.
func (t *Terms) grant(m *manifest.Manifest, e *Entry) {
	var list []string
	switch {
	case e != nil && !e.Enabled:
		t.Off, t.policy = "it is disabled", true
	case m.TrustLevel == manifest.UntrustedLocal && e == nil:
		t.Off, t.policy = fmt.Sprintf("its trust level is %s, and no entry enables it", manifest.UntrustedLocal), true
	case m.TrustLevel == manifest.TrustedThirdParty && (e == nil || !e.Approved):
		t.policy = true
	case e != nil && (e.Grant != nil || m.TrustLevel == manifest.UntrustedLocal):
		list = e.Grant
	default:
		list = m.Permissions
	}
	for _, p := range manifest.Permissions() {
		switch {
		case !slices.Contains(m.Permissions, p):
		case slices.Contains(list, p):
			t.Granted = append(t.Granted, p)
		default:
			t.Denied = append(t.Denied, p)
		}
	}
}

// Has reports whether a permission is granted.
func (t *Terms) Has(permission string) bool { return slices.Contains(t.Granted, permission) }

// The causes of a denial.
const (
	notDeclared = "not_declared"
	notGranted  = "not_granted"
	byPolicy    = "policy"
)

// cause returns why a permission is denied.
func (t *Terms) cause(permission string) string {
	switch {
	case !slices.Contains(t.declared, permission):
		return notDeclared
	case t.policy:
		return byPolicy
	}
	return notGranted
}
