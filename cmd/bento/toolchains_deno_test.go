package main

func denoToolchains() []toolchain {
	return []toolchain{{
		id: "deno", needs: []string{"deno"}, version: []string{"deno", "--version"},
		// The test can delete its own directory of downloads.
		env:     func(k *kitchen) []string { return []string{"DENO_DIR=" + k.home + "/deno"} },
		tasks:   []string{"lib:build", "lib:lint", "lib:test", "app:build", "app:lint", "app:test"},
		library: edit{"packages/lib/mod.ts", "number ${value}", "number ${String(value)}"},
		program: edit{"packages/app/main.ts", "console.log(lines", "console.error(lines"},
		lock: func(k *kitchen) {
			k.make(edit{"packages/app/deno.json", "npm:ms@2.1.2", "npm:ms@2.1.3"})
			k.tool(".", "deno", "install")
		},
		locked: []string{"app"},
		test: breakage{
			edit: edit{"packages/lib/mod_test.ts", `describe("five")`, `describe("six")`},
			task: "lib:test", says: "numbers are told apart",
		},
		compile: breakage{
			edit: edit{"packages/lib/mod.ts", "isNumber(value) ?", "isNumber(values) ?"},
			task: "lib:build", says: "TS2552", place: "packages/lib/mod.ts:5",
		},
		installed: []string{"$HOME/deno/npm"},
		begun:     "$HOME/deno/npm/*",
		pin:       edit{"bento.toml", "", "[toolchain]\ndeno = \"99.1.2\"\n"},
		asks:      "99.1.2",
	}}
}
