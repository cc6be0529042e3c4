package main

import (
	"fmt"
	"io"
	"os"
)

// main formats its standard input, or answers the request in its argument.
func main() {
	var text []byte
	var err error
	if len(os.Args) > 1 {
		var reply string
		reply, err = answer(os.Args[1])
		text = []byte(reply + "\n")
	} else if text, err = io.ReadAll(os.Stdin); err == nil {
		text, err = format(text, 2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdout.Write(text)
}
