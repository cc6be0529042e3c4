package main

func nodeToolchains() []toolchain {
	return []toolchain{{
		id: "node-npm", needs: []string{"node", "npm"}, version: []string{"npm", "--version"},
		tasks:   []string{"lib:build", "lib:lint", "lib:test", "app:build", "app:test"},
		library: edit{"packages/lib/src/index.js", "number ${value}", "number ${String(value)}"},
		program: edit{"packages/app/src/index.js", "console.log(lines", "console.error(lines"},
		test: breakage{
			edit: edit{"packages/lib/test/index.test.js", `describe("five")`, `describe("six")`},
			task: "lib:test", says: "numbers are told apart",
		},
		compile: breakage{
			edit: edit{"packages/lib/src/index.js", "return isNumber", "retrun isNumber"},
			task: "lib:lint", says: "SyntaxError",
		},
		installed: []string{"node_modules"},
		begun:     "node_modules",
		pin:       edit{"bento.toml", "", "[toolchain]\nnode = \"99.1.2\"\n"},
		asks:      "99.1.2",
	}}
}
