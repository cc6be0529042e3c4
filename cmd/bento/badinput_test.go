//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reader is a workspace of one task, which reads all of its dish.
func reader(t *testing.T, inputs string) *world {
	t.Helper()
	w := newWorld(t, builtBento(t))
	w.write(map[string]string{
		"bento.toml": "",
		"d/src":      "text\n",
		"d/dish.toml": "name = \"d\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"ls -R > out; cat src >> out\"\noutputs = [\"out\"]\n" +
			inputs,
	})
	return w
}

// refused checks that a run exits with 2, prints the given texts, and starts no task.
func (w *world) refused(says ...string) {
	w.t.Helper()
	began := time.Now()
	out, stderr, err := w.run(nil, "run", "build")
	if exit, ok := asExit(err); !ok || exit.ExitCode() != 2 {
		w.t.Errorf("%v, want exit code 2\n%s%s", err, out, stderr)
	}
	for _, s := range says {
		if !strings.Contains(stderr, s) {
			w.t.Errorf("it does not say %q:\n%s", s, stderr)
		}
	}
	if strings.Contains(out, "built") {
		w.t.Errorf("something ran:\n%s", out)
	}
	if took := time.Since(began); took > 5*time.Minute {
		w.t.Errorf("it took %v", took)
	}
}

func (w *world) wantRun(outcome string) {
	w.t.Helper()
	out, stderr, err := w.run(nil, "run", "build")
	if err != nil || !strings.Contains(out, outcome) {
		w.t.Errorf("%v, want %q\n%s%s", err, outcome, out, stderr)
	}
}

// A pipe, a socket or a device is left out with a warning and never opened: to open a pipe blocks until it
// has a writer.
func TestSpecialInputs(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"socket": func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		},
		"device": func(path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|5) }, // endless zeros
	} {
		t.Run(name, func(t *testing.T) {
			w := reader(t, "")
			// The path of a socket must be short.
			t.Chdir(filepath.Join(w.ws, "d"))
			if err := make(name); err != nil {
				t.Skip(err)
			}
			if out, stderr, err := w.run(nil, "run", "build"); err != nil || !strings.Contains(stderr, "d/"+name+": it is a FIFO, a socket or a device") {
				t.Errorf("%v, want a warning\n%s%s", err, out, stderr)
			}
			w.write(map[string]string{"d/dish.toml": "name = \"d\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"true\"\ninputs = [\"src\"]\n"})
			w.wantRun("built")
		})
	}
}

// The error names an unreadable file. Root can read all files, so as root the test drops that capability.
func TestUnreadableInput(t *testing.T) {
	t.Parallel()
	w := reader(t, "")
	if os.Getuid() == 0 {
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip(err)
		}
		script := fmt.Sprintf("#!/bin/sh\nexec %s --bounding-set=-all --inh-caps=-all %s \"$@\"\n", setpriv, w.bento)
		w.bento = filepath.Join(w.dir, "powerless")
		if err := os.WriteFile(w.bento, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.wantRun("built")
	secret := filepath.Join(w.ws, "d", "secret")
	if err := os.WriteFile(secret, nil, 0); err != nil {
		t.Fatal(err)
	}
	w.refused("d/secret", "permission denied")
}

// Globs that would take exponential time are refused or fast.
func TestGlobBombs(t *testing.T) {
	t.Parallel()
	for _, glob := range []string{
		strings.Repeat("**/", 200) + "x", strings.Repeat("{a,b}", 30), strings.Repeat("*a", 400) + "b",
		"**/**/**/{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}/**/**/*", strings.Repeat("{", 1000) + strings.Repeat("}", 1000),
		strings.Repeat("[a-z]", 2000), "{" + strings.Repeat("a,", 20000) + "}",
	} {
		w := reader(t, fmt.Sprintf("inputs = [%q, \"src\"]\n", glob))
		w.write(map[string]string{"d/" + strings.Repeat("aa", 100): "", "d/" + strings.Repeat("a/", 100) + "a": ""})
		began := time.Now()
		out, stderr, err := w.run(nil, "run", "build")
		if exit, ok := asExit(err); err != nil && (!ok || exit.ExitCode() != 2) {
			t.Errorf("%.40q…: %v\n%s%.2000s", glob, err, out, stderr)
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("%.40q…: it took %v", glob, took)
		}
	}
}

// Each of very many files in one directory is an input, and so is a file at a very long path.
func TestManyAndDeepInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 66,000 files")
	}
	t.Parallel()
	w := reader(t, "")
	sh := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = filepath.Join(w.ws, "d")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	name := strings.Repeat("n", 250)
	down := strings.Repeat("mkdir -p "+name+" && cd -P "+name+" && ", 17)
	sh(down + "echo one > deep")
	sh("mkdir many && cd many && seq 66000 | xargs touch") // more than 2^16
	w.wantRun("built")
	w.wantRun("hit")
	sh("echo x > many/65999")
	w.wantRun("built")
	sh(down + "echo two > deep")
	w.wantRun("built")
	w.wantRun("hit")
	sh("rm -r " + name + " many")
}

// A file of 1 GiB is read in pieces.
func TestLargeInput(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 1 GiB")
	}
	t.Parallel()
	w := reader(t, "")
	large := filepath.Join(w.ws, "d", "large")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<30); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(w.bento, "run", "build")
	cmd.Dir = w.ws
	cmd.Env = append(os.Environ(), "HOME="+w.dir, "BENTO_CACHE_DIR="+w.cache, "BENTO_WORKSPACE_ROOT=")
	kib, out, err := resident(t, cmd)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if kib > 200<<10 {
		t.Errorf("it took %d KiB of memory", kib)
	}
}
