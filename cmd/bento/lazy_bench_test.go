package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkHostLazy compares a run of cache hits, with lazy = true and 20 plugins on PATH that have nothing
// to do, with the same run without plugins. It measures both in turns, and reports medians.
func BenchmarkHostLazy(b *testing.B) {
	dir := b.TempDir()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	program := builtBento(b)
	link := func(name string) {
		if err := os.Symlink(self, name); err != nil {
			b.Fatal(err)
		}
	}
	plugins := filepath.Join(dir, "plugins")
	for _, made := range []string{plugins, filepath.Join(dir, "ws", "d")} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 20 {
		link(filepath.Join(plugins, fmt.Sprintf("bento-adapter-spy%d", i)))
	}
	for name, text := range map[string]string{
		"ws/bento.toml": "[plugins]\nlazy = true\n", "ws/d/dish.toml": "language = \"none\"\n[tasks.build]\nrun = \"true\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	run := func(path string) time.Duration {
		cmd := exec.Command(program, "build")
		cmd.Dir = filepath.Join(dir, "ws")
		cmd.Env = []string{"PATH=" + path, "HOME=" + dir, "BENTO_CACHE_DIR=" + filepath.Join(dir, "cache")}
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return time.Since(began)
	}
	none, twenty := "/usr/bin:/bin", plugins+":/usr/bin:/bin"
	// bento remembers the digest of an executable once the file is two seconds old.
	for began := time.Now(); time.Since(began) < 3*time.Second; {
		run(twenty)
	}
	var with, without []time.Duration
	for b.Loop() {
		with = append(with, run(twenty))
		without = append(without, run(none))
	}
	slices.Sort(with)
	slices.Sort(without)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(without[len(without)/2]), "none-ms")
	b.ReportMetric(ms(with[len(with)/2]), "twenty-ms")
	b.ReportMetric(ms(with[len(with)/2]-without[len(without)/2]), "more-ms")
	b.ReportMetric(ms(with[0]-without[0]), "more-at-best-ms")
}
