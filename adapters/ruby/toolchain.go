package ruby

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
)

// asked returns version, patch level, engine, ABI and platform of the Ruby in dir, behind shims.
func (a *Adapter) asked(ctx context.Context, at probe.At) (string, error) {
	if _, err := findBundle(a.env); err != nil {
		return "", err
	}
	m := &a.manifest
	env := a.env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv)
	return ask(ctx, probe.New(a.Source, env).Sharing(&a.answers), probe.RubyVersion, at, env)
}

// ask returns the output of a Ruby program.
func ask(ctx context.Context, asker *probe.Asker, q probe.Question, at probe.At, env adapters.Environ) (string, error) {
	path, err := find(env)
	if err != nil {
		return "", err
	}
	output, err := asker.Ask(ctx, q, at.Of(path))
	if err != nil {
		return "", err
	}
	answer, ok := output.Line(probe.Mark)
	if !ok {
		return "", fmt.Errorf("%q for %q printed no answer: %.200q", path, at.Dir, output.Out)
	}
	return answer, nil
}

// find returns the path of Ruby in env's PATH; the error says how to install it.
func find(env adapters.Environ) (string, error) {
	return lookFor(env, "ruby", adapters.Packages{
		Apt: "ruby ruby-dev", Dnf: "ruby ruby-devel", Zypper: "ruby ruby-devel", Pacman: "ruby", Apk: "ruby ruby-dev", Brew: "ruby",
		Else: "see https://www.ruby-lang.org/en/downloads/",
	})
}

// findBundle returns the path of Bundler in env's PATH; the error says how to install it.
func findBundle(env adapters.Environ) (string, error) {
	if _, err := find(env); err != nil {
		return "", err
	}
	return lookFor(env, "bundle", adapters.Packages{
		Apt: "ruby-bundler", Dnf: "rubygem-bundler", Zypper: "ruby-bundler", Pacman: "ruby-bundler", Apk: "ruby-bundler", Brew: "ruby",
		Else: "install it with \"gem install bundler\"",
	})
}

func lookFor(env adapters.Environ, tool string, packages adapters.Packages) (string, error) {
	path, err := env.LookPath(tool)
	var missing *adapters.MissingTool
	if errors.As(err, &missing) {
		missing.Hint = packages.Hint(env)
	}
	return path, err
}

// ToolchainBasis implements adapters.Steerer: Ruby and Bundler, and for a shim of a version
// manager also the installed versions and the files and variables that choose between them.
func (a *Adapter) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.Source, a.look)
	if err != nil || !seen.shim {
		return seen.basis, err
	}
	b := probe.NewBasis(a.env)
	b.Env("RBENV_VERSION", "RBENV_ROOT", "RBENV_DIR", "ASDF_RUBY_VERSION", "MISE_RUBY_VERSION", "MISE_ENV")
	b.Above(dir, append(probe.ManagerFiles(), ".ruby-version", "Gemfile")...)
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
	return seen.basis + b.String(), nil
}

// machine is the part of the basis that all directories share.
type machine struct {
	basis string
	shim  bool // ruby is one
}

func (a *Adapter) look() (machine, error) {
	path, err := find(a.env)
	if err != nil {
		return machine{}, err
	}
	bundle, err := findBundle(a.env)
	if err != nil {
		return machine{}, err
	}
	b := probe.NewBasis(a.env)
	b.File(path)
	b.File(bundle)
	b.Env("RUBYOPT", "JRUBY_OPTS")
	shim := filepath.Base(filepath.Dir(path)) == "shims"
	if shim {
		a.choices(b, filepath.Dir(filepath.Dir(path)))
	}
	return machine{b.String(), shim}, nil
}

// choices adds the Rubies that rbenv, asdf and mise choose from. root is the home of the
// version manager.
func (a *Adapter) choices(b *probe.Basis, root string) {
	if home := a.env.Get("RBENV_ROOT"); home != "" {
		root = home
	}
	b.File(filepath.Join(root, "version"))
	for _, pattern := range []string{"versions/*/bin/ruby", "installs/ruby/*/bin/ruby"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range found {
			b.File(path)
		}
	}
	// A shim without a chosen version uses the rest of PATH.
	for _, dir := range filepath.SplitList(a.env.Get("PATH")) {
		if filepath.IsAbs(dir) {
			b.IfThere(filepath.Join(dir, "ruby"))
		}
	}
}
