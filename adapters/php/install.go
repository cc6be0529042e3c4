package php

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/php/composer"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// InstallScope implements adapters.Scoper: each package is installed on its own. Composer
// writes an autoloader even without dependencies.
func (a *Adapter) InstallScope(_ context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	m, err := a.manifests.Read(f, manifestFile)
	if err != nil {
		return adapters.Scope{}, err
	}
	scope := adapters.Scope{
		Dir: dir, Command: "composer install",
		Files: []string{m.Path, filepath.Join(dir, lockFile)},
		Made:  []string{m.VendorDir + "/autoload.php"},
	}
	for _, p := range a.pathPackages(f, m) {
		scope.Files = append(scope.Files, p.Path)
	}
	for _, p := range a.copied(f, m) {
		scope.Copied = append(scope.Copied, adapters.Copied{Dir: p.Dir()})
	}
	slices.Sort(scope.Files)
	scope.Files = slices.Compact(scope.Files)
	scope.Reads = f.Reads()
	return scope, nil
}

// Install implements adapters.Adapter. Composer installs a stale lockfile with only a
// warning, so Install checks for one first.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Now().Files(req.DishDir)
	lock, err := a.locks.Read(f, lockFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := a.fresh(ctx, f, lock, req); err != nil {
			return err
		}
	}
	if err := a.run(ctx, req.Leave(), probe.Work{Argv: []string{"install", "--no-progress"}, Dir: req.DishDir, Env: req.Env}, log); err != nil {
		return err
	}
	again := []string{"*"} // composer takes an incomplete package for installed
	if !req.Force {
		// It takes an old copy for installed, too.
		if again = a.copies(f); len(again) == 0 {
			return nil
		}
	}
	argv := append([]string{"reinstall", "--no-progress", "--"}, again...)
	return a.run(ctx, req.Leave(), probe.Work{Argv: argv, Dir: req.DishDir, Env: req.Env}, log)
}

// copies returns the names of the packages that an install copies from directories.
func (a *Adapter) copies(f *snapshot.Files) (names []string) {
	m, err := a.manifests.Read(f, manifestFile)
	if err != nil {
		return nil // composer has reported it
	}
	for _, p := range a.copied(f, m) {
		names = append(names, p.Name)
	}
	return names
}

// copied returns the packages of path repositories that m requires, directly or through each other, and
// that composer copies.
func (a *Adapter) copied(f *snapshot.Files, m *composer.Manifest) (list []*composer.Manifest) {
	all := a.env.Get("COMPOSER_MIRROR_PATH_REPOS") == "1"
	byName, copies := make(map[string]*composer.Manifest), make(map[string]bool)
	for _, repo := range m.Repositories {
		for _, dir := range expand(f, m.Dir(), repo.URL) {
			p, err := a.manifests.Read(f, filepath.Join(dir, manifestFile))
			if err != nil || p.Name == "" || byName[strings.ToLower(p.Name)] != nil {
				continue
			}
			byName[strings.ToLower(p.Name)], copies[p.Dir()] = p, all || repo.Copy
		}
	}
	seen := make(map[*composer.Manifest]bool)
	var follow func(of *composer.Manifest)
	follow = func(of *composer.Manifest) {
		for _, r := range of.Requires {
			p := byName[strings.ToLower(r.Name)]
			if p == nil || seen[p] || p.Dir() == m.Dir() || of != m && r.Dev {
				continue
			}
			if seen[p] = true; copies[p.Dir()] {
				list = append(list, p)
			}
			follow(p)
		}
	}
	follow(m)
	return list
}

// fresh returns an error when the lockfile is older than composer.json or than the path
// packages.
func (a *Adapter) fresh(ctx context.Context, f *snapshot.Files, lock *composer.Lock, req adapters.InstallRequest) error {
	const check = "validate --no-check-publish --no-check-all"
	err := a.run(ctx, req.Leave(), probe.Work{Argv: strings.Fields(check), Dir: f.Dir(), Env: req.Env}, nil)
	var failed *adapters.InstallError
	if err != nil && (!errors.As(err, &failed) || strings.Contains(failed.Detail, "Lock file errors")) {
		return err
	}
	for _, p := range lock.Packages {
		if p.Dir == "" {
			continue
		}
		m, err := a.manifests.Read(f, filepath.Join(filepath.FromSlash(p.Dir), manifestFile))
		if err != nil {
			continue // composer reports it
		}
		if what := stale(&p, m); what != "" {
			return &adapters.InstallError{Detail: fmt.Sprintf(
				"%s lacks the %s of %s in %s; run %q", lockFile, what, p.Name, m.Path, "composer update "+p.Name)}
		}
	}
	return nil
}

// stale returns what differs between a locked path package and its manifest.
func stale(locked *composer.Package, m *composer.Manifest) string {
	if locked.Autoload != m.Autoload {
		return "autoload"
	}
	n := 0
	for _, r := range m.Requires {
		if r.Dev {
			continue
		}
		n++
		if constraint, ok := locked.Requires[strings.ToLower(r.Name)]; !ok || constraint != r.Constraint {
			return "requirement " + r.Name
		}
	}
	if n != len(locked.Requires) {
		return "requirements"
	}
	return ""
}

// run runs composer with the arguments of w and logs its output. Without an environment it runs in
// the adapter's own.
func (a *Adapter) run(ctx context.Context, leave adapters.Leave, w probe.Work, log adapters.LogFunc) error {
	w.Env = w.Env.Or(a.env)
	w.Shown = "composer " + strings.Join(w.Argv, " ")
	w.Argv = slices.Concat([]string{"composer", "--no-ansi", "--no-interaction"}, w.Argv)
	return a.missing(probe.Run(ctx, leave, w, log))
}

// Add implements adapters.Adder with `composer require`.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	args := []string{"require", "--no-progress"}
	if req.Dev {
		args = append(args, "--dev")
	}
	return a.run(ctx, req.Leave(), probe.Work{Argv: append(append(args, "--"), req.Packages...), Dir: req.DishDir, Env: req.Env}, log)
}
