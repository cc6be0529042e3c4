package main

import "github.com/bentobuild/bento/adapters/adaptertest"

func pythonToolchains() []toolchain {
	return []toolchain{pipToolchain(), poetryToolchain(), uvToolchain()}
}

func pipToolchain() toolchain {
	return toolchain{
		id: "python", needs: []string{"python3"}, version: []string{"python3", "-m", "pip", "--version"},
		tasks:   []string{"lib:build", "lib:lint", "lib:test", "app:lint", "app:test"},
		library: edit{"lib/src/example_lib/__init__.py", `f"number {value}"`, `"number " + str(value)`},
		program: edit{"app/app.py", "LINES = [describe(1), ", "LINES = [\n    describe(1), "},
		test: breakage{
			edit: edit{"lib/tests/test_lib.py", `"number 5"`, `"number 6"`},
			task: "lib:test", says: "test_numbers_are_told_apart", place: "lib/tests/test_lib.py:5",
		},
		compile: breakage{
			edit: edit{"lib/src/example_lib/__init__.py", "isinstance(value,", "isinstance(values,"},
			task: "lib:lint", says: "F821", place: "lib/src/example_lib/__init__.py:5",
		},
		installed: []string{"app/.venv"},
		begun:     "app/.venv/bin/python", // pip is still missing
		pin:       edit{"lib/pyproject.toml", `">=3.9"`, `">=3.97"`},
		asks:      ">=3.97",
	}
}

func poetryToolchain() toolchain {
	return toolchain{
		id: "python", variant: "poetry", fixture: "python-poetry",
		needs: []string{"python3", "poetry"}, version: []string{"poetry", "--version"},
		env: func(*kitchen) []string { return adaptertest.Certificates() },
		prepare: func(k *kitchen) {
			index := adaptertest.Index(k.t)
			for _, dir := range []string{"lib", "app"} {
				k.tool(dir, "poetry", "source", "add", "--priority=primary", "index", index)
				k.tool(dir, "poetry", "lock", "--no-interaction")
			}
		},
		tasks:   []string{"lib:build", "lib:lint", "lib:test", "app:build", "app:lint", "app:test"},
		library: edit{"lib/src/example_lib/__init__.py", `f"<{value}>"`, `"<" + str(value) + ">"`},
		program: edit{"app/src/example_app/__init__.py", "describe(idna.encode(name).decode())", "describe(\n        idna.encode(name).decode()\n    )"},
		lock: func(k *kitchen) {
			k.make(edit{"app/pyproject.toml", "idna>=3", "idna==3.9"})
			k.tool("app", "poetry", "lock", "--no-interaction")
		},
		locked: []string{"app"},
		test: breakage{
			edit: edit{"app/tests/test_app.py", "<xn--bcher-kva>", "<bcher>"},
			task: "app:test", says: "test_the_library_is_used", place: "app/tests/test_app.py:5",
		},
		compile: breakage{
			edit: edit{"lib/src/example_lib/__init__.py", "six.ensure_str", "sixes.ensure_str"},
			task: "lib:lint", says: "F821", place: "lib/src/example_lib/__init__.py:5",
		},
		installed: []string{"app/.venv"},
		begun:     "app/.venv/bin/ruff",
		pin:       edit{"lib/pyproject.toml", `">=3.9,<4.0"`, `">=3.97,<4.0"`},
		asks:      ">=3.97,<4.0",
	}
}

func uvToolchain() toolchain {
	return toolchain{
		id: "python-uv", needs: []string{"python3", "uv"}, version: []string{"uv", "--version"},
		prepare: func(k *kitchen) { k.tool(".", "uv", "lock") },
		tasks:   []string{"lib:build", "lib:lint", "lib:test", "app:build", "app:lint", "app:test"},
		library: edit{"packages/lib/src/example_lib/__init__.py", `f"<{value}>"`, `"<" + str(value) + ">"`},
		program: edit{"packages/app/src/example_app/__init__.py", "describe(idna.encode(name).decode())", "describe(\n        idna.encode(name).decode()\n    )"},
		lock:    func(k *kitchen) { k.tool(".", "uv", "lock", "--upgrade-package", "idna==3.9") },
		locked:  []string{"app"},
		test: breakage{
			edit: edit{"packages/app/tests/test_app.py", "<xn--bcher-kva>", "<bcher>"},
			task: "app:test", says: "test_the_library_is_used", place: "packages/app/tests/test_app.py:5",
		},
		compile: breakage{
			edit: edit{"packages/lib/src/example_lib/__init__.py", "six.ensure_str", "sixes.ensure_str"},
			task: "lib:lint", says: "F821", place: "packages/lib/src/example_lib/__init__.py:5",
		},
		installed: []string{".venv"},
		begun:     ".venv/pyvenv.cfg",
		pin:       edit{".python-version", "", "3.97\n"},
		asks:      "3.97",
	}
}
