package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		text, err = format(text, 2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdout.Write(text)
}
