package manifest

import (
	"strings"
	"testing"
)

const minimal = `{"schemaVersion":"1.0.0","id":"acme.lint","name":"Lint","version":"0.2.0","apiVersion":"1.0.0","trustLevel":"untrusted_local",
"entrypoint":{"command":"./lint","args":[]},"permissions":["notifications.create"],
"health":{"startupTimeoutMs":5000,"heartbeatIntervalMs":5000,"unhealthyAfterMissedHeartbeats":2},
"limits":{"maxRequestBytes":65536,"maxRequestsPerSecond":20,"maxConcurrentRequests":4}}`

func TestFaults(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`5000,"heartbeat`, `5000.0,"heartbeat`, ""},
		{`5000,"heartbeat`, `5e3,"heartbeat`, ""},
		{`5000,"heartbeat`, `999,"heartbeat`, `"health.startupTimeoutMs" is 999, required an integer from 1000 to 120000`},
		{`5000,"heartbeat`, `5000.5,"heartbeat`, `is 5000.5, required an integer`},
		{`5000,"heartbeat`, `1e999999999999,"heartbeat`, `required an integer`},
		{`"acme.lint"`, `"acme"`, `"id" is "acme", required lower-case`},
		{`"acme.lint"`, `"acme.lint\n"`, `"id" is`},
		{`"name":"Lint"`, `"name":null`, `"name" is null, required a string`},
		{`"name":"Lint",`, ``, `the manifest has no member "name", which is required`},
		{`"name":"Lint"`, `"name":"a","name":"b"`, `a second member "name"`},
		{`"args":[]`, `"args":[],"shell":true`, `"entrypoint" has an unknown member "shell"`},
		{`["notifications.create"]`, `["messages.read","messages.read"]`, `"permissions[1]" is "messages.read", which is in the list before`},
		{`"untrusted_local"`, `"untrusted_local","platformProfile":"android"`, `has no member "android"`},
		{`"args":[]`, `"args":[],"environment":{"path":"x"}`, `has a member "path"`},
		{`"maxConcurrentRequests":4}}`, `"maxConcurrentRequests":4}} x`, `not valid JSON`},
		{`Lint`, "L\xff", `invalid UTF-8`},
	} {
		_, err := Parse("manifest.json", []byte(strings.Replace(minimal, c.old, c.new, 1)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q in place of %q: got %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse("manifest.json", data)
		if (m == nil) != (err != nil) {
			t.Fatalf("manifest %v with error %v", m, err)
		}
		if m != nil {
			m.Conflicts()
			m.Refusals("linux-x64")
		}
	})
}
