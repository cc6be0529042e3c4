// Package scaffold makes the smallest package that builds, tests and lints with
// what comes with its package manager.
package scaffold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

type manifest struct {
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Private bool    `json:"private"`
	Type    string  `json:"type"`
	Scripts scripts `json:"scripts"`
}

type scripts struct {
	Build string `json:"build"`
	Lint  string `json:"lint"`
	Test  string `json:"test"`
}

// Node gives a package that runs on Node.js, with the files that say whose it is
// made of what locks gives for its name.
func Node(name string, locks ...adapters.ScaffoldFile) ([]adapters.ScaffoldFile, error) {
	m := newManifest(name, scripts{
		Build: "mkdir -p dist && cp src/index.js dist/",
		Lint:  "node --check src/index.js",
		Test:  "node --test",
	})
	return files(m, locks, "js", `import assert from "node:assert/strict";
import { test } from "node:test";

import { greet } from "./index.js";

test("greets by name", () => {
  assert.equal(greet("you"), "hello you, from %s");
});
`, "export function greet(name) {\n  return `hello ${name}, from %s`;\n}\n")
}

// Bun gives a package that runs on bun.
func Bun(name string, locks ...adapters.ScaffoldFile) ([]adapters.ScaffoldFile, error) {
	m := newManifest(name, scripts{
		Build: "bun build src/index.ts --outdir dist",
		Lint:  "bun build src/index.ts --no-bundle --outfile /dev/null",
		Test:  "bun test",
	})
	return files(m, locks, "ts", `import { expect, test } from "bun:test";

import { greet } from "./index.ts";

test("greets by name", () => {
  expect(greet("you")).toBe("hello you, from %s");
});
`, "export function greet(name: string): string {\n  return `hello ${name}, from %s`;\n}\n")
}

func newManifest(name string, s scripts) manifest {
	return manifest{Name: strings.ToLower(name), Version: "0.1.0", Private: true, Type: "module", Scripts: s}
}

func files(m manifest, locks []adapters.ScaffoldFile, suffix, test, source string) ([]adapters.ScaffoldFile, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	list := []adapters.ScaffoldFile{
		{Path: ".gitignore", Data: []byte("dist/\nnode_modules/\n")},
		{Path: "package.json", Data: b.Bytes()},
		{Path: "src/index." + suffix, Data: fmt.Appendf(nil, source, m.Name)},
		{Path: "src/index.test." + suffix, Data: fmt.Appendf(nil, test, m.Name)},
	}
	for _, l := range locks {
		list = append(list, adapters.ScaffoldFile{Path: l.Path, Data: bytes.ReplaceAll(l.Data, []byte("NAME"), []byte(m.Name))})
	}
	return list, nil
}
