package workspace

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// CacheDir returns the directory of the cache. The environment and the user's own configuration take
// precedence over the repository.
func CacheDir(cfg *config.Workspace, env adapters.Environ) (string, error) {
	if dir := env.Get("BENTO_CACHE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := cmp.Or(cfg.Cache.OwnDir, cfg.Cache.Dir); dir != "" {
		return dir, nil
	}
	if dir := owndir.OfUser(env.Get, "XDG_CACHE_HOME"); dir != "" {
		return dir, nil
	}
	return "", fmt.Errorf("neither BENTO_CACHE_DIR, XDG_CACHE_HOME nor HOME says where it is")
}

// namesCache reports whether the user or the repository names the directory of the cache.
func namesCache(cfg *config.Workspace, env adapters.Environ) bool {
	return env.Get("BENTO_CACHE_DIR") != "" || cfg.Cache.OwnDir != "" || cfg.Cache.Dir != ""
}

// defaultMaxSize is the bound of a cache without a configured one.
const defaultMaxSize = 20 << 30

// CacheBounds returns the bounds that apply without a command of the user: the configured bounds, with a default
// size.
func CacheBounds(cfg *config.Workspace, env adapters.Environ) cache.Bounds {
	b := ConfiguredBounds(cfg, env)
	b.MaxSize = cmp.Or(b.MaxSize, defaultMaxSize)
	return b
}

// ConfiguredBounds returns the configured bounds of the cache in use. Bounds in bento.toml do not apply to
// the cache that all workspaces of the user share: an untrusted repository must not empty it. They
// apply to a cache below .bento/, and to a cache that the user has chosen by $BENTO_CACHE_DIR.
func ConfiguredBounds(cfg *config.Workspace, env adapters.Environ) cache.Bounds {
	if env.Get("BENTO_CACHE_DIR") == "" && (cfg.Cache.OwnDir != "" || cfg.Cache.Dir == "") {
		return cache.Bounds(cfg.Cache.Own)
	}
	return cache.Bounds{MaxSize: cfg.Cache.MaxSize, MaxAge: cfg.Cache.MaxAge}
}

// OpenDisk opens the cache that the configuration and the environment name. A cache in the workspace may be part of
// the repository, so git must not track it.
func OpenDisk(cfg *config.Workspace, env adapters.Environ, o cache.Options) (*cache.Disk, error) {
	dir, err := CacheDir(cfg, env)
	if err != nil {
		return nil, err
	}
	if _, rel, ok := owndir.Within(cfg.Root, dir); ok {
		st, ctx := state.Open(cfg.Root), context.Background()
		if isOwn(rel) {
			rel = state.Name
			if err := st.Check(ctx); err != nil {
				return nil, err
			}
		}
		if err := st.Untracked(ctx, rel); err != nil {
			return nil, err
		}
	}
	o.Root, o.Unnamed = cfg.Root, !namesCache(cfg, env)
	return cache.Open(dir, &o)
}

// WaitingForPrune returns the warning of a process that waits for a lock of the cache.
func WaitingForPrune(lock string) (code, message, hint string) {
	return "waiting", "another bento prunes the cache; waiting for it", "a process has the lock " + lock
}

// modeOf returns what may be done with the cache.
func modeOf(cfg *config.Workspace, o *Options) config.CacheMode {
	if m, err := cfg.Cache.Mode.Under(o.Cache); o.Cache != "" && err == nil {
		return m
	}
	return cfg.Cache.Mode
}

// storeFor returns the cache. It returns an empty one if the keys may lack files that git tracks. An unusable cache is
// a warning: then every task runs and no result is stored.
func (h *Host) storeFor(files *tree.Tree, cfg *config.Workspace, all config.CacheMode, o *Options) cache.Store {
	mode := all.Local
	if files.Unsure() || !mode.Read && !mode.Write {
		return cache.Nothing{}
	}
	waiting := func(lock string) { o.Warn(WaitingForPrune(lock)) }
	disk, err := OpenDisk(cfg, h.Environ, cache.Options{Warn: o.Damaged, Waiting: waiting, Bounds: CacheBounds(cfg, h.Environ)})
	switch {
	case err == nil && !mode.Write:
		return cache.ReadOnly{Store: disk}
	case err == nil && !mode.Read:
		return cache.WriteOnly{Store: disk}
	case err == nil:
		return disk
	}
	o.Warn("cache_unusable", "the cache cannot be used: "+err.Error(), "see $BENTO_CACHE_DIR, and cache.dir in your own configuration or in bento.toml; the build continues without")
	return cache.Nothing{}
}

// cacheBelow returns the directories of the cache below root, none if the cache is elsewhere or in .bento. The walk
// leaves these directories out; other files next to them are sources.
func (h *Host) cacheBelow(root string, cfg *config.Workspace) []string {
	dir, err := CacheDir(cfg, h.Environ)
	if err != nil {
		return nil
	}
	rel, err := filepath.Rel(root, behindLinks(dir))
	if rel = filepath.ToSlash(rel); err != nil || !filepath.IsLocal(rel) || rel == "." || isOwn(rel) {
		return nil
	}
	return cache.FormatDirs(rel)
}

// walkAgain walks again if the user's own configuration has the cache in a directory of the workspace that the walk did
// not leave out. bento reads that configuration during the walk.
func (h *Host) walkAgain(ctx context.Context, files *tree.Tree, cfg *config.Workspace, out []string) (*tree.Tree, error) {
	if cfg.Cache.OwnDir == "" {
		return files, nil
	}
	dirs := h.cacheBelow(files.Root(), cfg)
	if len(dirs) == 0 || slices.Equal(dirs, out) {
		return files, nil
	}
	files.Close()
	return tree.Walk(ctx, files.Root(), &tree.Options{State: state.Open(files.Root()), Out: dirs})
}

// isOwn reports whether a path below the root is bento's own directory, or is in it.
func isOwn(rel string) bool { return rel == state.Name || strings.HasPrefix(rel, state.Name+"/") }

// behindLinks resolves the links of the part of a path that exists.
func behindLinks(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if above := filepath.Dir(path); err != nil && above != path {
		return filepath.Join(behindLinks(above), filepath.Base(path))
	} else if err != nil {
		return path
	}
	return real
}
