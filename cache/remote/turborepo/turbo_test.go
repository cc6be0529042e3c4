package turborepo

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/internal/proc"
)

// turboWorkspace writes a workspace of turbo's with one package, which counts its builds.
func turboWorkspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json":            `{"name": "ws", "private": true, "workspaces": ["packages/*"], "packageManager": "npm@9.0.0"}`,
		"package-lock.json":       `{"name": "ws", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "ws", "workspaces": ["packages/*"]}, "node_modules/a": {"resolved": "packages/a", "link": true}, "packages/a": {"version": "1.0.0"}}}`,
		"turbo.json":              `{"tasks": {"build": {"outputs": ["dist/**"]}}}`,
		"packages/a/package.json": `{"name": "a", "version": "1.0.0", "scripts": {"build": "mkdir -p dist && echo built > dist/out && echo x >> ../../builds"}}`,
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// turbo builds a workspace with an empty cache of its own, and returns what it prints.
func turbo(t *testing.T, dir, address string) string {
	t.Helper()
	for _, old := range []string{".turbo", "node_modules", "packages/a/dist", "packages/a/.turbo"} {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			t.Fatal(err)
		}
	}
	program, err := adaptertest.Env().LookPath("turbo")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	res, err := proc.Run(t.Context(), proc.Spec{
		Argv: []string{program, "run", "build", "--no-daemon", "--api=" + address, "--token=hush", "--team=us"}, Dir: dir, Stdout: &out, Stderr: &out,
		Env: append(os.Environ(), "TURBO_TELEMETRY_DISABLED=1", "DO_NOT_TRACK=1", "HOME="+t.TempDir(), "CI=1"),
	})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("turbo: %v, %+v\n%s", err, res, out.String())
	}
	return out.String()
}

// TestBesideTurbo: one server that turbo and bento fill has each one's results for it alone.
func TestBesideTurbo(t *testing.T) {
	t.Parallel()
	adaptertest.Need(t, "turbo", "npm")
	s := servertest.Turborepo(t, "hush")
	address := "http://" + s.HTTP
	dir := turboWorkspace(t)
	turbo(t, dir, address)

	o, here, there := options(t), remotetest.NewDisk(t), remotetest.NewDisk(t)
	store := open(t, address, "us", "hush", o)
	defer store.Close()
	var out []remote.Outgoing
	for range 20 {
		key := remotetest.Key()
		out = append(out, remote.Outgoing{Key: key, Record: remotetest.Result(t, here, key, remotetest.Noise(9000))})
	}
	store.Send(t.Context(), here, out, func(s remote.Sent) {
		if s.Err != nil {
			t.Error(s.Err)
		}
	})

	if text := turbo(t, dir, address); !strings.Contains(text, "FULL TURBO") {
		t.Errorf("turbo found nothing:\n%s", text)
	}
	if builds, _ := os.ReadFile(filepath.Join(dir, "builds")); string(builds) != "x\n" {
		t.Errorf("turbo built %d times", len(builds)/2)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "packages/a/dist/out")); string(text) != "built\n" {
		t.Errorf("turbo restored %q, %v", text, err)
	}
	for _, r := range out {
		if _, err := remotetest.Get(t.Context(), store, there, r.Key); err != nil {
			t.Errorf("bento: %v", err)
		}
	}
	underOurName(t, s, store, o)
}

// underOurName replaces a result of bento's by the artifact of turbo: as if both had the same name.
func underOurName(t *testing.T, s *servertest.Server, store remote.Store, o remote.Options) {
	t.Helper()
	key := remotetest.Key()
	name := nameOf(remote.ID{Key: key, Class: o.Class, Scope: "trunk"})
	found := 0
	err := filepath.WalkDir(s.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(d.Name()) != len(name) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(turboTar(t, data), []byte("packages/a/dist/out")) {
			return err
		}
		found++
		return os.WriteFile(filepath.Join(filepath.Dir(path), name), data, 0o644)
	})
	if err != nil || found == 0 {
		t.Fatalf("the server has %d artifacts of turbo, %v", found, err)
	}
	if _, err := remotetest.Get(t.Context(), store, remotetest.NewDisk(t), key); !errors.Is(err, cache.ErrMiss) && !errors.Is(err, remote.ErrMiss) {
		t.Errorf("turbo's artifact as bento's: %v", err)
	}
}
