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

// benched is a user whose runs are measured.
type benched struct {
	name  string
	env   []string
	times []time.Duration
}

// add writes an extension of the user, which answers the handshake and then runs the command then.
func (u *benched) add(b *testing.B, home, id, spawn, then string) {
	b.Helper()
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"name":%q,"version":"1.0.0"}}`, id)
	config := filepath.Join(home, ".config", "bento", "config.toml")
	for path, text := range map[string]string{
		filepath.Join(home, id, "manifest.toml"): fmt.Sprintf("[plugin]\nname = %q\nversion = \"1.0.0\"\nabi_version = 2\n[capabilities]\nevent_bus = true\n"+
			"[subscribes]\nsnapshots = [\"run.started\", \"task.finished\", \"run.finished\"]\n[lifecycle]\nspawn = %q\n", id, spawn),
		filepath.Join(home, id, id): fmt.Sprintf("#!/bin/sh\nprintf 'Content-Length: %d\\r\\n\\r\\n%%s' '%s'\n%s\n", len(answer), answer, then),
		config:                      "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o755)
		if err != nil {
			b.Fatal(err)
		}
		if path == config {
			text = fmt.Sprintf("[extensions.%s]\npath = %q\ngrant = [\"event_bus\"]\n", id, filepath.Join(home, id))
		}
		if _, err := f.WriteString(text); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

// BenchmarkExtensions compares a run of 100 dishes without extensions with the same run with one extension that gets
// its events, one that stops reading, a lazy one, and three that get its events. It measures them in turns, and
// reports medians.
func BenchmarkExtensions(b *testing.B) {
	const hears, stuck = "exec cat >/dev/null", "exec sleep 300"
	dir := b.TempDir()
	program, ws := builtBento(b), filepath.Join(dir, "ws")
	for i := range 100 {
		dish := filepath.Join(ws, fmt.Sprintf("d%02d", i))
		if err := os.MkdirAll(dish, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dish, "dish.toml"), []byte("language = \"none\"\n[tasks.build]\nrun = \"true\"\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(ws, "bento.toml"), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	var users []*benched
	for _, name := range []string{"none", "one", "stuck", "lazy", "three"} {
		home := filepath.Join(dir, name)
		u := &benched{name: name, env: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "BENTO_CACHE_DIR=" + filepath.Join(dir, "cache")}}
		switch users = append(users, u); name {
		case "one":
			u.add(b, home, "a", "eager", hears)
		case "stuck":
			u.add(b, home, "a", "eager", stuck)
		case "lazy":
			u.add(b, home, "a", "lazy", hears)
		case "three":
			for _, id := range []string{"a", "b", "c"} {
				u.add(b, home, id, "eager", hears)
			}
		}
	}
	b.Run("warm", func(b *testing.B) { compare(b, ws, users, program, "build") })
	b.Run("forced", func(b *testing.B) { compare(b, ws, []*benched{users[0], users[4]}, program, "build", "--force") })
}

// compare measures a command for each user in turns.
func compare(b *testing.B, ws string, users []*benched, command ...string) {
	run := func(u *benched) time.Duration {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir, cmd.Env = ws, u.env
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", u.name, err, out)
		}
		return time.Since(began)
	}
	for _, u := range users {
		u.times = nil
		run(u)
	}
	for n := 0; b.Loop(); n++ {
		for i := range users {
			u := users[(n+i)%len(users)]
			u.times = append(u.times, run(u))
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, u := range users {
		var parts []float64
		for i, took := range u.times {
			parts = append(parts, float64(took)/float64(users[0].times[i]))
		}
		slices.Sort(parts)
		slices.Sort(u.times)
		b.ReportMetric(float64(u.times[len(u.times)/2].Microseconds())/1000, u.name+"-ms")
		if u != users[0] {
			b.ReportMetric(parts[len(parts)/2], u.name+"-x")
		}
	}
}
