package companion

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
)

// TestApprovalCoversTheProgram: an extension is refused if its program is a file of the repository that an
// approval does not cover.
func TestApprovalCoversTheProgram(t *testing.T) {
	t.Parallel()
	p := Places{Root: t.TempDir(), Records: &Records{Dir: filepath.Join(t.TempDir(), "records")}}
	for _, path := range []string{"bin/run", "x.y/run"} {
		write(t, filepath.Join(p.Root, path), "#!/bin/sh\n")
	}
	for command, want := range map[string]string{
		filepath.Join(p.Root, "bin/run"):        "an approval does not cover",
		filepath.Join(p.Root, "x.y/run"):        "you have not approved it",
		filepath.Join(p.Root, "x.y/../bin/run"): "an approval does not cover",
		"/bin/sh":                               "you have not approved it", "./run": "you have not approved it", "/none": "you have not approved it",
	} {
		write(t, filepath.Join(p.Root, "x.y", "manifest.json"), fmt.Sprintf(`{"schemaVersion": "1.0.0", "id": "x.y", "name": "X", "version": "1.0.0", "apiVersion": "1.0.0",
 "trustLevel": "trusted_third_party", "entrypoint": {"command": %q, "args": []}, "permissions": [],
 "health": {"startupTimeoutMs": 60000, "heartbeatIntervalMs": 60000, "unhealthyAfterMissedHeartbeats": 2},
 "limits": {"maxRequestBytes": 65536, "maxRequestsPerSecond": 100, "maxConcurrentRequests": 4}}`, command))
		e := Find(&config.Workspace{Extensions: map[string]config.Extension{"x.y": {Path: dish.Text{Text: "x.y"}}}}, p)[0]
		if e.Problem == nil || !strings.Contains(e.Problem.Message, want) {
			t.Errorf("%s: %s, %+v, want %q", command, e.Status, e.Problem, want)
		}
	}
}
