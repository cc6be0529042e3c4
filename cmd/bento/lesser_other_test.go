//go:build !linux

package main

import (
	"errors"

	"github.com/rogpeppe/go-internal/testscript"
)

const withoutCommand = "__without"

func onLesserKernel(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("for Linux only") }

func becomeWithout(string, []string) error { return errors.New("for Linux only") }
