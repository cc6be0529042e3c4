package main

import (
	"os"
	"path/filepath"
)

func phpToolchains() []toolchain {
	return []toolchain{{
		id: "php", needs: []string{"php", "composer", "phpunit"}, version: []string{"php", "--version"},
		env:     func(k *kitchen) []string { return append(phpLinter(k), "COMPOSER_DISABLE_NETWORK=1") },
		tasks:   []string{"lib:lint", "lib:test", "app:lint", "app:test"},
		library: edit{"lib/src/Greeter.php", "'hello ' . $name", "'hello' . ' ' . $name"},
		program: edit{"app/src/App.php", "greet('app')", "greet('the app')"},
		// The lockfile now names another source of the library.
		lock: func(k *kitchen) {
			k.make(edit{"app/composer.lock", `"reference": "`, `"reference": "0000`})
		},
		locked: []string{"app"},
		test: breakage{
			edit: edit{"lib/tests/GreeterTest.php", "'hello a'", "'hello b'"},
			task: "lib:test", says: "GreeterTest::testGreetsByName", place: "lib/tests/GreeterTest.php:12",
		},
		compile: breakage{
			edit: edit{"lib/src/Greeter.php", "$name;", "$name"},
			task: "lib:test", says: "syntax error", place: "lib/src/Greeter.php:10",
		},
		installed: []string{"lib/vendor", "app/vendor"},
		begun:     "*/vendor",
		pin:       edit{"app/composer.json", `"php": ">=7.4"`, `"php": ">=99.1"`},
		asks:      "99.1",
	}}
}

// phpLinter returns the directory of a phpcs for PATH, where none is installed: not every release of Debian has one.
// PHP itself lints the files.
func phpLinter(k *kitchen) []string {
	if _, err := k.env.LookPath("phpcs"); err == nil {
		return nil
	}
	phpcs := filepath.Join(k.home, "bin", "phpcs")
	k.write("$HOME/bin/phpcs", "#!/bin/sh\nfind . -name vendor -prune -o -name '*.php' -print0 | xargs -0 -n 1 php -l\n")
	if err := os.Chmod(phpcs, 0o755); err != nil {
		k.t.Fatal(err)
	}
	return []string{"PATH=" + filepath.Dir(phpcs)}
}
