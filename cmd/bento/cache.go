package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/workspace"
)

func cacheCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cache", GroupID: "setup",
		Short: "Inspect and maintain the cache",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "stats", Short: "Count the results and bytes of the cache", Example: "  bento cache stats", Args: cobra.NoArgs,
			Annotations: traits{Reads: true}.annotations(),
			RunE:        func(cmd *cobra.Command, _ []string) error { return s.cacheStats(cmd.Context()) },
		},
		statusCommand(s),
		pushCommand(s),
		pullCommand(s),
		keygenCommand(s),
		pruneCommand(s),
		clearCommand(s),
		&cobra.Command{
			Use: "fsck", Short: "Read the whole cache and remove damaged entries", Example: "  bento cache fsck", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return s.cacheCheck(cmd.Context()) },
		},
	)
	return cmd
}

func clearCommand(s *session) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "clear", Short: "Remove everything from the cache",
		Long:    "Remove everything from the cache. All workspaces that share it run their tasks\nagain. On a terminal it asks for confirmation; elsewhere it requires --yes.",
		Example: "  bento cache clear\n  bento cache clear --yes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.cacheClear(cmd.Context(), yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func (s *session) cacheClear(ctx context.Context, yes bool) error {
	d, err := s.disk(nil)
	if err != nil {
		return err
	}
	if !yes {
		stats, err := d.Stats(ctx)
		if err != nil {
			return err
		}
		question := fmt.Sprintf("remove %s, %s, from %q?", report.Count(stats.Records, "result"), report.ByteSize(stats.Bytes), report.PrintableLine(d.Dir()))
		if yes, err = s.confirm(ctx, "bento cache clear", question); err != nil {
			return err
		}
	}
	if !yes {
		return s.nothingRemoved(report.NewCacheRemoved("cache.clear", d.Dir(), cache.Removed{}))
	}
	return s.cacheRemove(ctx, "cache.clear", (*cache.Disk).Clear)
}

func pruneCommand(s *session) *cobra.Command {
	var size, age string
	cmd := &cobra.Command{
		Use: "prune", Short: "Evict the results that were used least recently",
		Long:    "Evict the least recently used results until the cache is within its bounds: those\nof the flags, else cache.max_size and cache.max_age of your own configuration. The\nbounds of bento.toml apply to a cache below .bento/ and to $BENTO_CACHE_DIR.",
		Example: "  bento cache prune --max-size 10GiB\n  bento cache prune --older-than 30d",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bounds, err := s.bounds(size, age)
			if err != nil {
				return err
			}
			return s.cacheRemove(cmd.Context(), "cache.prune", func(d *cache.Disk, ctx context.Context) (cache.Removed, error) {
				return d.Prune(ctx, bounds)
			})
		},
	}
	cmd.Flags().StringVar(&size, "max-size", "", "keep at most `SIZE`, such as 10GiB")
	cmd.Flags().StringVar(&age, "older-than", "", "evict results that were not used for `TIME`, such as 30d")
	return cmd
}

// bounds returns the bounds of the flags, else those of the configuration.
func (s *session) bounds(size, age string) (b cache.Bounds, err error) {
	if size == "" && age == "" {
		cfg, err := s.config()
		if err != nil {
			return b, err
		}
		b = workspace.ConfiguredBounds(cfg, s.environ)
		if b == (cache.Bounds{}) {
			return b, usageError("bento cache prune requires a bound", "use --max-size or --older-than, or set cache.max_size or cache.max_age in your own configuration; the bounds of bento.toml apply to a cache below .bento/ and to $BENTO_CACHE_DIR")
		}
		return b, nil
	}
	ok := true
	if size != "" {
		if b.MaxSize, ok = config.ParseSize(size); !ok {
			return b, usageError(fmt.Sprintf("--max-size %q is no size", size), "write for example 10GiB or 500MB")
		}
	}
	if age != "" {
		if b.MaxAge, ok = config.ParseDuration(age); !ok {
			return b, usageError(fmt.Sprintf("--older-than %q is no time", age), "write for example 30d or 12h")
		}
	}
	return b, nil
}

// config reads the workspace's bento.toml, if the command runs in a workspace, and the
// user's own file. An error in the latter ends the command: it may name another cache.
func (s *session) config() (*config.Workspace, error) {
	own := s.host().OwnConfig()
	var cfg *config.Workspace
	var problems []diagnostics.Diagnostic
	if root, _, err := s.root(); err == nil {
		cfg, problems = config.Load(root, own)
	} else {
		cfg, problems = config.LoadOwn(own) // the cache needs no workspace
	}
	mine := slices.DeleteFunc(slices.Clone(problems), func(d diagnostics.Diagnostic) bool { return own == "" || d.File != own })
	if err := diagnostics.AsError(mine); err != nil {
		return nil, err
	}
	report.WriteProblems(s.err, s.style, problems)
	return cfg, nil
}

// disk opens the cache, which calls damaged for each entry that it removes.
func (s *session) disk(damaged func(error)) (*cache.Disk, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	return workspace.OpenDisk(cfg, s.environ, cache.Options{Warn: damaged, Waiting: func(lock string) { s.warn(workspace.WaitingForPrune(lock)) }})
}

func (s *session) cacheStats(ctx context.Context) error {
	d, err := s.disk(nil)
	if err != nil {
		return err
	}
	stats, err := d.Stats(ctx)
	if err != nil {
		return err
	}
	doc := report.NewCacheStats(d.Dir(), stats)
	doc.Remote = s.remoteStats()
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WriteCacheStats(s.out, s.style, doc)
	if len(doc.Older) > 0 {
		command := "rm -r --"
		for _, dir := range doc.Older {
			command += " " + owner.ShellWord(dir)
		}
		fmt.Fprintf(s.out, "%s of that are in formats of older versions of bento; remove them with: %s\n", report.ByteSize(doc.OlderBytes), report.PrintableLine(command))
	}
	return nil
}

func (s *session) cacheRemove(ctx context.Context, command string, remove func(*cache.Disk, context.Context) (cache.Removed, error)) error {
	d, err := s.disk(nil)
	if err != nil {
		return err
	}
	removed, err := remove(d, ctx)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		return notFound("cache_unusable", fmt.Sprintf("nothing can be removed from the cache %q: %v", d.Dir(), err), "make it writable, or name another cache with $BENTO_CACHE_DIR")
	}
	if err != nil {
		return err
	}
	doc := report.NewCacheRemoved(command, d.Dir(), removed)
	return show(s, doc, report.WriteCacheRemoved)
}

func (s *session) cacheCheck(ctx context.Context) error {
	warnings := &run.Env{Reporter: s.lines()}
	d, err := s.disk(warnings.WarnDamage)
	if err != nil {
		return err
	}
	check, err := d.Fsck(ctx)
	warnings.SumUp()
	if ctx.Err() != nil || err != nil && s.flags.json {
		return err
	}
	for _, path := range check.InTheWay {
		s.outcome = exitInput
		s.warn("cache_in_the_way", fmt.Sprintf("%q has the path of a cache entry, which cannot be stored; bento has not made it and does not remove it", path),
			"check its files, then remove it with: rm -r -- "+owner.ShellWord(path))
	}
	doc := report.NewCacheCheck(d.Dir(), check)
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WriteCacheCheck(s.out, s.style, doc)
	return err
}
