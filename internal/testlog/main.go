// Command testlog reads the output of `go test -json` and prints a line for each package, and the
// output of all that failed. It appends the time of each test to a file, and the tests that lack a tool
// to another.
//
//	go test -json ./... | go run ./internal/testlog -times FILE -lacks FILE
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	times := flag.String("times", "", "append \"seconds, package, test\" to this `file`, separated by tabs")
	lacks := flag.String("lacks", "", "append \"tool, package, test\" to this `file` for tests that were skipped for want of a tool")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *times, *lacks); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(2)
	}
}

func run(in io.Reader, out io.Writer, times, lacks string) error {
	table, endTimes, err := appendTo(times)
	if err != nil {
		return err
	}
	lacking, endLacks, err := appendTo(lacks)
	if err != nil {
		return errors.Join(err, endTimes())
	}
	r := newReader(out, table)
	r.lacks = lacking
	return errors.Join(r.read(in), endTimes(), endLacks())
}

// appendTo opens a file to append to, or discards what is written if path is "". The caller calls end. Nothing is buffered: several
// processes append lines to the file, and each write is whole.
func appendTo(path string) (w io.Writer, end func() error, err error) {
	if path == "" {
		return io.Discard, func() error { return nil }, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}
