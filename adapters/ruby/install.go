package ruby

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// unreachable is the exit status of Bundler when it cannot fetch from an index.
const unreachable = 17

// InstallScope returns the directory of the Gemfile.
func (a *Adapter) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	if p.file == nil {
		return adapters.Scope{Dir: dir, Nothing: true, Reads: f.Reads()}, nil
	}
	s := adapters.Scope{
		Dir:     p.dir,
		Command: p.command(),
		Nothing: p.isEmpty(),
		Files:   append(slices.Clone(p.file.Files), lockOf(p.file.Path), filepath.Join(p.dir, ".bundle", "config"), filepath.Join(p.dir, ".ruby-version")),
	}
	for _, g := range p.gems {
		s.Files = append(s.Files, gemspecsIn(f, g.dir)...)
	}
	for _, spec := range p.file.Specs {
		s.Files = append(s.Files, gemspecsIn(f, spec.Dir)...)
	}
	slices.Sort(s.Files)
	s.Files = slices.Compact(s.Files)
	if made := installedTo(f, p.dir); made != "" {
		s.Made = []string{made}
	}
	s.Reads = f.Reads()
	return s, nil
}

// command returns the command of the install, for messages and its record.
func (b *bundle) command() string {
	if b.lock == "" {
		return "bundle install"
	}
	return "BUNDLE_FROZEN=true bundle install"
}

// installedTo returns where the settings beside the Gemfile install gems, relative to it;
// "" for a directory that projects share.
func installedTo(f *snapshot.Files, dir string) string {
	data, err := f.ReadIfExists(filepath.Join(dir, ".bundle", "config"))
	if err != nil {
		return ""
	}
	made := ""
	for line := range bytes.Lines(data) {
		key, value, _ := strings.Cut(string(line), ":")
		value = strings.Trim(value, " \t\r\n\"'")
		switch {
		case key == "BUNDLE_PATH":
			made = filepath.Clean(value)
		case key == "BUNDLE_DEPLOYMENT" && value == "true" && made == "":
			made = "vendor/bundle"
		}
	}
	if !filepath.IsLocal(made) {
		return ""
	}
	return made
}

// Install runs Bundler, frozen where a lockfile exists. The user's settings choose the
// directory of gems: another one would hide installed gems of the system.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Now().Files(req.DishDir)
	p, err := a.open(f)
	if err != nil || p.file == nil {
		return err
	}
	i := installer{leave: req.Leave(), dir: p.dir, env: req.Env.With(a.manifest.SetEnv).With(map[string]string{"BUNDLE_GEMFILE": p.file.Path}), log: log}
	if p.lock != "" {
		i.env = i.env.With(map[string]string{"BUNDLE_FROZEN": "true"})
	}
	if err := a.stayWith(ctx, &i); err != nil {
		return err
	}
	args := []string{"install"}
	if req.Force && installedTo(f, p.dir) != "" {
		args = append(args, "--redownload")
	}
	err = i.run(ctx, args...)
	var failed *adapters.InstallError
	if p.lock == "" && errors.As(err, &failed) && failed.ExitStatus == unreachable {
		if log != nil {
			log(adapters.Log{Level: "warn", Message: "the index cannot be reached: gems that are installed are taken, if they are enough"})
		}
		if i.run(ctx, "install", "--local") == nil {
			return nil
		}
	}
	return err
}

// stayWith stops Bundler from fetching and starting the version of itself in the lockfile.
func (a *Adapter) stayWith(ctx context.Context, i *installer) error {
	if a.download || i.env.Get("BUNDLER_VERSION") != "" {
		return nil
	}
	version, err := ask(ctx, probe.New(a.Source, i.env), probe.BundlerVersion, probe.At{Dir: i.dir, Leave: i.leave}, i.env)
	var missing *adapters.MissingTool
	if errors.As(err, &missing) || ctx.Err() != nil {
		return err
	}
	if err == nil {
		i.env = i.env.With(map[string]string{"BUNDLER_VERSION": version, "BUNDLE_VERSION": "system"})
	}
	return nil
}

// installer runs Bundler.
type installer struct {
	leave adapters.Leave
	dir   string
	env   adapters.Environ
	log   adapters.LogFunc
}

func (i *installer) run(ctx context.Context, args ...string) error {
	path, err := findBundle(i.env)
	if err != nil {
		return err
	}
	words := []string{"bundle"}
	for _, arg := range args {
		words = append(words, quote(arg))
	}
	return probe.Run(ctx, i.leave, probe.Work{
		Argv: append([]string{path}, args...), Dir: i.dir, Env: i.env, Shown: strings.Join(words, " "),
	}, i.log)
}

// Add runs `bundle add`, which writes Gemfile and lockfile. The next install installs the
// gems.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	p, err := a.open(a.Now().Files(req.DishDir))
	if err != nil {
		return err
	}
	if p.file == nil {
		return &adapters.Unsupported{Adapter: "ruby", What: "adding gems without a Gemfile", Hint: "make one with \"bundle init\""}
	}
	for _, name := range req.Packages {
		if !isGemName(name) {
			return &adapters.Unsupported{Adapter: "ruby", What: "adding " + quote(name), Hint: "name the gem without a version, and write the version into the Gemfile by hand"}
		}
	}
	args := []string{"add", "--skip-install"}
	if req.Dev {
		args = append(args, "--group", "development")
	}
	i := installer{leave: req.Leave(), dir: p.dir, env: req.Env.With(a.manifest.SetEnv).With(map[string]string{"BUNDLE_GEMFILE": p.file.Path, "BUNDLE_FROZEN": "false"}), log: log}
	if err := a.stayWith(ctx, &i); err != nil {
		return err
	}
	return i.run(ctx, slices.Concat(args, req.Packages)...)
}

func isGemName(name string) bool {
	other := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.", r))
	}
	return name != "" && name[0] != '-' && name[0] != '.' && strings.IndexFunc(name, other) < 0
}

// Scaffold implements adapters.Scaffolder: a gem with a test.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	return starter(name), nil
}
