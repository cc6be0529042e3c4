package php

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
)

// machine is the part of the basis that all directories share.
type machine struct {
	basis string
	shim  bool // php is a shim of a version manager
}

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(_ context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.Source, a.look)
	if err != nil || !seen.shim {
		return seen.basis, err
	}
	b := probe.NewBasis(a.env)
	b.Above(dir, append(probe.ManagerFiles(), ".php-version")...)
	b.Home(".phpenv/version", ".phpenv/versions", ".asdf/installs/php", ".local/share/mise/installs/php", ".tool-versions", ".config/mise/config.toml")
	return seen.basis + b.String(), nil
}

func (a *Adapter) look() (machine, error) {
	b := probe.NewBasis(a.env)
	php, err := b.Tool("php")
	if err != nil {
		return machine{}, a.missing(err)
	}
	if _, err := b.Tool("composer"); err != nil {
		return machine{}, a.missing(err)
	}
	b.Env("PHPRC", "PHP_INI_SCAN_DIR", "PHPENV_ROOT", "PHPENV_VERSION", "ASDF_PHP_VERSION", "MISE_PHP_VERSION")
	for _, path := range settings(php) {
		b.IfThere(path)
	}
	return machine{b.String(), strings.Contains(php, "/shims/")}, nil
}

// settings returns the paths where distributions keep php.ini and the directory of files that enable
// extensions.
func settings(php string) []string {
	list := []string{"/etc/php.ini", "/etc/php.d", "/usr/local/etc/php/php.ini", "/usr/local/etc/php/conf.d"}
	if real, err := filepath.EvalSymlinks(php); err == nil {
		base := filepath.Base(real)
		debian := filepath.Join("/etc/php", strings.TrimPrefix(base, "php"), "cli")
		prefix := filepath.Dir(filepath.Dir(real))
		list = append(list, filepath.Join(debian, "php.ini"), filepath.Join(debian, "conf.d"),
			filepath.Join(prefix, "etc", "php.ini"), filepath.Join(prefix, "etc", "conf.d"), filepath.Join(prefix, "lib", "php.ini"))
	}
	return list
}

// asked returns the version of PHP with its extensions, and that of Composer.
func (a *Adapter) asked(ctx context.Context, at probe.At) (string, error) {
	php, err := a.ask(ctx, probe.PHPVersion, at.Of("php"), "php ")
	if err != nil {
		return "", err
	}
	composer, err := a.ask(ctx, probe.ComposerVersion, at.Of("composer"), "Composer ")
	if err != nil {
		return "", err
	}
	return php + "\n" + firstLine(composer) + "\n", nil
}

// ask returns a tool's answer, from the line that begins with a word on: warnings of PHP
// may come before it.
func (a *Adapter) ask(ctx context.Context, q probe.Question, at probe.At, begin string) (string, error) {
	path, err := a.env.LookPath(at.Path)
	if err != nil {
		return "", a.missing(err)
	}
	output, err := a.asker.Ask(ctx, q, at.Of(path))
	if err != nil {
		return "", err
	}
	text, ok := output.From(begin)
	if !ok {
		return "", fmt.Errorf("%s: no version in its answer %.80q", at.Path, output.Out)
	}
	return text, nil
}

// missing adds how to install a tool.
func (a *Adapter) missing(err error) error {
	var m *adapters.MissingTool
	if errors.As(err, &m) && m.Tool == "composer" {
		return adapters.Packages{
			Apt: "composer", Dnf: "composer", Zypper: "php-composer2", Pacman: "composer", Apk: "composer", Brew: "composer",
			Else: "see https://getcomposer.org/download",
		}.Missing(err, a.env)
	}
	return adapters.Packages{
		Apt: "php-cli", Dnf: "php-cli", Zypper: "php-cli", Pacman: "php", Apk: "php", Brew: "php",
		Else: "see https://www.php.net/manual/en/install.php",
	}.Missing(err, a.env)
}
