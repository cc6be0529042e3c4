// Package php is the adapter "php": packages of Composer.
//
// It reads composer.json and composer.lock itself, without composer, so that a plan starts
// no process.
package php

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/php/composer"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// identity is an ingredient of every key. It changes when a change to a recipe or a reader
// of manifests changes what a task does.
const identity = "builtin:5"

const (
	manifestFile = "composer.json"
	lockFile     = "composer.lock"
)

// Adapter is the adapter "php". It is safe for concurrent use.
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	probe.Versions
	env       adapters.Environ // of child processes
	asker     *probe.Asker
	manifest  *adapters.Manifest
	manifests *snapshot.Parsed[*composer.Manifest]
	locks     *snapshot.Parsed[*composer.Lock]
	seen      snapshot.Machine[machine]
	scripts   snapshot.Scripts
}

// New returns the adapter. Composer downloads no PHP, so AllowDownload has no effect.
func New(o snapshot.Options) *Adapter {
	a := &Adapter{
		Source:    o.Source(),
		manifest:  newManifest(),
		manifests: snapshot.NewParsed(composer.ParseManifest),
		locks:     snapshot.NewParsed(composer.ParseLock),
		scripts:   o.Scripts,
	}
	pass := append(passEnv(), a.manifest.SteeringEnv...)
	a.env = o.Env.Strict(pass...).With(a.manifest.SetEnv)
	a.asker = probe.New(o.Source(), a.env)
	a.Versions = a.asked
	return a
}

func newManifest() *adapters.Manifest {
	return &adapters.Manifest{
		ProtocolVersion:  adapters.ProtocolVersion,
		AdapterID:        "php",
		DisplayName:      "php",
		Projects:         []string{manifestFile},
		Inside:           insideRule,
		FingerprintFiles: []string{manifestFile, lockFile, ".php-version", ".tool-versions"},
		Capabilities:     adapters.BuiltinCapabilities(),
		// The same parser reads "file:line" of phpstan and phpcs.
		DiagnosticHooks: map[string]adapters.Hook{
			"check": {Parser: "phpstan"}, "lint": {Parser: "phpstan"}, "test": {Parser: "phpunit"},
		},
		DerivedPaths: []string{
			"vendor/**", ".phpunit.cache/**", ".phpunit.result.cache", ".php-cs-fixer.cache", ".phpcs-cache", ".pint.cache",
		},
		Parallel:    8,
		Identity:    identity,
		PassEnv:     passEnv(),
		SteeringEnv: steeringEnv(),
		SetEnv: map[string]string{
			"COMPOSER_ALLOW_SUPERUSER":     "1", // otherwise composer asks, or leaves plugins out
			"COMPOSER_NO_INTERACTION":      "1",
			"COMPOSER_PROCESS_TIMEOUT":     "0", // bento limits the time of a task itself
			"COMPOSER_FUND":                "0",
			"COMPOSER_DISABLE_XDEBUG_WARN": "1",
		},
	}
}

// passEnv returns homes, caches, credentials and version managers.
func passEnv() []string {
	return []string{
		"COMPOSER_HOME", "COMPOSER_CACHE_DIR", "COMPOSER_AUTH", "COMPOSER_DISABLE_NETWORK", "COMPOSER_MIRROR_PATH_REPOS",
		"COMPOSER_HTACCESS_PROTECT", "COMPOSER_MEMORY_LIMIT", "COMPOSER_MAX_PARALLEL_HTTP", "COMPOSER_IPRESOLVE",
		"PHPENV_*", "ASDF_*", "MISE_*", "PHPBREW_*", "GIT_SSH", "GIT_SSH_COMMAND",
	}
}

// steeringEnv returns the variables that change the outputs of the tools.
func steeringEnv() []string {
	return []string{
		"PHPRC", "PHP_INI_SCAN_DIR", "XDEBUG_MODE", "XDEBUG_CONFIG", "PHP_CS_FIXER_*",
		"COMPOSER", "COMPOSER_VENDOR_DIR", "COMPOSER_BIN_DIR", "COMPOSER_ROOT_VERSION",
		"COMPOSER_IGNORE_PLATFORM_REQ", "COMPOSER_IGNORE_PLATFORM_REQS", "COMPOSER_NO_DEV", "COMPOSER_PREFER_STABLE",
		"APP_ENV", "SYMFONY_ENV", "SYMFONY_DEPRECATIONS_HELPER",
	}
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return a.manifest }

// Detect implements adapters.Adapter.
func (a *Adapter) Detect(_ context.Context, dir string) (bool, error) {
	return a.Files(dir).IsFile(manifestFile), nil
}
