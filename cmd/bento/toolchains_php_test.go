package main

func phpToolchains() []toolchain {
	return []toolchain{{
		id: "php", needs: []string{"php", "composer", "phpunit", "phpcs"}, version: []string{"php", "--version"},
		env:     func(*kitchen) []string { return []string{"COMPOSER_DISABLE_NETWORK=1"} },
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
