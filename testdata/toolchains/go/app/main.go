// Command app prints whether its arguments come in pairs.
package main

import (
	"fmt"
	"os"

	"example.com/shelf/lib"
	"github.com/google/go-cmp/cmp"
)

func main() {
	args := os.Args[1:]
	half := len(args) / 2
	fmt.Println(lib.Same(args[:half], args[half:]), cmp.Diff(args[:half], args[half:]))
}
