package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mixed is the number of projects of each language in a workspace of the shape of real ones.
const mixed = 40

// generateMixed writes and commits a workspace in which adapters find the dishes: roots with
// members and lockfiles, an ignored lockfile, links, pins of versions that no machine has, and
// documentation that belongs to no dish.
func generateMixed(root string) (*generated, error) {
	g := &generated{root: root, shape: shape{n: mixed}}
	at := func(elem ...string) string { return filepath.Join(append([]string{root}, elem...)...) }
	g.write(at("bento.toml"), "")
	g.write(at(".gitignore"), "node_modules/\ntarget/\nCargo.lock\ndist/\n")
	g.json(at("package.json"), map[string]any{"name": "root", "private": true, "workspaces": []string{"js/*"}})
	g.write(at("rust", "Cargo.toml"), "[workspace]\nmembers = [\"crate*\"]\nresolver = \"2\"\n")
	g.write(at("rust", "rust-toolchain.toml"), "[toolchain]\nchannel = \"1.2.3\"\n")
	links := map[string]any{"": map[string]any{"name": "root", "workspaces": []string{"js/*"}}}
	for i := range mixed {
		g.mixedProjects(i, at)
		links[fmt.Sprintf("js/pkg%d", i)] = map[string]any{"name": fmt.Sprintf("pkg%d", i), "version": "1.0.0"}
		links[fmt.Sprintf("node_modules/pkg%d", i)] = map[string]any{"resolved": fmt.Sprintf("js/pkg%d", i), "link": true}
	}
	g.json(at("package-lock.json"), map[string]any{"name": "root", "lockfileVersion": 3, "requires": true, "packages": links})
	for i := range mixed * filesEach {
		g.write(at("docs", fmt.Sprintf("part%d", i%mixed), fmt.Sprintf("page%d.md", i)), strings.Repeat("text\n", 100))
	}
	g.commit()
	return g, g.err
}

// mixedProjects writes a project of each language.
func (g *generated) mixedProjects(i int, at func(...string) string) {
	js, rust, mod, py := fmt.Sprintf("pkg%d", i), fmt.Sprintf("crate%d", i), fmt.Sprintf("mod%d", i), fmt.Sprintf("py%d", i)
	deps := map[string]string{}
	if i > 0 {
		deps[fmt.Sprintf("pkg%d", i/2)] = "1.0.0"
	}
	g.json(at("js", js, "package.json"), map[string]any{
		"name": js, "version": "1.0.0", "dependencies": deps, "engines": map[string]string{"node": ">=18"},
		"scripts": map[string]string{"build": "node build.js", "test": "node test.js", "lint": "eslint ."},
	})
	g.write(at("rust", rust, "Cargo.toml"), fmt.Sprintf("[package]\nname = %q\nversion = \"0.1.0\"\nedition = \"2021\"\n", rust))
	g.write(at("go", mod, "go.mod"), fmt.Sprintf("module example.com/%s\n\ngo 1.22\n\ntoolchain go1.99.%d\n", mod, i))
	g.write(at("py", py, "pyproject.toml"), fmt.Sprintf("[project]\nname = %q\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\n", py))
	g.write(at("py", py, ".python-version"), "3.3\n")
	for k := range filesEach {
		g.write(at("js", js, "src", fmt.Sprintf("f%d.js", k)), "export const x = 1;\n")
		g.write(at("rust", rust, "src", fmt.Sprintf("f%d.rs", k)), "pub fn f() {}\n")
		g.write(at("go", mod, fmt.Sprintf("f%d.go", k)), "package m\n")
		g.write(at("py", py, "src", py, fmt.Sprintf("f%d.py", k)), "x = 1\n")
	}
	if g.err == nil {
		g.fail(os.Symlink("f0.js", at("js", js, "src", "link.js")))
	}
}

// mixed measures plans of a workspace in which nothing has run, beside git status.
func (b *bench) mixed() error {
	g, err := generateMixed(filepath.Join(b.dir, "mixed"))
	if err != nil {
		return err
	}
	c := &commands{bench: b, generated: g, cache: filepath.Join(b.dir, "cache-mixed")}
	plan, list := c.of("bento plan", "plan"), c.of("bento dish list", "dish", "list")
	plan.status = 2                             // tools are missing
	if _, err := plan.run(g.root); err != nil { // this one asks the adapters
		return err
	}
	all := []*command{{name: "git status", args: []string{"git", "status", "--porcelain"}}, plan, list}
	if err := take(g.root, b.rounds, all); err != nil {
		return err
	}
	fmt.Printf("%d projects of 4 languages in which nothing has run\n", 4*mixed)
	print(all)
	return nil
}
