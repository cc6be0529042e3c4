// Package ruby is the adapter "ruby": projects that Bundler installs (https://bundler.io),
// alone or as gems on disk that share one Gemfile.
//
// Gemfiles, gemspecs and Rakefiles are programs. The adapter reads them and never runs
// them, so that a plan starts no process. Values that they compute are known only from
// Gemfile.lock.
package ruby

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/probe"
)

// Adapter is the adapter of Bundler, id ruby. It is safe for concurrent use.
type Adapter struct {
	snapshot.Source
	probe.Versions
	env      adapters.Environ
	download bool
	manifest adapters.Manifest
	bundles  snapshot.Memo[*bundle]
	seen     snapshot.Machine[machine]
	answers  probe.Memory
	scripts  snapshot.Scripts
}

// New returns the adapter. It finds tools in o.Env and passes it to probes.
func New(o snapshot.Options) *Adapter {
	a := &Adapter{Source: o.Source(), env: o.Env, download: o.AllowDownload, scripts: o.Scripts, manifest: adapters.Manifest{
		ProtocolVersion: adapters.ProtocolVersion,
		AdapterID:       "ruby",
		DisplayName:     "ruby",
		Projects:        []string{"Gemfile", "gems.rb", "*.gemspec"},
		Inside:          insideRule,
		EmbedsIn:        []string{".gemspec", "Gemfile", "gems.rb"},
		FingerprintFiles: []string{
			"Gemfile", "Gemfile.lock", "gems.rb", "gems.locked", "*.gemspec", "Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb", ".ruby-version", ".tool-versions", ".bundle/config",
		},
		Capabilities: adapters.BuiltinCapabilities(),
		DiagnosticHooks: map[string]adapters.Hook{
			"build": {Parser: adapters.ParserPlugin},
			"test":  {Parser: adapters.ParserPlugin},
			"lint":  {Parser: "rubocop"},
		},
		DerivedPaths: []string{".bundle/**", "vendor/bundle/**", "pkg/**", "coverage/**", ".yardoc/**", ".rspec_status"},
		Parallel:     64,
		Finder:       finder(),
		Identity:     "ruby/4",
		PassEnv:      passEnv(),
		SteeringEnv:  steeringEnv(),
		SetEnv:       map[string]string{"BUNDLE_SILENCE_ROOT_WARNING": "1"},
	}}
	a.Versions = a.asked
	return a
}

// finder describes ruby: Bundler evaluates the gemspecs of all members in each process. What the code of a project looks at
// in the directories of other members is not observed, but for files that it reads.
func finder() *adapters.Finder {
	return &adapters.Finder{Programs: []string{"ruby", "bundle", "bundler"}, Looks: []string{"Rakefile"}}
}

// passEnv returns homes, settings, indexes and version managers.
func passEnv() []string {
	return []string{
		"BUNDLE_*", "GEM_*", "RUBYGEMS_*", "RBENV_*", "ASDF_*", "MISE_*", "CHRUBY_*", "RUBY_ROOT", "RUBIES", "rvm_*", "RUBY_YJIT_ENABLE",
		"NETRC", "MAKEFLAGS",
	}
}

// steeringEnv returns the variables that change the outputs of the tools.
func steeringEnv() []string {
	return []string{
		"RUBYOPT", "RUBYLIB", "RAILS_ENV", "RACK_ENV", "HANAMI_ENV", "JRUBY_OPTS", "TRUFFLERUBYOPT", "SPEC_OPTS", "TESTOPTS", "TEST", "SPEC",
		"MT_CPU", "SEED", "BUNDLER_VERSION", "BUNDLE_WITH", "BUNDLE_WITHOUT", "BUNDLE_PATH", "SOURCE_DATE_EPOCH", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS",
	}
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return &a.manifest }

// Detect implements adapters.Adapter: a directory with a Gemfile or a gem.
func (a *Adapter) Detect(ctx context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	_, ok := gemfileIn(f, dir)
	return ok || len(gemspecsIn(f, dir)) > 0, nil
}

// names returns the names of Gemfiles and their lockfiles.
func names() [][2]string {
	return [][2]string{{"Gemfile", "Gemfile.lock"}, {"gems.rb", "gems.locked"}}
}

// gemfileIn returns the Gemfile of a directory.
func gemfileIn(f *snapshot.Files, dir string) (path string, ok bool) {
	for _, n := range names() {
		if path := filepath.Join(dir, n[0]); f.IsFile(path) {
			return path, true
		}
	}
	return "", false
}

// lockOf returns the path of a Gemfile's lockfile.
func lockOf(gemfile string) string {
	for _, n := range names() {
		if filepath.Base(gemfile) == n[0] {
			return filepath.Join(filepath.Dir(gemfile), n[1])
		}
	}
	return gemfile + ".lock"
}

// gemspecsIn returns the paths of the gemspecs of a directory.
func gemspecsIn(f *snapshot.Files, dir string) []string {
	var paths []string
	for _, e := range f.List(dir) {
		if strings.HasSuffix(e.Name(), ".gemspec") && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// project is a directory with its Gemfile.
type project struct {
	*bundle
	here string
}

// open reads the project in f's directory.
func (a *Adapter) open(f *snapshot.Files) (*project, error) {
	b, ok, err := a.bundleAbove(f)
	if err != nil {
		return nil, err
	}
	if !ok {
		// A gem on its own, or dish.toml declares the project.
		b = &bundle{dir: f.Dir(), declared: make(map[string]bool)}
		b.declare(f, f.Dir(), true)
	}
	return &project{bundle: b, here: f.Dir()}, nil
}

// bundleAbove returns the Gemfile of f's directory, or the nearest above if the directory
// is one of its gems.
func (a *Adapter) bundleAbove(f *snapshot.Files) (*bundle, bool, error) {
	for dir := range f.Ancestors() {
		if _, ok := gemfileIn(f, dir); !ok {
			continue
		}
		b, err := a.bundles.Get(f, dir, readBundle)
		if err != nil {
			return nil, false, err
		}
		ok := dir == f.Dir() || slices.ContainsFunc(b.gems, func(g pathGem) bool { return g.dir == f.Dir() })
		return b, ok, nil
	}
	return nil, false, nil
}

// isMember reports whether the Gemfile is in a directory above.
func (p *project) isMember() bool { return p.here != p.dir }

// above returns a path beside the Gemfile, relative to the project.
func (p *project) above(path string) string {
	rel, err := filepath.Rel(p.here, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// diagnosticAt returns a diagnostic for a place in a manifest.
func diagnosticAt(file string, line int, severity diagnostics.Severity, rule, message, hint string) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: file, Line: line, Severity: severity, Rule: rule, Source: diagnostics.Source, Message: message, Hint: hint,
	}
}
