package main

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	filesEach = 20   // sources per package
	fileSize  = 2000 // average size in bytes; sizes vary by half
	fanIn     = 3    // largest number of dependencies of a package
)

// shape is the size of a workspace.
type shape struct {
	n      int  // number of packages
	files  int  // sources per package
	checks int  // tasks per package besides build
	root   bool // the root has tasks, whose inputs are the files of all packages

	flat   bool   // no package depends on another
	copies bool   // a task copies its sources, in place of a checksum
	bazel  bool   // there are files for Bazel, too
	config string // bento.toml
}

const (
	buildScript = "#!/bin/sh\nmkdir -p dist\ncat src/*.txt | cksum > dist/out.txt\n"
	copyScript  = "#!/bin/sh\nmkdir -p dist\ncat src/*.txt > dist/out.txt\n"
)

// bazelRule does the same as buildScript in a BUILD file.
const bazelRule = `genrule(name = "build", srcs = glob(["src/**"]), outs = ["dist/out.txt"], cmd = "cat $(SRCS) | cksum > $@")
`

const rootDish = "name = \"root\"\nlanguage = \"none\"\n" +
	"[tasks.build]\nrun = \"true\"\n[tasks.check]\nrun = \"true\"\n[tasks.lint]\nrun = \"true\"\n[tasks.test]\nrun = \"true\"\n"

// generated is a workspace: packages in layers, each with sources, a script that
// reads them and writes dist/out.txt, and the configuration of every tool.
type generated struct {
	shape
	root string
	deps [][]int // by package: its dependencies
	err  error   // the first error; no file is written after it
}

// generate writes and commits a workspace. The same shape results in the same workspace.
func generate(root string, s shape) (*generated, error) {
	rng := rand.New(rand.NewPCG(1, uint64(s.n)))
	g := &generated{root: root, shape: s, deps: make([][]int, s.n)}
	if !s.flat {
		g.deps = dependencies(s.n, rng)
	}
	g.configure()
	for i := range s.n {
		g.pack(i, rng)
	}
	g.commit()
	return g, g.err
}

// dependencies returns a graph of about 2 n edges and as deep as it has layers. Four of five edges
// lead to the next lower layer.
func dependencies(n int, rng *rand.Rand) [][]int {
	layers := max(4, min(10, bits.Len(uint(n))))
	start := func(layer int) int { return n * layer / layers }
	deps := make([][]int, n)
	for layer := 1; layer < layers; layer++ {
		for i := start(layer); i < start(layer+1); i++ {
			seen := make(map[int]bool)
			for range 1 + rng.IntN(fanIn) {
				from := start(layer - 1)
				if rng.IntN(5) == 0 {
					from = 0
				}
				if to := start(layer); to > from {
					d := from + rng.IntN(to-from)
					if !seen[d] {
						seen[d] = true
						deps[i] = append(deps[i], d)
					}
				}
			}
		}
	}
	return deps
}

func check(k int) string { return fmt.Sprintf("check%d", k) }

func name(i int) string { return fmt.Sprintf("p%05d", i) }

// path returns the path of a file of package i.
func (g *generated) path(i int, file string) string {
	return filepath.Join(g.root, "packages", name(i), file)
}

// leaf returns a package that no other depends on.
func (g *generated) leaf() int { return g.n - 1 }

// configure writes the files at the root.
func (g *generated) configure() {
	g.write(filepath.Join(g.root, ".gitignore"), "dist/\nnode_modules\n.turbo/\n.ninja_*\n")
	var all strings.Builder
	all.WriteString("name = \"all\"\ndishes = [\n")
	links := map[string]any{"": map[string]any{"name": "ws", "workspaces": []string{"packages/*"}}}
	for i := range g.n {
		fmt.Fprintf(&all, "  \"packages/%s\",\n", name(i))
		links["node_modules/@ws/"+name(i)] = map[string]any{"resolved": "packages/" + name(i), "link": true}
		links["packages/"+name(i)] = map[string]any{"name": "@ws/" + name(i), "version": "0.0.0", "dependencies": g.npm(i)}
	}
	g.write(filepath.Join(g.root, "bento.toml"), g.config)
	if g.bazel {
		g.write(filepath.Join(g.root, "WORKSPACE"), "")
	}
	if g.shape.root {
		g.write(filepath.Join(g.root, "dish.toml"), rootDish)
	}
	g.write(filepath.Join(g.root, "bentos", "all.toml"), all.String()+"]\n")
	g.json(filepath.Join(g.root, "package.json"), map[string]any{
		"name": "ws", "private": true, "packageManager": "npm@11.0.0", "workspaces": []string{"packages/*"},
	})
	g.json(filepath.Join(g.root, "package-lock.json"), map[string]any{"name": "ws", "lockfileVersion": 3, "requires": true, "packages": links})
	g.json(filepath.Join(g.root, "turbo.json"), map[string]any{"tasks": map[string]any{"build": map[string]any{
		"dependsOn": []string{"^build"}, "inputs": []string{"src/**", "build.sh"}, "outputs": []string{"dist/**"},
	}}})
	g.ninja()
}

// ninja writes the same tasks for ninja.
func (g *generated) ninja() {
	var b strings.Builder
	b.WriteString("rule b\n  command = cd packages/$p && sh build.sh\n")
	for i := range g.n {
		fmt.Fprintf(&b, "build packages/%s/dist/out.txt: b packages/%s/build.sh", name(i), name(i))
		for k := range g.files {
			fmt.Fprintf(&b, " packages/%s/src/f%02d.txt", name(i), k)
		}
		for j, d := range g.deps[i] {
			fmt.Fprintf(&b, "%s packages/%s/dist/out.txt", []string{" |", ""}[min(j, 1)], name(d))
		}
		fmt.Fprintf(&b, "\n  p = %s\n", name(i))
	}
	g.write(filepath.Join(g.root, "build.ninja"), b.String())
}

// npm returns the dependencies of package i in the format of npm.
func (g *generated) npm(i int) map[string]string {
	deps := make(map[string]string)
	for _, d := range g.deps[i] {
		deps["@ws/"+name(d)] = "*"
	}
	return deps
}

// pack writes package i.
func (g *generated) pack(i int, rng *rand.Rand) {
	var depends []string
	for _, d := range g.deps[i] {
		depends = append(depends, fmt.Sprintf("%q", name(d)))
	}
	dish := fmt.Sprintf("name = %q\nlanguage = \"none\"\ndepends_on = [%s]\n\n[tasks.build]\nrun = \"sh build.sh\"\n"+
		"inputs = [\"src/**\", \"build.sh\"]\noutputs = [\"dist/out.txt\"]\n", name(i), strings.Join(depends, ", "))
	for k := range g.checks {
		dish += fmt.Sprintf("\n[tasks.%s]\nrun = \"true\"\ninputs = [\"src/**\"]\n", check(k))
	}
	g.write(g.path(i, "dish.toml"), dish)
	g.json(g.path(i, "package.json"), map[string]any{
		"name": "@ws/" + name(i), "version": "0.0.0", "private": true, "scripts": map[string]string{"build": "sh build.sh"}, "dependencies": g.npm(i),
	})
	script := buildScript
	if g.copies {
		script = copyScript
	}
	g.write(g.path(i, "build.sh"), script)
	if g.bazel {
		g.write(g.path(i, "BUILD"), bazelRule)
	}
	for k := range g.files {
		g.write(g.path(i, fmt.Sprintf("src/f%02d.txt", k)), text(rng, fileSize/2+rng.IntN(fileSize)))
	}
}

// text returns lines of words, size bytes in total.
func text(rng *rand.Rand, size int) string {
	syllables := []string{"ka", "to", "mi", "re", "lo", "su", "ne", "va", "di", "po", " ", " ", "\n"}
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(syllables[rng.IntN(len(syllables))])
	}
	return b.String() + "\n"
}

func (g *generated) json(file string, v any) {
	data, err := json.MarshalIndent(v, "", "  ")
	g.fail(err)
	g.write(file, string(data)+"\n")
}

func (g *generated) write(file, data string) {
	if g.err != nil {
		return
	}
	g.fail(os.MkdirAll(filepath.Dir(file), 0o755))
	g.fail(os.WriteFile(file, []byte(data), 0o644))
}

func (g *generated) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

func (g *generated) commit() {
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "generated"}} {
		if g.err != nil {
			return
		}
		cmd := exec.Command("git", args...)
		cmd.Dir = g.root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
			"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.invalid", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.invalid")
		if out, err := cmd.CombinedOutput(); err != nil {
			g.fail(fmt.Errorf("git %s: %w: %s", args[0], err, out))
		}
	}
}
