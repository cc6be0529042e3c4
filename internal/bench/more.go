package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// packagesOfMore is how many packages the workspaces have that one more is measured with.
const packagesOfMore = 500

// more measures what one more file, task and dish cost a run with nothing to do, and
// prints it: workspaces with more of one of them take turns with one that has less.
func (b *bench) more() error {
	const n = packagesOfMore
	base := shape{n: n, files: filesEach}
	kinds := []struct {
		name string
		shape
		count int // how many more there are
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

// slack is how much longer a run that has nothing to do may take than another that has
// nothing to do either, before something is wrong: machines are noisy.
const slack = 1.25

// remembered measures runs with nothing to do beside those which are to cost the same:
// of tasks that make no files, and with a variable that nothing in the workspace speaks
// of. One that costs more is an error.
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
	if _, err := again.run(again.dir); err != nil { // the first warm run may learn something
		return err
	}
	foreign := *plain
	foreign.env = append(slices.Clip(plain.env), "BENTO_BENCH_FOREIGN=0")
	k := 0
	foreign.before = func() error { // another value each time
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
		return fmt.Errorf("a run with nothing to do works out again what it knew: at most %.2f and %.2f are expected", slack, 2*slack)
	}
	return nil
}

// warmed makes a workspace and gives the command that runs all its tasks, which has
// nothing to do any more.
func (b *bench) warmed(root string, s shape) (*command, error) {
	if err := os.RemoveAll(root); err != nil {
		return nil, err
	}
	g, err := generate(root, s)
	if err != nil {
		return nil, err
	}
	args := []string{"run", "build"}
	for k := range s.checks {
		args = append(args, check(k))
	}
	c := (&commands{bench: b, generated: g, cache: root + "-cache"}).of("", args...)
	c.dir = root
	_, err = c.run(root)
	return c, err
}
