package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	leafEdits = 100
	lockEdits = 10
)

// project is a workspace on which a day of work is measured: a first run, edits of a source that nothing else depends on,
// and edits of a manifest or lockfile, with a run behind each.
type project struct {
	name       string
	make       func(root string) (*generated, error)
	leaf, lock func(g *generated, n int) // the nth edit
	tasks      []string
}

func projects() []project {
	return []project{
		{"1,000 shell scripts", func(root string) (*generated, error) { return generate(root, shape{n: 1000, files: filesEach}) }, func(g *generated, n int) {
			g.write(g.path(g.leaf(), "src/f00.txt"), fmt.Sprintf("edit %d\n", n))
		}, func(g *generated, n int) { // as a lockfile that a part of the packages reads
			for i := range g.n / 10 {
				g.write(g.path(g.n-1-10*i, "src/f01.txt"), fmt.Sprintf("version %d\n", n))
			}
		}, []string{"build"}},
		{"30 packages of npm", npmProject, func(g *generated, n int) {
			g.write(filepath.Join(g.root, "packages", name(g.leaf()), "src/f0.js"), fmt.Sprintf("exports.x = %d;\n", n))
		}, func(g *generated, n int) { g.lockNPM(fmt.Sprintf("1.0.%d", n)) }, []string{"build"}},
		{"12 modules of Go", goProject, func(g *generated, n int) {
			g.write(filepath.Join(g.root, name(g.leaf()), "f0.go"), fmt.Sprintf("package m\n\nconst F0 = %d\n", n))
		}, func(g *generated, n int) {
			for i := range g.n {
				g.goMod(i, n)
			}
		}, []string{"build", "test"}},
	}
}

// npmProject is a workspace of npm, whose packages depend on two others at most. Nothing of it comes from a registry.
func npmProject(root string) (*generated, error) {
	g := &generated{root: root, shape: shape{n: 30}}
	g.write(filepath.Join(root, "bento.toml"), "")
	g.write(filepath.Join(root, ".gitignore"), "node_modules/\ndist/\n")
	g.json(filepath.Join(root, "package.json"), map[string]any{"name": "root", "private": true, "workspaces": []string{"packages/*"}})
	for i := range g.n {
		dir := filepath.Join(root, "packages", name(i))
		for k := range filesEach {
			g.write(filepath.Join(dir, fmt.Sprintf("src/f%d.js", k)), fmt.Sprintf("exports.x = %d;\n", k))
		}
		g.write(filepath.Join(dir, "build.js"), "const fs = require('fs');\nfs.mkdirSync('dist', {recursive: true});\n"+
			"fs.writeFileSync('dist/out.json', JSON.stringify(fs.readdirSync('src').map(f => require('./src/' + f).x)));\n")
	}
	g.lockNPM("1.0.0")
	g.commit()
	return g, g.err
}

// lockNPM writes the manifests and the lockfile with a version of the first package.
func (g *generated) lockNPM(version string) {
	all := map[string]any{"": map[string]any{"name": "root", "workspaces": []string{"packages/*"}}}
	for i := range g.n {
		own, deps := "1.0.0", map[string]string{}
		if i == 0 {
			own = version
		} else {
			deps["@ws/"+name(i/2)], deps["@ws/"+name(0)] = "*", "*"
		}
		m := map[string]any{"name": "@ws/" + name(i), "version": own, "dependencies": deps}
		all["node_modules/@ws/"+name(i)] = map[string]any{"resolved": "packages/" + name(i), "link": true}
		all["packages/"+name(i)] = m
		g.json(filepath.Join(g.root, "packages", name(i), "package.json"), map[string]any{
			"name": m["name"], "version": own, "dependencies": deps, "scripts": map[string]string{"build": "node build.js"},
		})
	}
	g.json(filepath.Join(g.root, "package-lock.json"), map[string]any{"name": "root", "lockfileVersion": 3, "requires": true, "packages": all})
}

// goProject is a workspace of modules that use each other and the standard library, with tests.
func goProject(root string) (*generated, error) {
	g := &generated{root: root, shape: shape{n: 12}}
	g.write(filepath.Join(root, "bento.toml"), "")
	for i := range g.n {
		g.goMod(i, 0)
		for k := range filesEach {
			g.write(filepath.Join(root, name(i), fmt.Sprintf("f%d.go", k)), fmt.Sprintf("package m\n\nconst F%d = %d\n", k, k))
		}
		imports, use := "", "0"
		if i > 0 {
			imports, use = fmt.Sprintf("\tbefore \"example.com/%s\"\n", name(i/2)), "before.Sum()"
		}
		g.write(filepath.Join(root, name(i), "m.go"), "package m\n\nimport (\n\t\"net/http\"\n"+imports+")\n\nfunc Sum() int { return F0 + F1 + "+use+" + http.StatusOK }\n")
		g.write(filepath.Join(root, name(i), "m_test.go"), "package m\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum() == 0 {\n\t\tt.Fail()\n\t}\n}\n")
	}
	g.commit()
	return g, g.err
}

// goMod writes the manifest of module i with a version of the modules that it needs.
func (g *generated) goMod(i, version int) {
	file, text := filepath.Join(g.root, name(i), "go.mod"), fmt.Sprintf("module example.com/%s\n\ngo 1.22\n", name(i))
	for d := i / 2; i > 0; i, d = d, d/2 {
		text += fmt.Sprintf("\nrequire example.com/%[1]s v0.0.%[2]d\n\nreplace example.com/%[1]s => ../%[1]s\n", name(d), version)
	}
	g.write(file, text)
}

// day measures the same day with observe = "never" and "auto", each in a workspace of its own, in turns.
func day(args []string) error {
	set := flag.NewFlagSet("bench day", flag.ContinueOnError)
	bento := set.String("bento", "bin/bento", "the `program` to measure")
	only := set.String("only", "", "the `name` of the one project to measure")
	other := set.String("other", "never", "what auto is compared with: never, always or `auto`")
	if err := set.Parse(args); err != nil {
		return err
	}
	b := &bench{}
	if err := b.open(*bento); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	for _, p := range projects() {
		if *only != "" && *only != p.name {
			continue
		}
		if err := b.day(p, *other); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// day prints the times of one project.
func (b *bench) day(p project, other string) error {
	var places [2]*generated
	var run [2]*command
	for i, observe := range []string{other, "auto"} {
		g, err := p.make(filepath.Join(b.dir, p.name, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		cache := filepath.Join(b.dir, p.name, fmt.Sprint("cache-", i))
		places[i] = g
		run[i] = &command{name: observe, args: append(append([]string{b.bento, "run"}, p.tasks...), "--observe", observe), dir: g.root,
			env: []string{"BENTO_CACHE_DIR=" + cache, "GOFLAGS=", "GOCACHE=" + filepath.Join(b.dir, p.name, fmt.Sprint("go-", i)), "GOWORK=off", "GOPROXY=off"}}
	}
	fmt.Printf("a day on %s: CPU and wall time in seconds, of observe = %q and \"auto\"\n", p.name, other)
	var total [2]sample
	for _, part := range []struct {
		name   string
		rounds int
		edit   func(g *generated, n int)
	}{{"first run", 1, nil}, {fmt.Sprintf("%d edits of a leaf", leafEdits), leafEdits, p.leaf}, {fmt.Sprintf("%d edits of a lockfile", lockEdits), lockEdits, p.lock}} {
		var sum [2]sample
		for n := range part.rounds {
			for k := range places {
				i := (k + n) % 2 // each is the first one in turn
				if part.edit != nil {
					part.edit(places[i], n+1)
				}
				s, err := run[i].run("")
				if err := errors.Join(err, places[i].err); err != nil {
					return err
				}
				sum[i].wall, sum[i].cpu = sum[i].wall+s.wall, sum[i].cpu+s.cpu
			}
		}
		printDay(part.name, sum)
		for i := range sum {
			total[i].wall, total[i].cpu = total[i].wall+sum[i].wall, total[i].cpu+sum[i].cpu
		}
	}
	printDay("the day", total)
	return nil
}

func printDay(name string, of [2]sample) {
	over := func(a, b time.Duration) float64 { return float64(b) / float64(max(a, 1)) }
	fmt.Printf("  %-24s cpu %8.2f %8.2f %6.3fx   wall %8.2f %8.2f %6.3fx\n", name, of[0].cpu.Seconds(), of[1].cpu.Seconds(), over(of[0].cpu, of[1].cpu),
		of[0].wall.Seconds(), of[1].wall.Seconds(), over(of[0].wall, of[1].wall))
}
