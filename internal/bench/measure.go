package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// command is a measured command.
type command struct {
	name string
	args []string
	env  []string
	dir  string // directory of the command; "" is the workspace
	// before prepares the workspace for each run. It may be nil.
	before func() error
	// than is the earlier command that the ratio refers to. "" is git status.
	than string

	// says is a part of what every measured run prints, "" for anything, and check returns an error for
	// what none may print; it may be nil.
	says  string
	check func(output string) error

	// status is a further exit status that is no error, such as that of a plan whose tools are
	// missing.
	status int

	runs []sample
}

// sample is the measurement of one run.
type sample struct {
	wall, cpu time.Duration
	peak      int64 // resident memory in bytes
}

// take runs every command in turn, rounds times, after one round that does not count.
func take(dir string, rounds int, list []*command) error {
	for round := range rounds + 1 {
		for _, c := range list {
			s, err := c.run(dir)
			if err != nil {
				return err
			}
			if round > 0 {
				c.runs = append(c.runs, s)
			}
		}
	}
	return nil
}

func (c *command) run(dir string) (s sample, err error) {
	if c.before != nil {
		if err := c.before(); err != nil {
			return s, err
		}
	}
	var output bytes.Buffer
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = cmp.Or(c.dir, dir), append(os.Environ(), c.env...), &output
	if c.says != "" || c.check != nil {
		cmd.Stdout = &output
	}
	start := time.Now()
	err = cmd.Run()
	s.wall = time.Since(start)
	if err != nil && (c.status == 0 || cmd.ProcessState.ExitCode() != c.status) {
		return s, fmt.Errorf("%s: %w: %s", c.name, err, output.Bytes())
	}
	if !strings.Contains(output.String(), c.says) {
		return s, fmt.Errorf("%s: expected %q, found %s", c.name, c.says, output.Bytes())
	}
	if c.check != nil {
		if err := c.check(output.String()); err != nil {
			return s, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.peak = usage.Maxrss << 10
	}
	return s, nil
}

// median returns the median of one measure.
func (c *command) median(of func(sample) time.Duration) time.Duration {
	list := make([]time.Duration, len(c.runs))
	for i, s := range c.runs {
		list[i] = of(s)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func wall(s sample) time.Duration { return s.wall }
func cpu(s sample) time.Duration  { return s.cpu }

func (c *command) peak() (most int64) {
	for _, s := range c.runs {
		most = max(most, s.peak)
	}
	return most
}

// print writes a table of medians and ratios.
func print(list []*command) {
	fmt.Printf("  %-34s %10s %8s %10s %8s %8s\n", "", "wall", "ratio", "cpu", "ratio", "memory")
	for _, c := range list {
		base := list[0]
		for _, o := range list {
			if o.name == c.than {
				base = o
			}
		}
		fmt.Printf("  %-34s %7.1f ms %7.2fx %7.1f ms %7.2fx %4d MiB\n", c.name, ms(c.median(wall)), ratio(c, base, wall), ms(c.median(cpu)), ratio(c, base, cpu), c.peak()>>20)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func ratio(c, base *command, of func(sample) time.Duration) float64 {
	return float64(c.median(of)) / float64(max(1, base.median(of)))
}
