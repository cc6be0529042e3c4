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
	"github.com/bentobuild/bento/internal/proc"
)

// InstallScope implements adapters.Scoper: a package is installed on its own. Even one
// without dependencies has an autoloader written.
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
	slices.Sort(scope.Files)
	scope.Files = slices.Compact(scope.Files)
	scope.Reads = f.Reads()
	return scope, nil
}

// Install implements adapters.Adapter. Composer installs what a stale lockfile says and
// only warns, so that is looked at first.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Files(req.DishDir)
	lock, err := a.locks.Read(f, lockFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := a.fresh(ctx, f, lock, req.Env); err != nil {
			return err
		}
	}
	if err := a.run(ctx, req.DishDir, req.Env, []string{"install", "--no-progress"}, log); err != nil || !req.Force {
		return err
	}
	// What is there but not whole, composer takes for installed.
	return a.run(ctx, req.DishDir, req.Env, []string{"reinstall", "--no-progress", "*"}, log)
}

// fresh tells what the lockfile does not know of composer.json, or of the path packages.
func (a *Adapter) fresh(ctx context.Context, f *adapters.Files, lock *composer.Lock, env adapters.Environ) error {
	const check = "validate --no-check-publish --no-check-all"
	t := adapters.NewTranscript(nil)
	exit, err := a.exec(ctx, f.Dir(), env, strings.Fields(check), t)
	if err != nil {
		return err
	}
	if exit != 0 && strings.Contains(t.Tail(), "Lock file errors") {
		return &adapters.InstallError{Command: "composer " + check, ExitStatus: exit, Detail: t.Tail()}
	}
	for _, p := range lock.Packages {
		if p.Dir == "" {
			continue
		}
		m, err := a.manifests.Read(f, filepath.Join(filepath.FromSlash(p.Dir), manifestFile))
		if err != nil {
			continue // composer has something to say about it
		}
		if what := stale(&p, m); what != "" {
			return &adapters.InstallError{Detail: fmt.Sprintf(
				"%s does not know the %s of %s in %s; run %q", lockFile, what, p.Name, m.Path, "composer update "+p.Name)}
		}
	}
	return nil
}

// stale names what a lockfile has differently from the package itself.
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

// run runs composer and tells log what it says.
func (a *Adapter) run(ctx context.Context, dir string, env adapters.Environ, args []string, log adapters.LogFunc) error {
	t := adapters.NewTranscript(log)
	exit, err := a.exec(ctx, dir, env, args, t)
	if err != nil || exit == 0 {
		return err
	}
	return &adapters.InstallError{Command: "composer " + strings.Join(args, " "), ExitStatus: exit, Detail: t.Tail()}
}

// exec runs composer to its end. Without an environment it has the adapter's own.
func (a *Adapter) exec(ctx context.Context, dir string, env adapters.Environ, args []string, t *adapters.Transcript) (exit int, err error) {
	if len(env) == 0 {
		env = a.env
	}
	tool, err := env.LookPath("composer")
	if err != nil {
		return 0, a.missing(err)
	}
	argv := append([]string{tool, "--no-ansi", "--no-interaction"}, args...)
	res, err := proc.Run(ctx, proc.Spec{Argv: argv, Dir: dir, Env: env, Stdout: t.Stdout(), Stderr: t.Stderr()})
	t.Close()
	if err == nil {
		err = ctx.Err()
	}
	return res.ExitCode, err
}

// Add implements adapters.Adder with `composer require`.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	args := []string{"require", "--no-progress"}
	if req.Dev {
		args = append(args, "--dev")
	}
	return a.run(ctx, req.DishDir, req.Env, append(append(args, "--"), req.Packages...), log)
}
