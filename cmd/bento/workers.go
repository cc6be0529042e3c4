package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/config"
)

// workers returns how many tasks run at once.
func (s *session) workers(cfg *config.Workspace) int {
	if n, ok := jobs(s.flags.jobs); ok {
		return n
	}
	if cfg.Defaults.Parallelism > 0 {
		return cfg.Defaults.Parallelism
	}
	return runtime.GOMAXPROCS(0)
}

// jobs parses --jobs: a number, or a percentage of the CPUs. The result is at least one.
func jobs(text string) (n int, ok bool) {
	if share, isShare := strings.CutSuffix(text, "%"); isShare {
		percent, err := strconv.Atoi(share)
		return max(1, runtime.GOMAXPROCS(0)*percent/100), err == nil && percent > 0 && percent <= 10_000
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

// busy returns a function that reports whether the load exceeds --max-load, nil without the
// flag.
func (s *session) busy() func() bool {
	if s.flags.maxLoad <= 0 {
		return nil
	}
	return func() bool {
		load, err := loadAverage()
		return err == nil && load >= s.flags.maxLoad
	}
}

// loadAverage returns the average number of runnable processes over a minute.
func loadAverage() (float64, error) {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	first, _, ok := strings.Cut(string(data), " ")
	if !ok {
		return 0, fmt.Errorf("/proc/loadavg: %q", data)
	}
	return strconv.ParseFloat(first, 64)
}
