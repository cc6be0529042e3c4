// Command bench measures bento on generated workspaces, beside git status and, if installed, ninja
// and turbo on the same tree. The commands take turns in one run, so that load on the machine
// affects all of them.
//
// go run ./internal/bench -bento bin/bento -n 100,1000,3000,10000
//
// bench day measures what observation costs over a day of work.
// bench remote measures the remote cache on real servers, beside turbo and Bazel: see scripts/bench-remote.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 1 && args[0] == oneshotID {
		return oneshot(os.Stdin, os.Stdout)
	}
	if len(args) > 0 && args[0] == "remote" {
		return remote(args[1:])
	}
	if len(args) > 0 && args[0] == "day" {
		return day(args[1:])
	}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	bento := set.String("bento", "bin/bento", "the `program` to measure")
	tools := set.Bool("tools", true, "measure tasks that call a tool")
	more := set.Bool("more", true, "measure projects of real tools, and what one more file, task and dish cost")
	sizes := set.String("n", "100,1000,3000", "how many packages the workspaces have, a `list`")
	rounds := set.Int("rounds", 15, "how often each command is run")
	dir := set.String("dir", "", "where workspaces and tools are put, and left; default: a directory that is removed")
	if err := set.Parse(args); err != nil {
		return err
	}
	b := &bench{rounds: max(1, *rounds), dir: *dir}
	if err := b.open(*bento); err != nil {
		return err
	}
	if *dir == "" {
		defer os.RemoveAll(b.dir)
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		if text == "" { // none
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("-n %q: expected numbers of packages", *sizes)
		}
		if err := b.workspace(n); err != nil {
			return fmt.Errorf("n = %d: %w", n, err)
		}
	}
	if *tools {
		if err := b.tools(); err != nil {
			return fmt.Errorf("tools: %w", err)
		}
	}
	if !*more {
		return nil
	}
	if err := b.mixed(); err != nil {
		return err
	}
	if err := b.more(); err != nil {
		return err
	}
	if err := b.remembered(); err != nil {
		return err
	}
	return b.inside()
}

// open finds the program and a working directory.
func (b *bench) open(program string) (err error) {
	if b.bento, err = filepath.Abs(program); err != nil {
		return err
	}
	if _, err := os.Stat(b.bento); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	if b.dir == "" {
		b.dir, err = os.MkdirTemp("", "bento-bench-")
		return err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	return os.MkdirAll(b.dir, 0o755)
}
