package main

func pythonToolchains() []toolchain {
	return []toolchain{{
		id: "python", needs: []string{"python3"}, version: []string{"python3", "--version"},
		tasks:   []string{"lib:build", "lib:test", "app:test"},
		library: edit{"lib/src/example_lib/__init__.py", "text {value}", "text {value!s}"},
		program: edit{"app/app.py", "LINES = [describe(1)", "LINES = [describe( 1)"},
		test: breakage{
			edit: edit{"lib/tests/test_lib.py", `describe("five") == "text five"`, `describe("five") == "text six"`},
			task: "lib:test", says: "test_numbers_are_told_apart",
		},
		compile: breakage{
			edit: edit{"lib/src/example_lib/__init__.py", "import six", "import six six"},
			task: "lib:test", says: "SyntaxError",
		},
		installed: []string{"lib/.venv/bin/python", "app/.venv/bin/python"},
		begun:     "app/.venv/bin/pip",
		pin:       edit{"bento.toml", "", "[toolchain]\npython = \"9.9.9\"\n"},
		asks:      "9.9.9",
	}}
}
