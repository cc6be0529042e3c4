package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/config/unit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// pruneTime bounds how long the end of a run is held up by keeping the cache within
// the bounds of bento.toml. What does not fit is left for the next run.
const pruneTime = 50 * time.Millisecond

func cacheCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cache", GroupID: "setup",
		Short: "Look at the cache, and keep it in order",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "stats", Short: "Count what the cache holds", Example: "  bento cache stats", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return s.cacheStats(cmd.Context()) },
		},
		pruneCommand(s),
		&cobra.Command{
			Use: "clear", Short: "Remove everything from the cache", Example: "  bento cache clear", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return s.cacheRemove(cmd.Context(), "cache.clear", (*cache.Disk).Clear)
			},
		},
		&cobra.Command{
			Use: "fsck", Short: "Read the whole cache and drop what is damaged", Example: "  bento cache fsck", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return s.cacheCheck(cmd.Context()) },
		},
	)
	return cmd
}

func pruneCommand(s *session) *cobra.Command {
	var size, age string
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove what was not used for longest",
		Long:    "Remove what was not used for longest until the cache is within the bounds: those\nof the flags, else cache.max_size and cache.max_age of bento.toml.",
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
	cmd.Flags().StringVar(&age, "older-than", "", "remove what was not used for `TIME`, such as 30d")
	return cmd
}

// bounds gives those of the flags, else those of bento.toml.
func (s *session) bounds(size, age string) (b cache.Bounds, err error) {
	if size == "" && age == "" {
		cfg, err := s.config()
		if err != nil {
			return b, err
		}
		b = cache.Bounds{MaxSize: cfg.Cache.MaxSize, MaxAge: cfg.Cache.MaxAge}
		if b == (cache.Bounds{}) {
			return b, usageError("bento cache prune needs a bound", "give --max-size or --older-than, or set cache.max_size or cache.max_age in bento.toml or in your own configuration")
		}
		return b, nil
	}
	ok := true
	if size != "" {
		if b.MaxSize, ok = unit.ParseSize(size); !ok {
			return b, usageError(fmt.Sprintf("--max-size %q is no size", size), "such as 10GiB or 500MB")
		}
	}
	if age != "" {
		if b.MaxAge, ok = unit.ParseDuration(age); !ok {
			return b, usageError(fmt.Sprintf("--older-than %q is no time", age), "such as 30d or 12h")
		}
	}
	return b, nil
}

// config reads the workspace's bento.toml, if the command runs in a workspace, and the
// user's own file. An error in the latter ends the command: it may name another cache.
func (s *session) config() (*config.Workspace, error) {
	own := s.ownConfig()
	var cfg *config.Workspace
	var problems []diagnostics.Diagnostic
	if root, _, err := s.root(); err == nil {
		cfg, problems = config.LoadWith(root, own)
	} else {
		cfg, problems = config.LoadOwn(own) // the cache is there without a workspace
	}
	mine := slices.DeleteFunc(slices.Clone(problems), func(d diagnostics.Diagnostic) bool { return own == "" || d.File != own })
	if err := diagnostics.AsError(mine); err != nil {
		return nil, err
	}
	report.WriteProblems(s.err, s.style, problems)
	return cfg, nil
}

// disk opens the cache. damaged is told of entries that were dropped.
func (s *session) disk(damaged func(error)) (*cache.Disk, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	dir, err := cacheDir(cfg, s.environ)
	if err != nil {
		return nil, err
	}
	return openDisk(cfg.Root, dir, damaged)
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
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WriteCacheStats(s.out, doc)
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
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WriteCacheRemoved(s.out, doc)
	return nil
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
	doc := report.NewCacheCheck(d.Dir(), check)
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WriteCacheCheck(s.out, doc)
	return err
}

// defaultMaxSize is the bound of a cache that no bento.toml gives one.
const defaultMaxSize = 20 << 30

// keepBounds keeps the cache within its bounds after a run that added to it, as far
// as that goes in a moment.
func keepBounds(ctx context.Context, store cache.Store, cfg config.Cache) {
	bounds := cache.Bounds{MaxSize: cmp.Or(cfg.MaxSize, defaultMaxSize), MaxAge: cfg.MaxAge}
	disk, ok := store.(*cache.Disk)
	if !ok || !disk.Due(bounds) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pruneTime)
	defer cancel()
	// The next run goes on where this one had no time.
	_, _ = disk.Prune(ctx, bounds)
}
