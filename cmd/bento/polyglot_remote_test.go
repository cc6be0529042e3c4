package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSecondClone: what one clone of examples/polyglot has built, a second one with an empty disk gets from the remote
// cache, which it only reads. No task runs, and the outputs are equal.
func TestSecondClone(t *testing.T) {
	if testing.Short() {
		t.Skip("most of its time belongs to the tools")
	}
	t.Parallel()
	server := "file://" + t.TempDir()
	first := clonePolyglot(t, server, "BENTO_REMOTE="+server, "BENTO_REMOTE_SIGN_KEY=ci:ApszOlRGh/MEQcDPicdaFF1O5Y3hYZDmkchrCiuv2+0dSRMVq0G7YP5UrYfaP4GWoHjT9HRfn2bnBSS3RyjYeQ==", "CI=true")
	if done := runAll(first, "remote:rw"); done.Built != 14 || done.Remote.Sent != 14 || done.Remote.Left != 0 {
		t.Fatalf("the first clone: %+v, expected 14 built and sent", done)
	}
	second := clonePolyglot(t, server)
	if done := runAll(second, "remote:r"); done.Hits != 14 || done.Remote.Hits != 14 || done.Built != 0 || done.Installs != 0 {
		t.Fatalf("the second clone: %+v, expected 14 hits", done)
	}
	for _, path := range []string{"services/api/bin", "tools/pricing/prices.json", "web/dist"} {
		want := contentOf(t, filepath.Join(first.dir, path))
		if diff := cmp.Diff(want, contentOf(t, filepath.Join(second.dir, path))); diff != "" || len(want) == 0 {
			t.Errorf("%s, %d files (-first +second):\n%s", path, len(want), diff)
		}
	}
}

// clonePolyglot lays a clone with a cache of its own, and without what the tools install. No task races the remote cache:
// the test does not depend on how fast that is.
func clonePolyglot(t *testing.T, server string, env ...string) *tour {
	tr := &tour{t: t, dir: filepath.Join(t.TempDir(), "repository")}
	tr.env = append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(t.TempDir(), "cache"), "CI=", "GIT_CONFIG_GLOBAL="+os.DevNull)
	tr.layPolyglot()
	write(t, tr.dir, "bento.toml", "[plugins]\nallowlist = [\"noop\"]\n[cache]\nremote = \""+server+"\"\nremote_keys = [\"ci:HUkTFatBu2D+VK2H2j+BlqB40/R0X59m5wUkt0co2Hk=\"]\n")
	for dish, tasks := range map[string]string{"menu": "build lint test", "tools/pricing": "test", "services/api": "check test", "crates/portions": "build check lint test", "web": "build test"} {
		for _, task := range strings.Fields(tasks) {
			tr.sh("printf '[tasks." + task + "]\\nrace = false\\n' >>" + dish + "/dish.toml")
		}
	}
	tr.sh("sed -i.old 's/^.tasks.build.$/&\\\nrace = false/' tools/pricing/dish.toml services/api/dish.toml && rm */*/dish.toml.old")
	tr.sh("git init -q && git add .")
	tr.env = append(tr.env, env...)
	return tr
}

// runSummary is what a run says at its end.
type runSummary struct {
	Hits, Built, Installs int
	Remote                struct{ Hits, Sent, Left int }
}

// runAll runs all tasks.
func runAll(tr *tour, mode string) runSummary {
	var doc struct{ Summary runSummary }
	if err := json.Unmarshal([]byte(tr.sh("bento ci --json --cache "+mode+" 2>err.txt || { cat err.txt >&2; exit 1; }; rm err.txt")), &doc); err != nil {
		tr.t.Fatal(err)
	}
	return doc.Summary
}

// contentOf returns the mode and the content of each file below a path.
func contentOf(t *testing.T, root string) map[string]string {
	files := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root)] = fi.Mode().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return files
}
