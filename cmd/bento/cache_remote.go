package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tier"
)

func keygenCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "keygen NAME", Short: "Make a pair of keys for results of the remote cache",
		Long:    "Make a pair of keys, which sign and verify results of the remote cache. The public one\nbelongs into remote_keys of bento.toml, the private one into a secret of the CI service,\nas $BENTO_REMOTE_SIGN_KEY. It is not stored.",
		Example: "  bento cache keygen ci\n  bento cache keygen ci --json", Args: cobra.ExactArgs(1),
		Annotations: traits{Reads: true}.annotations(),
		RunE: func(_ *cobra.Command, args []string) error {
			public, private, err := remote.GenerateKey(args[0])
			if err != nil {
				return usageError(err.Error(), "use letters, digits, -, _, . and @, such as ci")
			}
			return show(s, report.NewCacheKeys(public.String(), private), report.WriteCacheKeys)
		},
	}
}

func pushCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "push", Short: "Send the results that wait to the remote cache",
		Long:    "Send the results that earlier runs have left, because the server was slow or did not\nanswer. It waits until all are sent; Ctrl-C leaves the rest for later.",
		Example: "  bento cache push", Args: cobra.NoArgs, Annotations: traits{Flags: []string{"cache"}}.annotations(),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.cachePush(cmd.Context()) },
	}
}

func pullCommand(s *session) *cobra.Command {
	var sel selection
	cmd := &cobra.Command{
		Use: "pull TASK…", Short: "Get the results of tasks from the remote cache",
		Long:    "Get the results of tasks, and of those that they depend on, from the remote cache into\nthe local one. Nothing is executed or restored: a later run hits them, without a\nconnection too.",
		Example: "  bento cache pull build test\n  bento cache pull build --dish api", Annotations: traits{Flags: []string{"cache"}}.annotations(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("bento cache pull requires the name of a task", "run bento cache pull build")
			}
			sel.Tasks = args
			return s.cachePull(cmd.Context(), sel)
		},
	}
	addSelection(cmd, &sel)
	return cmd
}

// cachePull gets results.
func (s *session) cachePull(ctx context.Context, sel selection) error {
	lines := s.lines()
	lines.Brief = true
	w, err := s.openFor(ctx, lines, sel.all())
	if err != nil {
		return err
	}
	defer w.close()
	t, err := s.tierOf(w, func(r *kit.Remote) (bool, string) {
		return r.Read, "nothing can be pulled: " + cmp.Or(r.Why.Read, "cache.mode does not allow it; add --cache remote:r")
	})
	if err != nil {
		return err
	}
	w.env.Remote = t
	p, err := s.planRun(ctx, w, sel)
	if err != nil {
		return err
	}
	pulled, err := run.Pull(ctx, w.env, p, w.Config.Defaults.Observe)
	if err != nil {
		return err
	}
	if pulled.Off != "" {
		s.outcome = exitFault
	}
	return show(s, report.NewCachePulled(pulled), report.WriteCachePulled)
}

// remoteOf returns the remote cache of the workspace. It is an error if there is none.
func (s *session) remoteOf(w *opened) (*kit.Remote, error) {
	r, problems := kit.FindRemote(s.host(), w.Config, w.Mode)
	s.writeProblems(problems)
	if r == nil {
		return nil, errNoRemote()
	}
	return r, nil
}

func errNoRemote() error {
	return notFound("no_remote_cache", "no remote cache is configured", "set [cache] remote in bento.toml, or $BENTO_REMOTE")
}

// tierOf connects the workspace with its remote cache, for a command that needs it. used reports whether it may be used
// as the command does, and why it may not.
func (s *session) tierOf(w *opened, used func(*kit.Remote) (bool, string)) (*tier.Tier, error) {
	r, err := s.remoteOf(w)
	if err != nil {
		return nil, err
	}
	may, why := used(r)
	if w.remote = r.Tier(w.Workspace); w.remote == nil || !may {
		return nil, notFound("remote_unused", why, "bento cache status shows what the remote cache is used for")
	}
	return w.remote, nil
}

// cachePush sends what waits.
func (s *session) cachePush(ctx context.Context) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	t, err := s.tierOf(w, func(r *kit.Remote) (bool, string) {
		return r.Write, "nothing can be sent: " + cmp.Or(r.Why.Write, "cache.mode does not allow it; add --cache remote:rw")
	})
	if err != nil {
		return err
	}
	left := t.Push(ctx)
	s.writeProblems(t.Problems())
	if left.Left > 0 && ctx.Err() == nil {
		s.outcome = exitFault
	}
	return show(s, report.NewCachePushed(left), report.WriteCachePushed)
}

// remoteStats returns what cache stats says of the remote cache, nil without one. bento cache status has its problems.
func (s *session) remoteStats() *report.RemoteStats {
	root, _, err := s.root()
	if err != nil {
		return nil // the cache needs no workspace
	}
	cfg, _ := config.Load(root, s.host().OwnConfig()) // its problems were said before
	r, _ := kit.FindRemote(s.host(), cfg, cfg.Cache.Mode)
	if r == nil {
		return nil
	}
	return &report.RemoteStats{URL: r.String(), Waiting: tier.Waiting(state.Open(root))}
}

func statusCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show what the remote cache is used for", Example: "  bento cache status", Args: cobra.NoArgs,
		Long:        "Show the remote cache of the workspace: the server, what is read and written, whose\nresults are used, and how many results wait to be sent. It asks the server nothing.",
		Annotations: traits{Reads: true, Flags: []string{"cache"}}.annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.cacheStatus(cmd.Context()) },
	}
}

func (s *session) cacheStatus(ctx context.Context) error {
	w, err := s.open(ctx, nil)
	if err != nil {
		return err
	}
	defer w.close()
	r, err := s.remoteOf(w)
	if err != nil {
		return err
	}
	doc := report.CacheStatus{
		Schema: report.Schema("cache.status"), Remote: r.String(), Known: r.Known, Reads: r.Read, WhyNotRead: r.Why.Read, Writes: r.Write, WhyNotWrite: r.Why.Write,
		Trust: r.Trust(), Keys: []report.CacheKey{}, Signer: r.Signer(), Class: r.Class(), ReadScopes: r.Scopes.Read, WriteScope: r.Scopes.Write, Waiting: tier.Waiting(w.State),
	}
	for _, k := range r.Keys() {
		row := report.CacheKey{Name: k.Name, Key: k.String()}
		if !k.NotAfter.IsZero() {
			end := k.NotAfter.UTC()
			row.NotAfter, row.Expired = &end, time.Now().After(k.NotAfter)
		}
		doc.Keys = append(doc.Keys, row)
	}
	if since, off := tier.OffSince(w.State); off {
		end := since.UTC()
		doc.OffSince = &end
	}
	return show(s, doc, report.WriteCacheStatus)
}
