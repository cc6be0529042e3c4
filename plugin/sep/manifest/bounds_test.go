package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// full is a manifest with every member.
const full = `{"schemaVersion":"1.0.0","id":"acme.lint","name":"Lint","description":"d","version":"0.2.0","apiVersion":"1.0.0","trustLevel":"first_party","platformProfile":"desktop",
"entrypoint":{"command":"./lint","args":[],"workingDirectory":".","environment":{"A":"b"}},"permissions":["events.subscribe","tools.register"],"events":{"subscribe":["run.started"]},
"health":{"startupTimeoutMs":5000,"heartbeatIntervalMs":5000,"unhealthyAfterMissedHeartbeats":2},
"limits":{"maxRequestBytes":65536,"maxRequestsPerSecond":20,"maxConcurrentRequests":4},
"ui":{"toolPanels":[{"id":"p","title":"P","slot":"tools.page.primary"}]},
"compatibility":{"meshchatx":">=1","platforms":["linux-x64"]},
"android":{"runtimeMode":"packaged_module","allowBackgroundExecution":false,"maxStartupTimeMs":12000,"maxMemoryMb":256},
"signing":{"required":false,"keyId":"","signature":""}}`

// changed returns the full manifest with another value at a path, or without the member if value is nil.
func changed(t *testing.T, path string, value any) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(full), &m); err != nil {
		t.Fatal(err)
	}
	steps := strings.Split(path, ".")
	at := any(m)
	for _, s := range steps[:len(steps)-1] {
		if s == "0" {
			at = at.([]any)[0]
		} else {
			at = at.(map[string]any)[s]
		}
	}
	last := steps[len(steps)-1]
	if value == nil {
		delete(at.(map[string]any), last)
	} else {
		at.(map[string]any)[last] = value
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func many(n int, item func(i int) any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = item(i)
	}
	return list
}

// TestBounds checks each bound below, at and above it.
func TestBounds(t *testing.T) {
	accepts := func(want bool, path string, value any) {
		t.Helper()
		if _, err := Parse("manifest.json", changed(t, path, value)); (err == nil) != want {
			t.Errorf("%s = %.60v: got %v, want accepted %t", path, value, err, want)
		}
	}
	for path, b := range map[string][2]int{
		"health.startupTimeoutMs": {1000, 120000}, "health.heartbeatIntervalMs": {1000, 120000}, "health.unhealthyAfterMissedHeartbeats": {1, 20},
		"limits.maxRequestBytes": {1024, 4194304}, "limits.maxRequestsPerSecond": {1, 10000}, "limits.maxConcurrentRequests": {1, 1024},
		"android.maxStartupTimeMs": {1000, 120000}, "android.maxMemoryMb": {16, 2048},
	} {
		for n, want := range map[int]bool{b[0] - 1: false, b[0]: true, b[0] + 1: true, b[1] - 1: true, b[1]: true, b[1] + 1: false} {
			accepts(want, path, n)
		}
		accepts(false, path, fmt.Sprint(b[0]))
	}
	for path, b := range map[string][2]int{
		"name": {1, 80}, "description": {0, 512}, "entrypoint.command": {1, 256}, "entrypoint.workingDirectory": {0, 512},
		"entrypoint.environment.A": {0, 4096}, "ui.toolPanels.0.title": {1, 80}, "compatibility.meshchatx": {1, 64}, "signing.keyId": {0, 256}, "signing.signature": {0, 8192},
	} {
		for n, want := range map[int]bool{b[0] - 1: false, b[0]: true, b[1]: true, b[1] + 1: false} {
			if n >= 0 {
				accepts(want, path, strings.Repeat("ä", n)) // bytes are not counted, code points are
			}
		}
		accepts(false, path, 7)
	}
	ids := func(length int) string { return "a." + strings.Repeat("x", length-2) }
	for value, want := range map[string]bool{ids(3): true, ids(128): true, ids(129): false, "ab": false, "a..b": false, "a.b.": false, "A.b": false, "a-b_c.d": true, "a.b\n": false, "ä.b": false} {
		accepts(want, "id", value)
	}
	for _, path := range []string{"schemaVersion", "apiVersion", "version"} {
		for value, want := range map[string]bool{"1.0.0": true, "01.0.0": true, "1.0": false, "1.0.0\n": false, "v1.0.0": false, "1.0.٣": false, "1.0.0-rc.1": path == "version", "1.0.0-": false} {
			accepts(want, path, value)
		}
	}
	text := func(s string) func(int) any { return func(int) any { return s } }
	accepts(true, "entrypoint.args", many(64, text(strings.Repeat("x", 2048))))
	accepts(false, "entrypoint.args", many(65, text("")))
	accepts(false, "entrypoint.args", many(1, text(strings.Repeat("x", 2049))))
	accepts(false, "entrypoint.args", many(1, func(int) any { return 1 }))
	variables := func(n int) map[string]any {
		m := make(map[string]any)
		for i := range n {
			m[fmt.Sprintf("V%d", i)] = ""
		}
		return m
	}
	accepts(true, "entrypoint.environment", variables(64))
	accepts(false, "entrypoint.environment", variables(65))
	for _, name := range []string{"a", "1A", "A-B", "", "A\n"} {
		accepts(false, "entrypoint.environment", map[string]any{name: ""})
	}
	accepts(true, "permissions", many(0, nil))
	accepts(false, "permissions", many(2, text("messages.read")))
	accepts(false, "permissions", many(1, text("all")))
	topics := func(n, length int) []any {
		return many(n, func(i int) any { s := fmt.Sprintf("t.%d", i); return s + strings.Repeat("x", max(0, length-len(s))) })
	}
	accepts(true, "events.subscribe", topics(256, 128))
	accepts(false, "events.subscribe", topics(257, 0))
	accepts(false, "events.subscribe", topics(1, 129))
	accepts(false, "events.subscribe", many(1, text("single")))
	accepts(false, "events.subscribe", many(1, text("a-b.c")))
	panels := func(n int) []any {
		return many(n, func(i int) any {
			return map[string]any{"id": fmt.Sprintf("p%d", i), "title": "t", "slot": "tools.page.advanced"}
		})
	}
	accepts(true, "ui.toolPanels", panels(32))
	accepts(false, "ui.toolPanels", panels(33))
	accepts(true, "ui.toolPanels.0.id", strings.Repeat("x", 128))
	accepts(false, "ui.toolPanels.0.id", strings.Repeat("x", 129))
	accepts(false, "ui.toolPanels.0.slot", "tools.page.other")
	accepts(false, "compatibility.platforms", many(2, text("linux-x64")))
	accepts(false, "compatibility.platforms", many(1, text("plan9-x64")))
	for path, words := range map[string][]string{"trustLevel": {FirstParty, TrustedThirdParty, UntrustedLocal}, "platformProfile": {"desktop", "android"}, "android.runtimeMode": {"packaged_module", "approved_runtime"}} {
		for _, w := range words {
			accepts(true, path, w)
		}
		accepts(false, path, "other")
		accepts(false, path, "")
	}
	for _, path := range []string{"signing.required", "android.allowBackgroundExecution"} {
		accepts(true, path, true)
		accepts(false, path, "true")
	}
}

// TestMembers: required members, unknown ones, and values of another type, at each level.
func TestMembers(t *testing.T) {
	var m map[string]any
	if err := json.Unmarshal([]byte(full), &m); err != nil {
		t.Fatal(err)
	}
	optional := []string{
		"description", "platformProfile", "entrypoint.workingDirectory", "entrypoint.environment", "entrypoint.environment.A", "events", "events.subscribe",
		"ui", "ui.toolPanels", "compatibility", "compatibility.meshchatx", "compatibility.platforms", "android", "android.maxStartupTimeMs", "android.maxMemoryMb", "signing",
	}
	var visit func(path string, at map[string]any)
	visit = func(path string, at map[string]any) {
		if path != "entrypoint.environment." {
			if _, err := Parse("manifest.json", changed(t, path+"other", 1)); err == nil || !strings.Contains(err.Error(), `unknown member "other"`) {
				t.Errorf("%sother: got %v", path, err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(at)) {
			_, err := Parse("manifest.json", changed(t, path+name, nil))
			if want := slices.Contains(optional, path+name); (err == nil) != want {
				t.Errorf("without %s: got %v, want accepted %t", path+name, err, want)
			}
			for _, odd := range []any{7.5, []any{nil}, "\x00\x00"} {
				if _, err := Parse("manifest.json", changed(t, path+name, odd)); err == nil && !(odd == "\x00\x00" && isText(at[name])) {
					t.Errorf("%s = %v was accepted", path+name, odd)
				}
			}
			switch v := at[name].(type) {
			case map[string]any:
				visit(path+name+".", v)
			case []any:
				if o, ok := v[:min(1, len(v))], len(v) > 0; ok {
					if o, ok := o[0].(map[string]any); ok {
						visit(path+name+".0.", o)
					}
				}
			}
		}
	}
	visit("", m)
	android := strings.Replace(string(changed(t, "android", nil)), `"desktop"`, `"android"`, 1)
	if _, err := Parse("manifest.json", []byte(android)); err == nil {
		t.Error("the profile android without its block was accepted")
	}
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}
