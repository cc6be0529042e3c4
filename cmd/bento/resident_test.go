package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// measureCommand makes the test binary run a program and write the peak memory of the program to a file. The
// peak of a process includes the memory of its parent at the start. The test process has grown by then; a new
// process in between has not.
const measureCommand = "__measure"

// measured runs os.Args[3:] and returns its exit code.
func measured() int {
	cmd := exec.Command(os.Args[3], os.Args[4:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return 127
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || os.WriteFile(os.Args[2], []byte(strconv.FormatInt(int64(usage.Maxrss), 10)), 0o600) != nil {
		return 127
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 127
	}
	return cmd.ProcessState.ExitCode()
}

// resident runs cmd and returns its output and its peak memory in KiB.
func resident(t *testing.T, cmd *exec.Cmd) (kib int64, out []byte, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kib")
	cmd.Args = append([]string{self, measureCommand, file, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
	out, err = cmd.CombinedOutput()
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		t.Fatalf("%v\n%s", readErr, out)
	}
	kib, readErr = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return kib, out, err
}
