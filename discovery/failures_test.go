package discovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

func TestWarnings(t *testing.T) {
	var all pluginFailures
	if got := all.Warnings(); got != nil {
		t.Errorf("without a fault: %v", got)
	}
	add := func(f adapters.Failure, path string) { all.Add(&f, path, diagnostics.Pos{File: path}) }
	add(adapters.Failure{Adapter: "t", Code: adapters.Timeout, Call: "links", Dir: "/w/a", Message: "later", Late: true}, "a")
	add(adapters.Failure{Adapter: "t", Code: adapters.Timeout, Call: "detect", Dir: "/w/y", Message: "late", Hint: "look"}, "y")
	add(adapters.Failure{Adapter: "t", Code: adapters.Timeout, Call: "detect", Dir: "/w/z", Message: "later", Late: true}, "z")
	add(adapters.Failure{Adapter: "t", Code: adapters.Timeout, Call: "tasks", Dir: "/w/y", Message: "later", Late: true}, "y")
	add(adapters.Failure{Adapter: "t", Code: adapters.RPCError, Call: "detect", Dir: "/w/c", Message: "no"}, "c")
	add(adapters.Failure{Adapter: "t", Code: adapters.RPCError, Call: "detect", Dir: "/w/b", Message: "no"}, "b")
	add(adapters.Failure{Adapter: "u", Code: adapters.Timeout, Call: "detect", Dir: "/w/q", Message: "late"}, "q")
	var got []string
	for _, d := range all.Warnings() {
		got = append(got, d.String()+" ["+d.Hint+"]")
	}
	want := []string{
		`b: plugin t: detect of "/w/b": no (rpc_error); it has no answer about c either [` + required("t")[1:] + "]",
		`q: plugin u: detect of "/w/q": late (timeout) [` + required("u")[1:] + "]",
		`y: plugin t: detect of "/w/y": late (timeout); it has no answer about a, z either [look` + required("t") + "]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// required returns the end of a hint about a plugin.
func required(id string) string {
	return "\nif the workspace needs it: [plugins] required = [\"" + id + "\"]"
}
