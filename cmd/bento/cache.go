package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/config/unit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

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
		Long:    "Remove what was not used for longest until the cache is within the bounds: those\nof the flags, else cache.max_size and cache.max_age of your own configuration. Those\nof bento.toml count for a cache below .bento/ and for $BENTO_CACHE_DIR.",
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

// bounds returns those of the flags, else those of the files that count.
func (s *session) bounds(size, age string) (b cache.Bounds, err error) {
	if size == "" && age == "" {
		cfg, err := s.config()
		if err != nil {
			return b, err
		}
		b = saidBounds(cfg, s.environ)
		if b == (cache.Bounds{}) {
			return b, usageError("bento cache prune needs a bound", "give --max-size or --older-than, or set cache.max_size or cache.max_age in your own configuration; those of bento.toml count for a cache below .bento/ and for $BENTO_CACHE_DIR")
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
	return openDisk(cfg.Root, dir, cache.Options{Warn: damaged})
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

// defaultMaxSize is the bound of a cache that nobody else bounds.
const defaultMaxSize = 20 << 30

// cacheBounds returns the bounds that hold by themselves.
func cacheBounds(cfg *config.Workspace, env adapters.Environ) cache.Bounds {
	b := saidBounds(cfg, env)
	b.MaxSize = cmp.Or(b.MaxSize, defaultMaxSize)
	return b
}

// saidBounds returns the bounds that count for the cache in use. Those of bento.toml do
// not for the cache that all workspaces of the user share: a repository that nobody
// vouches for must not empty it. They count for a cache below .bento/, and for the one
// that the user has chosen for this run.
func saidBounds(cfg *config.Workspace, env adapters.Environ) cache.Bounds {
	if env.Get("BENTO_CACHE_DIR") == "" && (cfg.Cache.OwnDir != "" || cfg.Cache.Dir == "") {
		return cache.Bounds(cfg.Cache.Own)
	}
	return cache.Bounds{MaxSize: cfg.Cache.MaxSize, MaxAge: cfg.Cache.MaxAge}
}

// keepBounds keeps the cache within its bounds after a run that added to it. Where it
// cannot, the next run will.
func keepBounds(ctx context.Context, store cache.Store) {
	if disk, ok := store.(*cache.Disk); ok {
		_ = disk.Keep(ctx)
	}
}
