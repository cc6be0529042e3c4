package answer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// TestCapabilities: a missing member of a manifest has the default of the contract, and an unknown member
// is ignored.
func TestCapabilities(t *testing.T) {
	manifest := func(more string) json.RawMessage {
		return json.RawMessage(`{` + more + `"protocol_version":1,"adapter_id":"zig","display_name":"Zig","fingerprint_files":[],"default_tasks":[]}`)
	}
	defaults := adapters.Capabilities{Detect: true, RequiredToolchain: true, Install: true}
	noDetect := defaults
	noDetect.Detect = false
	for more, want := range map[string]adapters.Capabilities{
		``:                                     defaults,
		`"capabilities":{},`:                   defaults,
		`"capabilities":{"detect":false},`:     noDetect,
		`"capabilities":{"levitate":true},`:    defaults,
		`"levitates":[1],"capabilities":null,`: defaults,
	} {
		m, _, err := ReadManifest(manifest(more), "zig")
		if err != nil || m.Capabilities != want {
			t.Errorf("%s: got %+v, %v, want %+v", more, m, err, want)
		}
	}
}

// TestNames: a plugin must know the methods that its manifest names.
func TestNames(t *testing.T) {
	manifest := json.RawMessage(`{"capabilities":{"detect":true,"install":false,"tasks":true}}`)
	for method, want := range map[string]bool{
		wire.MethodDetect: true, wire.MethodInstall: false, wire.MethodTasks: true, wire.MethodToolchain: false,
		wire.MethodDiagnostics: true, // a hook names it
	} {
		if got := Names(manifest, method); got != want {
			t.Errorf("%s: got %v, want %v", method, got, want)
		}
	}
	if Names(json.RawMessage(`{}`), wire.MethodDetect) {
		t.Error("a manifest without capabilities names detect")
	}
}

// TestMembersOfAnotherCase: a member whose name differs in case is unknown. It replaces no member.
func TestMembersOfAnotherCase(t *testing.T) {
	const plain = `"protocol_version":1,"adapter_id":"zig","display_name":"Zig","fingerprint_files":[],"default_tasks":[{"name":"build","run":"true"}],"capabilities":{"detect":true}`
	const other = `"Protocol_Version":2,"ADAPTER_ID":"zag","Display_Name":7,"Default_Tasks":[{"name":"other","run":"true"}],"Capabilities":{"detect":false},"Parallel":9`
	want, _, err := ReadManifest(json.RawMessage("{"+plain+"}"), "zig")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{other + "," + plain, plain + "," + other, strings.NewReplacer(`"run":`, `"Run":"rm","Cwd":"/","run":`, `"detect":`, `"Detect":false,"ADD":true,"detect":`).Replace(plain)} {
		got, _, err := ReadManifest(json.RawMessage("{"+text+"}"), "zig")
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: manifest (-want +got):\n%s", text, diff)
		}
	}
	if err := Check(wire.MethodDetect, json.RawMessage(`{"Matches":true}`)); err == nil {
		t.Error(`detect: {"Matches":true} is taken`)
	}
	if Names(json.RawMessage(`{"Capabilities":{"detect":true}}`), wire.MethodDetect) || !Names(json.RawMessage(`{"capabilities":{"detect":true,"new":1}}`), wire.MethodDetect) {
		t.Error("detect is not named by capabilities alone")
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ method, good, bad string }{
		{wire.MethodDetect, `{"matches":true}`, `{}`},
		{wire.MethodToolchain, `null`, `{"tool":"zig"}`},
		{wire.MethodFingerprint, `"zig 0.15"`, `{}`},
		{wire.MethodDiagnostics, `{"diagnostics":[]}`, `null`},
		{wire.MethodTasks, `{"tasks":[{"name":"a","run":"b"}]}`, `{"tasks":[{"name":"a","run":"b"},{"name":"a","run":"b"}]}`},
		{wire.MethodLinks, `{"links":[]}`, `{"links":[{"file":"/a"}]}`},
		{wire.MethodInstallScope, `{"dir":"/a"}`, `{"dir":"a"}`},
	} {
		if err := Check(c.method, json.RawMessage(c.good)); err != nil {
			t.Errorf("%s: %s: %v", c.method, c.good, err)
		}
		if err := Check(c.method, json.RawMessage(c.bad)); err == nil {
			t.Errorf("%s: %s is taken", c.method, c.bad)
		}
	}
	if err := Check(wire.MethodInstall, json.RawMessage(`{"any":1}`)); err != nil {
		t.Errorf("install: %v", err)
	}
}

func TestGlobs(t *testing.T) {
	for _, good := range []string{"*", "**/*.zig", ".gitignore", "a/.bento/x", "a/b", "./a", "a..b", "...", "{a,b}/c", "[a-z]*", "a b", "é", "{a,b}{c,d,{e,f}}", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"} {
		if globFault(good) != "" {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{"", "/a", "..", "a/..", "../a", "a/../b", "{..,a}/b", "{/etc,a}", "{a,/etc}", `\.\./a`, `\/a`, "a[", "{a", "a\x00",
		".git", ".git/**", "a/.git/config", "{.git,a}/**", `.g\it/x`, ".bento/**", "./.bento", `a\/b`, "a[/]b",
		strings.Repeat("{a,b}", 9), "{" + strings.Repeat("a,", 256) + "b}", strings.Repeat("{", 100) + strings.Repeat("}", 100), strings.Repeat("a", 5000)} {
		if globFault(bad) == "" {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// Of several invalid names the error always reports the same one.
func TestWrongVariables(t *testing.T) {
	for range 20 {
		err := Check(wire.MethodTasks, json.RawMessage(`{"tasks":[{"name":"a","run":"x","env":{"N\u0000":"y","A=B":"c","fine":"","C=D":"e"}}]}`))
		if want := `tasks[0].env: expected names of variables, got "A=B"`; fmt.Sprint(err) != want {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
}

func TestTasksThatWaitForThemselves(t *testing.T) {
	for tasks, want := range map[string]string{
		`{"name":"a","run":"x","depends_on":["a"]}`:                                                                                   `tasks[0].depends_on[0]: expected a task that does not wait for "a", got "a"`,
		`{"name":"a","run":"x","depends_on":["c","b"]},{"name":"b","run":"x","depends_on":["a"]}`:                                     `tasks[1].depends_on[0]: expected a task that does not wait for "b", got "a"`,
		`{"name":"a","run":"x","depends_on":["b","c","other","^a"]},{"name":"b","run":"x","depends_on":["c"]},{"name":"c","run":"x"}`: ``,
	} {
		err := Check(wire.MethodTasks, json.RawMessage(`{"tasks":[`+tasks+`]}`))
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%s:\n got %s\nwant %s", tasks, got, want)
		}
	}
}

// TestDerivedMarkers: a derived path that matches a fingerprint file is dropped with the reason.
func TestDerivedMarkers(t *testing.T) {
	m, dropped, err := ReadManifest(json.RawMessage(`{"protocol_version":1,"adapter_id":"zig","display_name":"Zig","default_tasks":[],
		"fingerprint_files":["build.zig","conf/*.zon"],"derived_paths":["out/**","*.zig","conf/a.zon"]}`), "zig")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"out/**", "conf/a.zon"}, m.DerivedPaths); diff != "" {
		t.Errorf("derived paths (-want +got):\n%s", diff)
	}
	want := []string{`manifest: derived_paths[1]: "*.zig" matches the fingerprint file "build.zig", whose edits would be lost; the glob is not used`}
	if diff := cmp.Diff(want, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}
