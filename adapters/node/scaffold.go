package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

type starterManifest struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Private bool           `json:"private"`
	Type    string         `json:"type"`
	Scripts starterScripts `json:"scripts"`
}

type starterScripts struct {
	Build string `json:"build"`
	Lint  string `json:"lint"`
	Test  string `json:"test"`
}

// nodeStarter returns the files of a package that runs on Node.js, and locks.
func nodeStarter(name string, locks ...adapters.ScaffoldFile) ([]adapters.ScaffoldFile, error) {
	m := newStarterManifest(name, starterScripts{
		Build: "mkdir -p dist && cp src/index.js dist/",
		Lint:  "node --check src/index.js",
		Test:  "node --test",
	})
	return starterFiles(m, locks, "js", `import assert from "node:assert/strict";
import { test } from "node:test";

import { greet } from "./index.js";

test("greets by name", () => {
  assert.equal(greet("you"), "hello you, from %s");
});
`, "export function greet(name) {\n  return `hello ${name}, from %s`;\n}\n")
}

// bunStarter returns the files of a package that runs on bun, and locks.
func bunStarter(name string, locks ...adapters.ScaffoldFile) ([]adapters.ScaffoldFile, error) {
	m := newStarterManifest(name, starterScripts{
		Build: "bun build src/index.ts --outdir dist",
		Lint:  "bun build src/index.ts --no-bundle --outfile /dev/null",
		Test:  "bun test",
	})
	return starterFiles(m, locks, "ts", `import { expect, test } from "bun:test";

import { greet } from "./index.ts";

test("greets by name", () => {
  expect(greet("you")).toBe("hello you, from %s");
});
`, "export function greet(name: string): string {\n  return `hello ${name}, from %s`;\n}\n")
}

func newStarterManifest(name string, s starterScripts) starterManifest {
	return starterManifest{Name: strings.ToLower(name), Version: "0.1.0", Private: true, Type: "module", Scripts: s}
}

func starterFiles(m starterManifest, locks []adapters.ScaffoldFile, suffix, test, source string) ([]adapters.ScaffoldFile, error) {
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
