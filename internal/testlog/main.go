// Command testlog reads the output of `go test -json` and prints a line for each package, and the
// output of all that failed. It appends the time of each test to a file.
//
//	go test -json ./... | go run ./internal/testlog -times FILE
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	times := flag.String("times", "", "append \"seconds, package, test\" to this `file`, separated by tabs")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *times); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(2)
	}
}

func run(in io.Reader, out io.Writer, times string) (err error) {
	table := io.Discard
	if times != "" {
		f, err := os.OpenFile(times, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer func() {
			if e := f.Close(); err == nil {
				err = e
			}
		}()
		table = f
	}
	buffered := bufio.NewWriter(table)
	if err := newReader(out, buffered).read(in); err != nil {
		return err
	}
	return buffered.Flush()
}
