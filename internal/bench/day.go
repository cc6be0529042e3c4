package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	other := set.String("other", "never", "the `mode` that auto is compared with: never, always or auto")
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

// side is one of the two workspaces that are compared.
type side struct {
	*generated
	run       *command
	part, day sample // sums
}

func (b *bench) side(p project, name, observe string) (*side, error) {
	at := func(elem string) string { return filepath.Join(b.dir, p.name, name, elem) }
	g, err := p.make(at("workspace"))
	return &side{generated: g, run: &command{
		name: observe, dir: at("workspace"), args: append(append([]string{b.bento, "run"}, p.tasks...), "--observe", observe),
		env: []string{"BENTO_CACHE_DIR=" + at("cache"), "GOFLAGS=", "GOCACHE=" + at("go"), "GOWORK=off", "GOPROXY=off"},
	}}, err
}

// day prints the times of one project.
func (b *bench) day(p project, other string) error {
	first, err := b.side(p, "first", other)
	if err != nil {
		return err
	}
	second, err := b.side(p, "second", "auto")
	if err != nil {
		return err
	}
	fmt.Printf("a day on %s: CPU and wall time in seconds, of observe = %q and \"auto\"\n", p.name, other)
	for _, part := range []struct {
		name   string
		rounds int
		edit   func(g *generated, n int)
	}{
		{"first run", 1, func(*generated, int) {}},
		{fmt.Sprintf("%d edits of a leaf", leafEdits), leafEdits, p.leaf},
		{fmt.Sprintf("%d edits of a lockfile", lockEdits), lockEdits, p.lock},
	} {
		first.part, second.part = sample{}, sample{}
		for n := range part.rounds {
			turn := []*side{first, second}
			if n%2 == 1 {
				slices.Reverse(turn)
			}
			for _, s := range turn {
				part.edit(s.generated, n+1)
				if err := s.work(); err != nil {
					return err
				}
			}
		}
		printDay(part.name, first.part, second.part)
	}
	printDay("the day", first.day, second.day)
	return nil
}

// work runs the command, and adds its times.
func (s *side) work() error {
	took, err := s.run.run("")
	s.part.add(took)
	s.day.add(took)
	return errors.Join(err, s.err)
}

func (s *sample) add(more sample) { s.wall, s.cpu = s.wall+more.wall, s.cpu+more.cpu }

func printDay(name string, first, second sample) {
	over := func(of func(sample) time.Duration) float64 { return float64(of(second)) / float64(max(of(first), 1)) }
	fmt.Printf("  %-24s cpu %8.2f %8.2f %6.3fx   wall %8.2f %8.2f %6.3fx\n", name, first.cpu.Seconds(), second.cpu.Seconds(), over(cpu),
		first.wall.Seconds(), second.wall.Seconds(), over(wall))
}
