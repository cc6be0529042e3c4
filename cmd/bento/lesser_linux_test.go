package main

import (
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

const withoutCommand = "__without"

// onLesserKernel runs "without landlock|seccomp CODE COMMAND…": it runs the command as on a kernel without
// Landlock or seccomp. The command must exit with CODE.
func onLesserKernel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: without landlock|seccomp CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	self, err := os.Executable()
	ts.Check(err)
	program, err := lookPath(ts.Getenv("PATH"), args[2])
	ts.Check(err)
	got := 0
	err = ts.Exec(self, append([]string{withoutCommand, args[0], program}, args[3:]...)...)
	if exit, ok := asExit(err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
