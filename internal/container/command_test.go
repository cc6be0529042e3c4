package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/tree"
)

func sample() *request {
	c := &action.Command{Spec: proc.Spec{Argv: []string{"/bin/sh", "-c", "true"}, Dir: "/ws/app"}, Foreign: true}
	c.Env = []string{"PATH=/ws/app/node_modules/.bin:", "CONF=/ws/app/c.toml:/etc/x", "TEXT=a\nb", "HOME=/ws"}
	return &request{
		engine: &engine{Name: "podman", path: "/usr/bin/podman", args: []string{"--log-level", "error"}, init: true}, image: &inspected{ID: "sha256:ab"},
		container: &dish.Container{Image: "x"}, command: c, root: "/ws", name: "bento-1", task: "app:build", envFile: "/t/env", uid: 1000, gid: 1000,
		runArgs: []string{"--memory=1g"},
	}
}

// TestCommandLine: the network is off and the user is the caller, unless the configuration says otherwise; the image comes after
// the flags of the user.
func TestCommandLine(t *testing.T) {
	r := sample()
	r.image.Config.Env = []string{"PATH=/opt/bin:/bin", "GOPATH=/go", "A=b"} // in any order
	line := strings.Join(r.argv(), " ")
	for _, want := range []string{
		"/usr/bin/podman --log-level error run --rm --pull=never --name bento-1", " --init ", "--network=none", "--user 1000:1000",
		"--workdir /bento/w/app", "--env-file /t/env", "--memory=1g sha256:ab /bin/sh -c true",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%s\nlacks %q", line, want)
		}
	}
	want := []string{"TMPDIR=/tmp", "PATH=/bento/w/app/node_modules/.bin:/opt/bin:/bin", "CONF=/bento/w/app/c.toml:/etc/x", "TEXT=a\nb", "HOME=/bento/w"}
	if diff := cmp.Diff(want, r.environ()); diff != "" {
		t.Error(diff)
	}
	if text := r.fileOfVariables(); strings.Contains(text, "TEXT") || !slices.Contains(r.argv(), "TEXT=a\nb") {
		t.Errorf("a value of two lines: file %q", text)
	}
	r.network = true
	for _, c := range []struct {
		name, user string
		rootless   bool
		alone      bool
		want       string
	}{
		{"podman", "", true, false, "--userns=keep-id --user 1000:1000"}, {"podman", "", true, true, "--user 0:0"}, {"docker", "", true, false, "--user 0:0"},
		{"docker", "", false, false, "--user 1000:1000"}, {"podman", "node", true, false, "--user node"},
	} {
		r.engine.Name, r.engine.rootless, r.engine.alone, r.container.User = c.name, c.rootless, c.alone, c.user
		if got := strings.Join(r.user(), " "); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if line = strings.Join(r.argv(), " "); !strings.Contains(line, "--network=host") {
		t.Error(line)
	}
}

// TestMountOption: paths with any characters are fields of one line.
func TestMountOption(t *testing.T) {
	b := bind{source: `/a,b:c"d`, target: "/bento/w/x:y"}
	if got, want := b.option(), `type=bind,"src=/a,b:c""d",dst=/bento/w/x:y,readonly`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// reachOf returns the reach of a task of the dish app that makes these outputs.
func reachOf(t *testing.T, root string, outputs []string, u key.Usable, files ...string) *record.Reach {
	t.Helper()
	changes, err := tree.CompileSet("app", outputs)
	if err != nil {
		t.Fatal(err)
	}
	u.Change = outputs
	r := &record.Reach{Root: root, Usable: u, Files: make(map[string]bool), Changes: changes, Elsewhere: new(tree.Set)}
	for _, f := range files {
		r.Files[f] = true
	}
	return r
}

// TestWorkspace: only the directories of outputs are writable, and in them only what the task changes; with inputs, what it may not
// read is covered.
func TestWorkspace(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"app/in.txt", "app/other.txt", "app/src/a.go", "app/dist/old", "lib/x", "lib/y", "secret/z", ".bento/secret"} {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := reachOf(t, root, []string{"dist/**", "out.txt"}, key.Usable{Areas: []string{"app"}, Trees: []string{"lib/x"}, Roots: []string{"app/dist", "app/out.txt"}}, "app/in.txt", "app/src/a.go", "lib/x")
	show := func(inputs bool) (list []string) {
		binds, err := workspace(r, inputs, "/empty")
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range binds {
			text := strings.TrimPrefix(b.target, Workspace) + " = " + strings.Replace(b.source, root, "", 1)
			if b.write {
				text += " rw"
			}
			list = append(list, text)
		}
		slices.Sort(list)
		return list
	}
	plain := []string{" = ", "/.bento = /empty/dir", "/app = /app rw", "/app/in.txt = /app/in.txt", "/app/other.txt = /app/other.txt", "/app/src = /app/src", "/lib/x = /lib/x rw"}
	if diff := cmp.Diff(plain, show(false)); diff != "" {
		t.Error(diff)
	}
	hidden := []string{" = ", "/.bento = /empty/dir", "/app = /app rw", "/app/in.txt = /app/in.txt", "/app/other.txt = /empty/file", "/app/src = /app/src", "/lib/x = /lib/x rw", "/lib/y = /empty/file", "/secret = /empty/dir"}
	if diff := cmp.Diff(hidden, show(true)); diff != "" {
		t.Error(diff)
	}
}

// TestAtRoot: the workspace is at its own place, too, unless the image or bento has something there.
func TestAtRoot(t *testing.T) {
	binds := []bind{{source: "/w", target: Workspace}, {source: "/w/app", target: Workspace + "/app", write: true}}
	for root, want := range map[string][]bind{
		"/w":          {{source: "/w", target: "/w"}, {source: "/w/app", target: "/w/app", write: true}},
		"/home/me/w":  {{source: "/w", target: "/home/me/w"}, {source: "/w/app", target: "/home/me/w/app", write: true}},
		"/":           nil,
		"/usr":        nil,
		"/bento":      nil,
		Workspace:     nil,
		"/bento/w/in": nil,
	} {
		if diff := cmp.Diff(want, atRoot(binds, root), cmp.AllowUnexported(bind{})); diff != "" {
			t.Errorf("%s: %s", root, diff)
		}
	}
}

// TestDigestOf: the digest of a registry goes before those that only this machine knows.
func TestDigestOf(t *testing.T) {
	sum := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	for _, c := range []struct {
		image inspected
		want  string
	}{
		{inspected{ID: strings.Repeat("a", 64)}, sum("a")},
		{inspected{ID: sum("a"), Digest: sum("b")}, sum("b")},
		{inspected{ID: sum("a"), Digest: sum("b"), RepoDigests: []string{"docker.io/library/go@" + sum("c"), "docker.io/library/go@" + sum("b")}}, sum("b")},
		{inspected{ID: sum("a"), RepoDigests: []string{"other@" + sum("d"), "go@" + sum("c")}}, sum("c")},
	} {
		if got := c.image.digestOf("go:1"); got != c.want {
			t.Errorf("%+v: %s", c.image, got)
		}
	}
	if got := dish.Repository("localhost:5000/a/b:1@sha256:x"); got != "localhost:5000/a/b" {
		t.Error(got)
	}
}
