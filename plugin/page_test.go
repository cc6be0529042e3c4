package plugin

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

// TestGoPage: docs/go-sdk.md has the signature of every method that bento calls, and the Go version and
// module path of go.mod.
func TestGoPage(t *testing.T) {
	text, err := os.ReadFile("../docs/go-sdk.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile(`(?m)^module (\S+)$`).FindStringSubmatch(string(mod))[1]
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	if !strings.Contains(page, "`"+path+"`") || !strings.Contains(page, "requires Go "+version+".") {
		t.Errorf("the page does not name the module %s and Go %s", path, version)
	}
	for _, of := range append(optional(), reflect.TypeFor[adapters.Adapter]()) {
		for i := range of.NumMethod() {
			m := of.Method(i)
			line := regexp.MustCompile("(?m)^\\| `" + m.Name + "(\\([^`]*)` \\|").FindStringSubmatch(page)
			if line == nil {
				t.Errorf("the page lacks the method %s", m.Name)
				continue
			}
			named := regexp.MustCompile(`\b(ctx|dir|req|log|name) `).ReplaceAllString(line[1], "")
			if got := strings.TrimPrefix(m.Type.String(), "func"); got != named {
				t.Errorf("%s: the page says %s, the interface %s", m.Name, named, got)
			}
		}
	}
}
