package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/tier"
)

// remoteTime is the longest time of all questions to a remote cache.
const remoteTime = 20 * time.Second

// checkRemote tries the remote cache, if one is configured. It is never a failure: tasks run without.
func (doc *diagnosis) checkRemote(ctx context.Context, s *session, w *opened) {
	r, problems := kit.FindRemote(s.host(), w.Config, w.Mode)
	for _, p := range problems {
		doc.add("remote", "warn", p.Message, p.Hint)
	}
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	p := r.Probe(ctx)
	doc.addRemoteClock(p)
	if p.Read != nil {
		doc.add("remote", "warn", r.String()+": "+p.Read.Error(), "see [cache] remote and $BENTO_REMOTE; without the remote cache every run continues")
		return
	}
	says := ""
	if p.Server != "" {
		says = " (" + p.Server + ")"
	}
	doc.add("remote", "ok", fmt.Sprintf("%s answers in %s%s", r, p.Latency.Round(100*time.Microsecond), says), "")
	if since, off := tier.OffSince(w.State); off {
		doc.add("remote.off", "warn", "runs have given the server up at "+since.Local().Format(time.DateTime), "the next run that needs a result tries it again")
	}
	doc.addRemoteReads(r)
	doc.addRemoteWrites(r, p)
}

// checkExec tries the server that executes tasks, if one is configured.
func (doc *diagnosis) checkExec(ctx context.Context, s *session, w *opened) {
	r, problems := kit.FindRemoteExec(s.host(), w.Config)
	for _, p := range problems {
		doc.add("remote.exec", "warn", p.Message, p.Hint)
	}
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	says, took, err := r.Probe(ctx)
	if err != nil {
		doc.add("remote.exec", "warn", r.String()+": "+err.Error(), "see [remote] exec and $BENTO_REMOTE_EXEC; tasks with remote = true are executed on this machine")
		return
	}
	doc.add("remote.exec", "ok", fmt.Sprintf("%s executes tasks, %d at once; it answers in %s (%s)", r, r.Jobs, took.Round(100*time.Microsecond), says), "")
}

// clockTolerance is how far a clock may be off without a warning.
const clockTolerance = 5 * time.Minute

// addRemoteClock warns of a clock that differs from the server's: tokens and keys have an end, and S3 signatures have a time.
func (doc *diagnosis) addRemoteClock(p kit.RemoteProbe) {
	if p.Clock.Abs() <= clockTolerance {
		return
	}
	side := "ahead of"
	if p.Clock < 0 {
		side = "behind"
	}
	doc.add("remote.clock", "warn", fmt.Sprintf("the clock of this machine is %s %s that of the server", p.Clock.Abs().Round(time.Minute), side),
		"set the clock: tokens, certificates and the end of keys depend on it")
}

func (doc *diagnosis) addRemoteReads(r *kit.Remote) {
	trust := "any result of the server is used"
	if r.Trust() == config.TrustSigned {
		var names []string
		for _, k := range r.Keys() {
			name := k.Name
			if !k.NotAfter.IsZero() && time.Now().After(k.NotAfter) {
				name += " (its end was " + k.NotAfter.Format(time.DateOnly) + ")"
			}
			names = append(names, name)
		}
		trust = "results signed by " + strings.Join(names, ", ") + " are used"
	}
	switch {
	case r.Why.Read != "":
		doc.add("remote.read", "warn", r.Why.Read, "")
	case !r.Read:
		doc.add("remote.read", "skipped", "cache.mode does not allow it", "")
	default:
		doc.add("remote.read", "ok", fmt.Sprintf("scope %s, class %s; %s", strings.Join(r.Scopes.Read, ", then "), r.Class(), trust), "")
	}
}

func (doc *diagnosis) addRemoteWrites(r *kit.Remote, p kit.RemoteProbe) {
	by := ""
	if name := r.Signer(); name != "" {
		by = ", signed by " + name
	}
	switch {
	case r.Why.Write != "":
		doc.add("remote.write", "warn", r.Why.Write, "")
	case !r.Write:
		doc.add("remote.write", "skipped", "cache.mode does not allow it", "")
	case p.Write != nil:
		doc.add("remote.write", "warn", "a result cannot be sent: "+p.Write.Error(), "see $"+r.TokenEnv()+" and the rights of its owner")
	case p.Again != nil && r.Read:
		doc.add("remote.write", "warn", "a result was sent, and is not used here: "+p.Again.Error(), "add the public key of "+report.Printable(r.Signer())+" to remote_keys")
	default:
		doc.add("remote.write", "ok", "scope "+r.Scopes.Write+by, "")
	}
}
