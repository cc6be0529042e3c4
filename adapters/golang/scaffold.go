package golang

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Scaffold implements adapters.Scaffolder: a command with a test. Go comes with no linter,
// so dish.toml runs gofmt as lint.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	module := "example.com/" + strings.ToLower(name)
	return []adapters.ScaffoldFile{
		{Path: "go.mod", Data: fmt.Appendf(nil, "module %s\n\ngo 1.22\n", module)},
		{Path: "main.go", Data: fmt.Appendf(nil, mainFile, name)},
		{Path: "main_test.go", Data: []byte(testFile)},
		{Path: "dish.toml", Data: fmt.Appendf(nil, dishFile, name)},
		{Path: ".gitignore", Data: fmt.Appendf(nil, "/%s\n", strings.ToLower(name))},
	}, nil
}

const mainFile = `// Command %[1]s greets.
package main

import "fmt"

func main() {
	fmt.Println(greet("%[1]s"))
}

func greet(name string) string { return "hello from " + name }
`

const testFile = `package main

import "testing"

func TestGreet(t *testing.T) {
	if got := greet("here"); got != "hello from here" {
		t.Errorf("greet gives %q", got)
	}
}
`

const dishFile = `name = %q
language = "go"

[tasks.lint]
run = 'test -z "$(gofmt -l . | tee /dev/stderr)"'
`
