package ruby

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// The bounds of a question to Ruby.
const (
	probeTimeout = 30 * time.Second
	probeOutput  = 64 << 10
)

// describe prints a fingerprint, behind a word that no warning begins with.
const describe = `require "rbconfig"
puts "bento ruby=#{RUBY_VERSION} patch=#{RUBY_PATCHLEVEL} engine=#{RUBY_ENGINE} engine_version=#{RUBY_ENGINE_VERSION}" +
  " abi=#{RbConfig::CONFIG["ruby_version"]} platform=#{RUBY_PLATFORM}"`

// bundlerVersion prints the version of Bundler that runs, behind that word.
const bundlerVersion = `require "bundler/version"
puts "bento #{Bundler::VERSION}"`

// ToolchainFingerprint gives version, patch level, engine, ABI and platform of the
// Ruby that answers in dir, behind shims.
func (a *Adapter) ToolchainFingerprint(ctx context.Context, dir string) (string, error) {
	if _, err := findBundle(a.env); err != nil {
		return "", err
	}
	m := &a.manifest
	env := a.env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv)
	return ask(ctx, env, dir, "--disable-gems", "-e", describe)
}

// ask runs a piece of Ruby in dir and gives what it prints.
func ask(ctx context.Context, env adapters.Environ, dir string, args ...string) (string, error) {
	path, err := find(env)
	if err != nil {
		return "", err
	}
	out, errOut, res, err := proc.Output(ctx, proc.Spec{
		Argv: append([]string{path}, args...), Dir: dir, Env: env, Timeout: probeTimeout,
	}, probeOutput)
	switch {
	case err != nil:
		return "", err
	case res.Canceled:
		return "", context.Cause(ctx)
	case res.ExitCode == 127 || res.ExitCode == 126:
		// The shim of a version manager has no such version.
		return "", &adapters.MissingTool{Tool: "ruby", Hint: lastLine(errOut)}
	case res.ExitCode != 0:
		return "", fmt.Errorf("%q in %q exited with status %d: %s", path, dir, res.ExitCode, lastLine(errOut))
	}
	for line := range strings.Lines(string(out)) {
		if answer, ok := strings.CutPrefix(line, "bento "); ok {
			return strings.TrimSpace(answer), nil
		}
	}
	return "", fmt.Errorf("%q in %q gave no answer: %.200q", path, dir, out)
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// find looks for Ruby on env's PATH; the error says how to get it.
func find(env adapters.Environ) (string, error) {
	return lookFor(env, "ruby", adapters.Packages{
		Apt: "ruby ruby-dev", Dnf: "ruby ruby-devel", Zypper: "ruby ruby-devel", Pacman: "ruby", Apk: "ruby ruby-dev", Brew: "ruby",
		Else: "see https://www.ruby-lang.org/en/downloads/",
	})
}

// findBundle looks for Bundler on env's PATH; the error says how to get it.
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

// ToolchainBasis describes what decides ToolchainFingerprint: Ruby and Bundler, and
// where Ruby is the shim of a version manager, those that it chooses from and the
// files and variables that make it choose.
func (a *Adapter) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.look)
	if err != nil || !seen.shim {
		return seen.basis, err
	}
	b := adapters.NewBasis(a.env)
	b.Env("RBENV_VERSION", "RBENV_ROOT", "RBENV_DIR", "ASDF_RUBY_VERSION", "MISE_RUBY_VERSION", "MISE_ENV")
	b.Above(dir, ".ruby-version", ".tool-versions", "mise.toml", ".mise.toml", "Gemfile")
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
	return seen.basis + b.String(), nil
}

// machine is what the fingerprint depends on in every directory.
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
	b := adapters.NewBasis(a.env)
	b.File(path)
	b.File(bundle)
	b.Env("RUBYOPT", "JRUBY_OPTS")
	shim := filepath.Base(filepath.Dir(path)) == "shims"
	if shim {
		a.choices(b, filepath.Dir(filepath.Dir(path)))
	}
	return machine{b.String(), shim}, nil
}

// choices adds the Rubies among which rbenv, asdf and mise choose. root is the home of
// the version manager.
func (a *Adapter) choices(b *adapters.Basis, root string) {
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
	// A shim without a version of its own falls through to the rest of PATH.
	for _, dir := range filepath.SplitList(a.env.Get("PATH")) {
		if filepath.IsAbs(dir) {
			b.IfThere(filepath.Join(dir, "ruby"))
		}
	}
}
