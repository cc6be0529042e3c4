package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// packagesOfMore is the number of packages in the workspaces of more.
const packagesOfMore = 500

// more measures and prints the cost of one more file, task and dish in a run without changes:
// larger workspaces take turns with a smaller one.
func (b *bench) more() error {
	const n = packagesOfMore
	base := shape{n: n, files: filesEach}
	kinds := []struct {
		name string
		shape
		count int // how many more the larger workspace has
	}{
		{"", base, 0},
		{"source", shape{n: n, files: 2 * filesEach}, n * filesEach},
		{"task", shape{n: n, files: filesEach, checks: 2}, 2 * n},
		{"dish, with a task, for the same sources", shape{n: 2 * n, files: filesEach / 2}, n},
	}
	var list []*command
	for i, k := range kinds {
		c, err := b.warmed(filepath.Join(b.dir, "more-"+strconv.Itoa(i)), k.shape)
		if err != nil {
			return err
		}
		list = append(list, c)
	}
	if err := take(b.dir, b.rounds, list); err != nil {
		return err
	}
	fmt.Printf("one more, of a run with nothing to do: %d packages, and with more of one kind\n", n)
	for i, k := range kinds[1:] {
		each := func(of func(sample) time.Duration) float64 {
			return float64((list[i+1].median(of) - list[0].median(of)).Nanoseconds()) / 1000 / float64(k.count)
		}
		fmt.Printf("  %-42s %7.1f us wall %7.1f us cpu\n", k.name, each(wall), each(cpu))
	}
	return nil
}

// slack is the largest accepted ratio of two runs without changes; machines are noisy.
const slack = 1.25

// remembered compares runs without changes that should cost the same: with tasks that make no
// files, and with an unrelated variable. It returns an error if one costs more.
func (b *bench) remembered() error {
	const n = packagesOfMore
	plain, err := b.warmed(filepath.Join(b.dir, "plain"), shape{n: n, files: filesEach})
	if err != nil {
		return err
	}
	first, err := b.warmed(filepath.Join(b.dir, "checks"), shape{n: n, files: filesEach, checks: 1})
	if err != nil {
		return err
	}
	again := *first
	if _, err := again.run(again.dir); err != nil { // the first warm run may save state
		return err
	}
	foreign := *plain
	foreign.env = append(slices.Clip(plain.env), "BENTO_BENCH_FOREIGN=0")
	k := 0
	foreign.before = func() error { // a new value on each run
		k++
		foreign.env[len(foreign.env)-1] = "BENTO_BENCH_FOREIGN=" + strconv.Itoa(k)
		return nil
	}
	list := []*command{plain, &foreign, &again}
	if err := take(b.dir, b.rounds, list); err != nil {
		return err
	}
	base := plain.median(cpu).Seconds()
	withVariable, withChecks := list[1].median(cpu).Seconds()/base, list[2].median(cpu).Seconds()/base
	fmt.Printf("nothing to do, %d packages, CPU beside the plain run: %.2f with another variable, %.2f with a task without outputs in each\n", n, withVariable, withChecks)
	if withVariable > slack || withChecks > 2*slack { // twice as many tasks
		return fmt.Errorf("a run with nothing to do computes again what it knew: at most %.2f and %.2f are expected", slack, 2*slack)
	}
	return nil
}

// packagesOfRoot is the number of packages in the workspaces of inside.
const packagesOfRoot = 1000

// rootSlack is the largest accepted ratio of two runs without changes, with tasks of the root and
// without.
const rootSlack = 1.1

// inside compares runs without changes of a workspace whose root has tasks, which count the files of
// every dish, and of the same workspace without these tasks. It returns an error if the tasks of the
// root cost more than a share.
func (b *bench) inside() error {
	var list []*command
	for _, root := range []bool{false, true} {
		c, err := b.warmed(filepath.Join(b.dir, "root-"+strconv.FormatBool(root)), shape{n: packagesOfRoot, files: filesEach, root: root}, "ci")
		if err != nil {
			return err
		}
		if _, err := c.run(c.dir); err != nil { // the first warm run may save state
			return err
		}
		list = append(list, c)
	}
	if err := take(b.dir, b.rounds, list); err != nil {
		return err
	}
	ratio := func(of func(sample) time.Duration) float64 {
		return list[1].median(of).Seconds() / list[0].median(of).Seconds()
	}
	fmt.Printf("nothing to do, %d packages, with tasks of the root beside the same without: %.2f wall, %.2f CPU\n", packagesOfRoot, ratio(wall), ratio(cpu))
	if ratio(wall) > rootSlack {
		return fmt.Errorf("tasks of the root make a run with nothing to do %.2f times as long: at most %.2f is expected", ratio(wall), rootSlack)
	}
	return nil
}

// warmed makes a workspace, runs the command in args, by default all its tasks, and returns the
// command that runs it again.
func (b *bench) warmed(root string, s shape, args ...string) (*command, error) {
	if err := os.RemoveAll(root); err != nil {
		return nil, err
	}
	g, err := generate(root, s)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		args = []string{"run", "build"}
		for k := range s.checks {
			args = append(args, check(k))
		}
	}
	c := (&commands{bench: b, generated: g, cache: root + "-cache"}).of("", args...)
	c.dir = root
	_, err = c.run(root)
	return c, err
}
