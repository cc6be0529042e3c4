package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin"
)

// A spy is a plugin of the scripts: this test binary, under the name that the command "spy PATH" gives it. Its
// dishes are the directories with a file <id>.toml. Each line of that file is "WHEN VERB [ARGUMENT]", where WHEN
// is detect, tool or install: then the spy runs the verb and reports the result on stderr, as
// "<id>: WHEN VERB ARGUMENT: ok". A directory whose file has the word "refuse" is no dish. $LC_SPY has the lines
// for start and shutdown.
type spy struct {
	plugin.Defaults
	id string
}

// isSpy reports whether the test binary was called as a plugin.
func isSpy() (id string, ok bool) {
	return strings.CutPrefix(filepath.Base(os.Args[0]), "bento-adapter-")
}

func serveSpy(id string) {
	s := spy{id: id}
	if len(os.Args) > 1 { // a grandchild
		s.linger()
	}
	for line := range strings.SplitSeq(os.Getenv("LC_SPY"), "\n") {
		s.line("start", line)
	}
	plugin.Main(s)
	for line := range strings.SplitSeq(os.Getenv("LC_SPY"), "\n") {
		s.line("shutdown", line)
	}
}

// installSpy runs "spy PATH…": it makes each path a spy.
func installSpy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: spy PATH…")
	}
	self, err := os.Executable()
	ts.Check(err)
	for _, path := range args {
		path = ts.MkAbs(path)
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.Symlink(self, path))
	}
}

func (s spy) Manifest() *adapters.Manifest {
	return &adapters.Manifest{
		AdapterID: s.id, DisplayName: "spy", FingerprintFiles: []string{s.id + ".toml"},
		DefaultTasks: []adapters.Task{{Name: "build", Run: "true"}},
		DiagnosticHooks: map[string]adapters.Hook{
			"lint": {Rerun: adapters.Rerun{Kind: adapters.RerunAppend, Args: []string{"--again"}}, Parser: "gnu"},
			"test": {Rerun: adapters.Rerun{Kind: adapters.RerunReplace, Command: "echo replaced >>$HOME/runs"}, Parser: "gnu"},
		},
		Capabilities: adapters.Capabilities{Detect: true, Install: true, RequiredToolchain: true, ResolvedToolchainFingerprint: true},
	}
}

func (s spy) Detect(_ context.Context, dir string) (bool, error) {
	data, err := os.ReadFile(filepath.Join(dir, s.id+".toml"))
	s.act("detect", dir)
	return err == nil && !strings.Contains(string(data), "refuse"), nil
}

func (s spy) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	s.act("tool", dir)
	return nil, nil
}

func (s spy) Install(_ context.Context, req adapters.InstallRequest, _ adapters.LogFunc) error {
	s.act("install", req.DishDir)
	return nil
}

// act runs the lines for when of the file in dir.
func (s spy) act(when, dir string) {
	f, err := os.Open(filepath.Join(dir, s.id+".toml"))
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		s.line(when, lines.Text())
	}
}

func (s spy) line(when, line string) {
	asked, order, _ := strings.Cut(strings.TrimSpace(line), " ")
	if asked != when {
		return
	}
	verb, arg, _ := strings.Cut(order, " ")
	result, err := s.do(verb, os.ExpandEnv(arg))
	if err != nil {
		result = err.Error()
	}
	fmt.Fprintf(os.Stderr, "%s: %s %s: %s\n", s.id, when, order, result)
}

// do runs one verb. It returns the requested value, or "ok".
func (s spy) do(verb, arg string) (string, error) {
	switch verb {
	case "say":
		return arg, nil
	case "env":
		names := os.Environ()
		for i, kv := range names {
			names[i], _, _ = strings.Cut(kv, "=")
		}
		slices.Sort(names)
		return strings.Join(names, " "), nil
	case "get":
		return os.Getenv(arg), nil
	case "read":
		data, err := os.ReadFile(arg)
		return strings.TrimSpace(string(data)), err
	case "write":
		return "ok", os.WriteFile(arg, []byte("x\n"), 0o644)
	case "run":
		out, err := exec.Command("/bin/sh", "-c", arg).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s: %w", out, err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	return s.misbehave(verb, arg)
}

func (s spy) misbehave(verb, arg string) (string, error) {
	switch verb {
	case "connect":
		conn, err := net.Dial("tcp", arg)
		if err == nil {
			conn.Close()
		}
		return "ok", err
	case "socket":
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err == nil {
			syscall.Close(fd)
		}
		return "ok", err
	case "exit":
		code, err := strconv.Atoi(arg)
		if err == nil {
			os.Exit(code)
		}
		return "", err
	case "hang":
		s.hang()
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		return "ok", nil
	case "fork": // a grandchild that keeps the pipes open, with setsid in its own session
		cmd := exec.Command(os.Args[0], "linger")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: arg == "setsid"}
		return "ok", cmd.Start()
	}
	return "", fmt.Errorf("no verb %q", verb)
}

// linger is a grandchild that nothing but SIGKILL ends.
func (s spy) linger() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	s.hang()
}

func (s spy) hang() {
	for {
		time.Sleep(time.Hour)
	}
}
