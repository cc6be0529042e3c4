package builtin_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// docs/languages.md lists the variables of every adapter. UPDATE_DOCS=1 writes it.
func TestDocsListTheEnvironment(t *testing.T) {
	const path = "../../docs/languages.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), "/adapters/builtin -->\n")
	head, rest, ok2 := cutEnd(head, rest)
	if !ok || !ok2 {
		t.Fatalf("%s: no place for the environment", path)
	}
	want := head + environment() + rest
	if want == string(data) {
		return
	}
	if os.Getenv("UPDATE_DOCS") == "" {
		t.Fatalf("%s does not list the environment of every adapter: UPDATE_DOCS=1 go test ./adapters/builtin", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func cutEnd(head, rest string) (before, after string, ok bool) {
	_, end, ok := strings.Cut(rest, "<!-- end -->\n")
	return head + "/adapters/builtin -->\n", "<!-- end -->\n" + end, ok
}

func environment() string {
	var b strings.Builder
	for _, a := range builtin.All(snapshot.Options{}) {
		m := a.Manifest()
		fmt.Fprintf(&b, "\n**%s**\n\n- passed: %s\n- passed and in the key: %s\n", m.AdapterID, names(m.PassEnv), names(m.SteeringEnv))
		var set []string
		for _, name := range slices.Sorted(maps.Keys(m.SetEnv)) {
			set = append(set, "`"+name+"="+m.SetEnv[name]+"`")
		}
		if len(set) > 0 {
			fmt.Fprintf(&b, "- set: %s\n", strings.Join(set, " "))
		}
	}
	return b.String() + "\n"
}

func names(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return "`" + strings.Join(slices.Sorted(slices.Values(list)), " ") + "`"
}
