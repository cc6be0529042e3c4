package companion

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
)

// write writes a file that may be executed.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// approve approves all extensions of a configuration.
func approve(t *testing.T, cfg *config.Workspace, p Places) {
	t.Helper()
	for _, e := range Find(cfg, p) {
		if err := p.Decide(&e, "approve"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChangedBeforeTheStart: bento does not start an extension of either contract whose files were replaced between the
// decision and the start. It reports the change.
func TestChangedBeforeTheStart(t *testing.T) {
	t.Parallel()
	const started = "#!/bin/sh\necho started >> \"$STARTED\"\n"
	for contract, files := range map[string]map[string]string{
		ContractAinb: {
			"manifest.toml": "[plugin]\nname = 'x.y'\nversion = '1.0.0'\nabi_version = 2\n[provides]\ncli_namespaces = ['ns']\n",
			"x.y":           "#!/bin/sh\n",
		},
		ContractSEP: {
			"manifest.json": `{"schemaVersion": "1.0.0", "id": "x.y", "name": "X", "version": "1.0.0", "apiVersion": "1.0.0", "trustLevel": "trusted_third_party",
 "entrypoint": {"command": "./x.y", "args": []}, "permissions": ["tools.register"], "ui": {"toolPanels": [{"id": "ns", "title": "T", "slot": "tools.page.primary"}]},
 "health": {"startupTimeoutMs": 60000, "heartbeatIntervalMs": 60000, "unhealthyAfterMissedHeartbeats": 2},
 "limits": {"maxRequestBytes": 65536, "maxRequestsPerSecond": 100, "maxConcurrentRequests": 4}}`,
			"x.y": "#!/bin/sh\n",
		},
	} {
		t.Run(contract, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir := filepath.Join(root, "x.y")
			for name, text := range files {
				write(t, filepath.Join(dir, name), text)
			}
			p := Places{Root: root, Records: &Records{Dir: filepath.Join(t.TempDir(), "records")}}
			cfg := &config.Workspace{Extensions: map[string]config.Extension{"x.y": {Path: dish.Text{Text: "x.y"}, Grant: []string{"tools.register"}, Env: []string{"STARTED"}}}}
			approve(t, cfg, p)
			list := Find(cfg, p)
			if list[0].Status != Ready {
				t.Fatalf("%+v", list[0].Problem)
			}
			log := filepath.Join(t.TempDir(), "started")
			write(t, filepath.Join(dir, "x.y"), started)
			s := OpenOne(t.Context(), list, list[0].ID, Options{
				Places: p, State: state.Open(root), Guard: func() {}, Environ: adapters.NewEnviron([]string{"PATH=/bin:/usr/bin", "STARTED=" + log}),
			})
			_, err := s.Command(t.Context(), "ns", nil)
			s.Close()
			if err == nil || !strings.Contains(err.Error(), "its files have changed: expected sha256 "+list[0].Digest[:12]+", found ") {
				t.Errorf("%v", err)
			}
			if problems := s.Problems(); len(problems) != 1 || problems[0].Rule != RuleChanged || !strings.Contains(problems[0].Hint, "bento ext approve") {
				t.Errorf("%+v", problems)
			}
			if _, err := os.Stat(log); err == nil {
				t.Error("the replaced file was started")
			}
		})
	}
}
