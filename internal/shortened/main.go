// Command shortened lists the tests that -short skips or shortens: a line for each package, with its
// directory, a tab, and an expression for `go test -run`. A test is one of them if it, or a function
// that it calls, asks for testing.Short, or is a property of rapid, which tries fewer cases then. It
// goes by names alone, so it may list a test too many, never one too few.
//
//	go run ./internal/shortened DIRECTORY...
package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	tests, err := list(os.DirFS("."), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "shortened:", err)
		os.Exit(2)
	}
	for _, dir := range slices.Sorted(maps.Keys(tests)) {
		fmt.Printf("%s\t^(%s)$\n", dir, strings.Join(tests[dir], "|"))
	}
}

// list returns the shortened tests below some directories, by directory.
func list(tree fs.FS, roots []string) (map[string][]string, error) {
	uses := make(calls)
	for _, root := range roots {
		err := fs.WalkDir(tree, filepath.ToSlash(root), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go"):
				return nil
			}
			return uses.read(tree, path)
		})
		if err != nil {
			return nil, err
		}
	}
	return uses.shortened(), nil
}
