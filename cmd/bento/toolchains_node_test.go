package main

import (
	"os"
	"path/filepath"
	"strings"
)

func nodeToolchains() []toolchain {
	return []toolchain{npmToolchain(), pnpmToolchain(), yarnToolchain(), pnpToolchain(), yarn1Toolchain(), bunToolchain()}
}

// nodeToolchain returns the common part of all rows: a library in TypeScript, and an application.
func nodeToolchain() toolchain {
	return toolchain{
		tasks:   []string{"lib:build", "lib:test", "app:build", "app:lint", "app:test"},
		library: edit{"packages/lib/src/index.ts", "number ${value}", "number ${String(value)}"},
		program: edit{"packages/app/src/index.js", "console.log(lines", "console.error(lines"},
		locked:  []string{"app"},
		test: breakage{
			edit: edit{"packages/lib/test/index.test.js", `describe("five")`, `describe("six")`},
			task: "lib:test", says: "numbers are told apart",
		},
		compile: breakage{
			edit: edit{"packages/lib/src/index.ts", "isNumber(value) ?", "isNumber(values) ?"},
			task: "lib:build", says: "error TS2552", place: "packages/lib/src/index.ts:4",
		},
		installed: []string{"node_modules"},
		begun:     "node_modules/*",
		pin:       edit{"bento.toml", "", "[toolchain]\nnode = \"99.1.2\"\n"},
		asks:      "99.1.2",
	}
}

// lockBy returns a change of the lockfile: a tool selects another version of a dependency of the application.
func lockBy(argv ...string) func(k *kitchen) {
	return func(k *kitchen) {
		k.make(edit{"packages/app/package.json", `"ms": "2.1.2"`, `"ms": "2.1.3"`})
		k.tool(".", argv...)
	}
}

func npmToolchain() toolchain {
	tc := nodeToolchain()
	tc.id, tc.needs, tc.version = "node-npm", []string{"node", "npm"}, []string{"npm", "--version"}
	tc.lock = lockBy("npm", "install", "--package-lock-only")
	return tc
}

func pnpmToolchain() toolchain {
	tc := nodeToolchain()
	tc.id, tc.needs, tc.version = "node-pnpm", []string{"node", "pnpm"}, []string{"pnpm", "--version"}
	tc.lock = lockBy("pnpm", "install", "--lockfile-only")
	tc.installed = []string{"node_modules", "packages/lib/node_modules", "packages/app/node_modules"}
	return tc
}

func yarnToolchain() toolchain {
	tc := nodeToolchain()
	tc.id, tc.needs, tc.version = "node-yarn", []string{"node", "yarn"}, []string{"yarn", "--version"}
	tc.lock = lockBy("yarn", "install", "--mode", "update-lockfile")
	return tc
}

// pnpToolchain returns the row of Yarn without node_modules.
func pnpToolchain() toolchain {
	tc := yarnToolchain()
	tc.variant, tc.fixture = "pnp", "node-yarn"
	tc.prepare = func(k *kitchen) { k.make(edit{".yarnrc.yml", "node-modules", "pnp"}) }
	tc.installed, tc.begun = []string{".pnp.cjs"}, ".yarn/*"
	return tc
}

// yarn1Toolchain returns the row of Yarn 1. It makes the lockfile, which names a registry.
func yarn1Toolchain() toolchain {
	tc := nodeToolchain()
	tc.id, tc.variant, tc.fixture = "node-yarn", "1", "node-yarn"
	tc.needs, tc.version = []string{"node", "yarn1"}, []string{"yarn", "--version"}
	tc.env = func(k *kitchen) []string {
		path, err := k.env.LookPath("yarn1")
		if err != nil {
			k.t.Fatal(err)
		}
		target, err := os.Readlink(path)
		if err != nil {
			k.t.Fatal(err)
		}
		return []string{"PATH=" + filepath.Dir(filepath.Join(filepath.Dir(path), target))}
	}
	install := func(k *kitchen) {
		k.tool(".", "yarn", "install", "--ignore-scripts", "--non-interactive")
		k.remove()
	}
	tc.prepare = func(k *kitchen) {
		for _, name := range []string{"yarn.lock", ".yarnrc.yml"} {
			if err := os.Remove(k.path(name)); err != nil {
				k.t.Fatal(err)
			}
		}
		k.make(edit{"packages/app/package.json", "workspace:*", "1.0.0"})
		install(k)
	}
	tc.lock = func(k *kitchen) {
		k.make(edit{"packages/app/package.json", `"ms": "2.1.2"`, `"ms": "2.1.3"`})
		install(k)
	}
	return tc
}

// bunToolchain returns the row of bun, which also runs the tests.
func bunToolchain() toolchain {
	tc := nodeToolchain()
	tc.id, tc.needs, tc.version = "bun", []string{"bun"}, []string{"bun", "--version"}
	tc.lock = lockBy("bun", "install", "--lockfile-only")
	tc.installed = []string{"node_modules", "packages/lib/node_modules", "packages/app/node_modules"}
	tc.pin = edit{"bento.toml", "", strings.Replace(tc.pin.new, "node", "bun", 1)}
	return tc
}
