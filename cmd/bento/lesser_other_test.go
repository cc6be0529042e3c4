//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

const withoutCommand = "__without"

func onLesserKernel(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("for Linux only") }
