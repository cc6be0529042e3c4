package php_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/php"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func newPHP(set ...string) *php.Adapter {
	return php.New(snapshot.Options{Env: adaptertest.Env(set...)})
}

func TestTasks(t *testing.T) {
	const stan = "phpstan analyse --no-progress --no-interaction --error-format=raw"
	root := adaptertest.Project(t, `
-- bare/composer.json --
{}
-- scripts/composer.json --
{"scripts": {"test": "phpunit", "build": ["a", "b"], "deploy it": "x", "test:unit": "x", "post-install-cmd": "x", "-x": "y"},
 "require-dev": {"phpunit/phpunit": "^10", "squizlabs/php_codesniffer": "*"}}
-- declared/composer.json --
{"require-dev": {"phpunit/phpunit": "^10", "phpstan/phpstan": "^1", "phpbench/phpbench": "^1"}, "config": {"bin-dir": "bin"}}
-- declared/tests/x --
-- untested/composer.json --
{"require-dev": {"phpunit/phpunit": "^10"}}
-- bridge/composer.json --
{"require-dev": {"symfony/phpunit-bridge": "^7"}}
-- bridge/phpunit.xml.dist --
-- bridges/composer.json --
{"require-dev": {"symfony/phpunit-bridge": "^7", "phpunit/phpunit": "^10"}}
-- bridges/tests/x --
-- both/composer.json --
{"config": {"vendor-dir": "deps/"}}
-- both/phpunit.xml --
-- both/phpstan.neon --
-- both/phpcs.xml.dist --
-- fixer/composer.json --
{"require-dev": {"friendsofphp/php-cs-fixer": "*", "pestphp/pest": "*"}}
-- above/phpcs.xml --
-- above/in/composer.json --
{"autoload": {"psr-4": {"A\\": ["src/", "../shared"]}, "files": ["../../one/f.php"]}, "require-dev": {"squizlabs/php_codesniffer": "*"}}
`)
	a := newPHP()
	for dir, want := range map[string]map[string]string{
		"bare": {},
		"scripts": {
			"build": "composer run-script build", "test": "composer run-script test",
			"lint":      "phpcs -q --no-colors --report=emacs --ignore='*/vendor/*' --extensions=php .",
			"format":    "(phpcbf -q --ignore='*/vendor/*' --extensions=php .)",
			"deploy it": "(composer run-script 'deploy it')", "test:unit": "(composer run-script test:unit)",
		},
		"declared": {"test": "phpunit --colors=never tests", "lint": stan, "bench": "(phpbench run)"},
		"untested": {},
		"bridge":   {"test": "simple-phpunit --colors=never"},
		"bridges":  {"test": "phpunit --colors=never tests"},
		"both":     {"test": "phpunit --colors=never", "check": stan, "lint": "phpcs -q --no-colors --report=emacs", "format": "(phpcbf -q)"},
		"fixer": {
			"test": "pest --colors=never", "lint": "php-cs-fixer fix --dry-run --diff --show-progress=none", "format": "(php-cs-fixer fix)",
		},
		"above/in": {"lint": "phpcs -q --no-colors --report=emacs", "format": "(phpcbf -q)"},
	} {
		if d := cmp.Diff(want, adaptertest.Runs(t, a, filepath.Join(root, dir))); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
	}
	for dir, want := range map[string]string{"declared": "bin", "both": "deps/bin", "scripts": "vendor/bin"} {
		for _, task := range adaptertest.Tasks(t, a, filepath.Join(root, dir)).Tasks {
			if d := cmp.Diff([]string{want}, task.Path); d != "" {
				t.Errorf("%s: %s: %s", dir, task.Name, d)
			}
		}
	}
	lint := adaptertest.Task(t, a, root+"/above/in", "lint")
	want := []string{root + "/above/phpcs.xml", root + "/above/shared", root + "/one/f.php"}
	if d := cmp.Diff(want, lint.ExtraInputs, cmpopts.SortSlices(strings.Compare)); d != "" {
		t.Error(d)
	}
}

func TestAliases(t *testing.T) {
	root := adaptertest.Project(t, `
-- a/composer.json --
{"require-dev": {"phpstan/phpstan": "1", "phpunit/phpunit": "11"}, "scripts": {"stan": "phpstan", "phpstan": "phpstan analyse", "cs": "phpcs", "pest": ["pest", "x"]}}
-- a/tests/x.php --
-- b/composer.json --
{"scripts": {"check": "x", "analyse": "y", "lint": "z", "phpcs": "y"}}
`)
	for dir, want := range map[string][]string{
		"a": {"check=composer run-script phpstan (phpstan analyse)", "lint=composer run-script cs (phpcs)", "test=composer run-script pest (pest && x)"},
		"b": {"check=composer run-script check (x)", "lint=composer run-script lint (z)"},
	} {
		var got []string
		for _, task := range adaptertest.Tasks(t, newPHP(), filepath.Join(root, dir)).Tasks {
			if !task.Script {
				got = append(got, task.Name+"="+task.Run+" ("+task.Body+")")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
}

func TestLinksAndMembers(t *testing.T) {
	root := adaptertest.Project(t, `
-- app/composer.json --
{
  "name": "x/app",
  "require": {"x/lib": "*", "far/away": "^1"},
  "require-dev": {"X/Tools": "*"},
  "repositories": {
    "own": {"type": "path", "url": "packages/{lib,base}"},
    "more": {"type": "path", "url": "../shared/*"},
    "packagist.org": false
  }
}
-- app/packages/lib/composer.json --
{"name": "x/lib", "require": {"x/base": "*"}, "require-dev": {"x/unused": "*"}}
-- app/packages/base/composer.json --
{"name": "x/base"}
-- shared/tools/composer.json --
{"name": "x/tools", "require": {"x/lib": "*"}}
-- shared/unused/composer.json --
{"name": "x/unused"}
-- shared/broken/composer.json --
{
-- shared/.hidden/composer.json --
{"name": "x/hidden"}
`)
	a := newPHP()
	want := []adapters.Link{
		{Dir: "app/packages/base", File: "app/composer.json", Line: 3},
		{Dir: "app/packages/lib", File: "app/composer.json", Line: 3},
		{Dir: "app/packages/base", File: "app/composer.json", Line: 4, Dev: true, Private: true},
		{Dir: "app/packages/lib", File: "app/composer.json", Line: 4, Dev: true, Private: true},
		{Dir: "shared/tools", File: "app/composer.json", Line: 4, Dev: true, Private: true},
	}
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/app")); d != "" {
		t.Error(d)
	}
	members := adaptertest.Tasks(t, a, root+"/app").Members
	if d := cmp.Diff([]string{root + "/app/packages/base", root + "/app/packages/lib"}, members); d != "" {
		t.Error(d)
	}
}

func TestMalformedManifest(t *testing.T) {
	root := adaptertest.Project(t, `
-- a/composer.json --
{
  "require": {"php": 8},
  "scripts": ["x"],
  "name": {}
}
-- b/composer.json --
{
  "require": {
    "php": "^8",,
  }
}
-- c/composer.json --
[]
`)
	for dir, want := range map[string]string{
		"a": "a/composer.json:2:22: \"require.php\" is a number, expected a version in quotes\n" +
			"a/composer.json:3:14: \"scripts\" is a list, expected an object\n" +
			"a/composer.json:4:11: \"name\" is an object, expected a string",
		"b": "b/composer.json:3:",
		"c": "c/composer.json:1:1: \"composer.json\" is a list, expected an object",
	} {
		_, err := newPHP().Tasks(t.Context(), filepath.Join(root, dir))
		if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", dir, got)
		}
	}
}

func TestPins(t *testing.T) {
	root := adaptertest.Project(t, `
-- .tool-versions --
php 8.1.2
-- file/.php-version --
8.2
-- file/composer.json --
{"require": {"php": "^8.0"}}
-- required/composer.json --
{
 "require": {"php": "^8.0"}
}
-- hidden/composer.json --
{"require": {"php": "^8.0"}, "config": {"platform": {"php": "7.4"}}}
-- none/composer.json --
{}
`)
	a := newPHP()
	for dir, want := range map[string]adapters.Toolchain{
		"file":     {Tool: "php", Version: "8.2", File: "file/.php-version", Line: 1},
		"required": {Tool: "php", Version: "^8.0", File: "required/composer.json", Line: 2, Strict: true},
		"hidden":   {Tool: "php", Version: "^8.0", File: "hidden/composer.json", Line: 1},
		"none":     {Tool: "php", Version: "8.1.2", File: ".tool-versions", Line: 1},
	} {
		got, err := a.RequiredToolchain(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		got.File = adaptertest.Relative(root, got.File)
		if d := cmp.Diff(want, *got); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
	}
	for _, test := range []struct {
		version, file string
		ok            bool
	}{
		{"^8.2", "composer.json", true}, {"8.2", "composer.json", false}, {"dev-x", "composer.json", true},
		{"8.2", ".php-version", true}, {"8", ".php-version", true}, {"8.2.3", ".php-version", true}, {"8.1", ".php-version", false},
		{"8.20", "bento.toml", false}, {">=8.3", "bento.toml", false}, {"rubbish", "bento.toml", false},
	} {
		v := a.CheckPin(adapters.Toolchain{Version: test.version, File: "/w/" + test.file}, "php 8.2.3\nCore\nComposer version 2\n")
		if v.OK != test.ok || v.Found != "8.2.3" || v.OK != (v.Hint == "") {
			t.Errorf("%s in %s: %+v", test.version, test.file, v)
		}
	}
}

func TestToolchain(t *testing.T) {
	adaptertest.Drive(t, "php", "composer")
	a := newPHP()
	dir := t.TempDir()
	got, err := a.ToolchainFingerprint(t.Context(), dir)
	if err != nil || !strings.HasPrefix(got, "php ") || !strings.Contains(got, "\nCore ") || !strings.Contains(got, "\nComposer version ") {
		t.Errorf("%v: %s", err, got)
	}
	basis, err := a.ToolchainBasis(t.Context(), dir)
	if err != nil || basis == "" {
		t.Errorf("%v: %s", err, basis)
	}
	other, err := newPHP("PHPRC=/elsewhere").ToolchainBasis(t.Context(), dir)
	if err != nil || other == basis {
		t.Errorf("PHPRC is no matter: %v", err)
	}
	var missing *adapters.MissingTool
	if _, err := newPHP("PATH=/nowhere").ToolchainBasis(t.Context(), dir); !errors.As(err, &missing) || missing.Tool != "php" || missing.Hint == "" {
		t.Errorf("without PHP: %v", err)
	}
}

// A tool that prints a warning in front of its version is understood.
func TestWarningsInFrontOfTheVersion(t *testing.T) {
	root := adaptertest.Project(t, `
-- php --
#!/bin/sh
echo 'PHP Warning:  PHP Startup: Unable to load dynamic library'
echo 'php 8.9.1'
echo 'Core 8.9.1'
-- composer --
#!/bin/sh
echo 'Deprecation Notice: php is old in phar:///x'
echo 'Composer version 2.9.9 2026-01-01'
`)
	for _, tool := range []string{"php", "composer"} {
		if err := os.Chmod(filepath.Join(root, tool), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := newPHP("PATH="+root+":/usr/bin:/bin").ToolchainFingerprint(t.Context(), root)
	if want := "php 8.9.1\nCore 8.9.1\nComposer version 2.9.9 2026-01-01\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

// TestFixingAlias: a script that rewrites sources stands for no lifecycle task, under whatever alias.
func TestFixingAlias(t *testing.T) {
	for body, stands := range map[string]bool{
		"pint --test": true, "vendor/bin/pint --config x --test": true, "php-cs-fixer fix --dry-run --diff": true, "phpcs src": true, "rector process --dry-run": true, "php-cs-fixer check": true, "ecs check": true,
		"pint": false, "vendor/bin/pint --config x": false, "php-cs-fixer fix": false, "phpcs && phpcbf": false, "rector": false, "ecs check --fix": false, "npx prettier --write .": false,
	} {
		root := adaptertest.Tree(t, "composer.json", `{"scripts": {"cs": "`+body+`", "build": "x"}}`)
		has := slices.ContainsFunc(adaptertest.Tasks(t, newPHP(), root).Tasks, func(task adapters.Task) bool { return task.Name == "lint" })
		if has != stands {
			t.Errorf("%q stands for lint: %t, want %t", body, has, stands)
		}
	}
	root := adaptertest.Tree(t, "composer.json", `{"scripts": {"lint": "pint"}}`)
	if got := adaptertest.Task(t, newPHP(), root, "lint").Run; got != "composer run-script lint" { // its own name is the author's word
		t.Error(got)
	}
}

// TestAliasOrder: of the scripts that may stand for a missing one the first in order does.
func TestAliasOrder(t *testing.T) {
	for name, order := range map[string][]string{
		"check": {"phpstan", "stan", "analyse"}, "lint": {"phpcs", "cs"}, "test": {"phpunit", "pest"},
	} {
		for i, first := range order {
			scripts := `"` + strings.Join(order[i:], `": "x", "`) + `": "x"`
			root := adaptertest.Tree(t, "composer.json", `{"scripts": {`+scripts+`}}`)
			if got := adaptertest.Task(t, newPHP(), root, name).Run; got != "composer run-script "+first {
				t.Errorf("%s of %s: %s", name, scripts, got)
			}
		}
	}
}
