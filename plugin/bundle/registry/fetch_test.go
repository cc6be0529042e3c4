package registry

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// TestDownload: downloads over TLS, with redirects, error statuses and endless bodies.
func TestDownload(t *testing.T) {
	t.Parallel()
	data := tarOf(t, module("a", "1.0.0", ""))
	mux := http.NewServeMux()
	plain := httptest.NewServer(mux)
	defer plain.Close()
	srv := httptest.NewTLSServer(mux)
	defer srv.Close()
	mux.HandleFunc("/a.tar", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	mux.HandleFunc("/to/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("at"), http.StatusFound)
	})
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "99999999999") })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	f := &Fetcher{Transport: srv.Client().Transport}
	for _, c := range []struct{ source, want string }{
		{srv.URL + "/a.tar", ""},
		{plain.URL + "/a.tar", ""},
		{srv.URL + "/to/?at=/a.tar", ""},
		{plain.URL + "/to/?at=" + srv.URL + "/a.tar", ""},
		{srv.URL + "/to/?at=" + plain.URL + "/a.tar", "the server redirects from https to http"},
		{srv.URL + "/to/?at=file:///etc/passwd", "the server redirects from https to file"},
		{srv.URL + "/to/?at=/to/?at=/to/", "more than 5 redirects"},
		{srv.URL + "/none", "the server answered 404 Not Found"},
		{srv.URL + "/long", "99999999999 bytes, expected at most"},
		{srv.URL + "/endless", "more than 53477376 bytes"},
		{strings.Replace(srv.URL, "://", "://user:secret@", 1) + "/none", "user:xxxxx@"},
		{"ftp://localhost/a", `the scheme "ftp" is not supported`},
		{"file://other/a", `the URL names the host "other"`},
		{"/dev/zero", "is no regular file"},
		{"/none", "no such file"},
		{"git+ext::sh", "expected git+https://"},
		{"git+https://localhost/x#-b", "is no branch"},
	} {
		_, err := f.Package(context.Background(), c.source)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: got %v, want %q", c.source, err, c.want)
		}
	}
	_, err := f.Bytes(context.Background(), srv.URL+"/a.tar", int64(len(data)-1))
	wantErr(t, err, fmt.Sprintf("more than %d bytes", len(data)-1))
	_, err = f.Bytes(context.Background(), srv.URL+"/endless", 10)
	wantErr(t, err, "more than 10 bytes")
	if _, err := (&Fetcher{}).Package(context.Background(), srv.URL+"/a.tar"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
}

// TestClone: hooks, filters and links of a repository have no effect, whatever the configuration of the
// user is.
func TestClone(t *testing.T) {
	t.Parallel()
	repo, home := t.TempDir(), t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "--quiet", "--initial-branch=main")
	for _, f := range module("a", "1.0.0", "") {
		write(filepath.Join(repo, f.Name), string(f.Data))
	}
	commit := []string{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "a"}
	git("add", ".")
	git(commit...)
	git("branch", "good")
	write(filepath.Join(repo, ".gitattributes"), "*.wasm filter=evil\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(repo, "link")); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git(commit...)

	ran := filepath.Join(home, "ran")
	script := "#!/bin/sh\ntouch " + ran + "\ncat\n"
	write(filepath.Join(home, "hooks", "post-checkout"), script)
	write(filepath.Join(home, "template", "hooks", "post-checkout"), script)
	write(filepath.Join(home, "evil"), script)
	write(filepath.Join(home, ".gitconfig"), fmt.Sprintf("[core]\nhooksPath = %[1]s/hooks\nfsmonitor = %[1]s/evil\n[init]\ntemplateDir = %[1]s/template\n[filter \"evil\"]\nsmudge = %[1]s/evil\n", home))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=" + home + "/hooks", "GIT_TEMPLATE_DIR=" + home + "/template"}
	f := &Fetcher{Environ: env}
	p, err := f.Package(context.Background(), "git+file://"+repo+"#good")
	if err != nil || p.ID != "a" {
		t.Fatalf("a branch: %v %v", p, err)
	}
	_, err = f.Package(context.Background(), "git+file://"+repo)
	wantErr(t, err, "a link or a special file")
	_, err = f.Package(context.Background(), "git+file://"+repo+"#none")
	wantErr(t, err, "git clone: exited with status")
	_, err = (&Fetcher{Environ: env, cloneLimit: 1}).Package(context.Background(), "git+file://"+repo+"#good")
	wantErr(t, err, "git clone: more than 1 bytes")
	if _, err := os.Stat(ran); err == nil {
		t.Error("git has run a program of the user's configuration")
	}
}

// TestRelease: the index has the size, digest, id and version of the archive.
func TestRelease(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), tarOf(t, module("a", "1.0.0", ""))
	if err := os.WriteFile(filepath.Join(dir, "a.tar"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	good := manifest.Release{ID: "a", Version: "1.0.0", URL: "a.tar", SHA256: sum(data), Size: int64(len(data))}
	for _, c := range []struct {
		change func(*manifest.Release)
		want   string
	}{
		{func(*manifest.Release) {}, ""},
		{func(r *manifest.Release) { r.Size = 0 }, ""},
		{func(r *manifest.Release) { r.URL = "file://" + dir + "/a.tar" }, ""},
		{func(r *manifest.Release) { r.Size++ }, "as the index states"},
		{func(r *manifest.Release) { r.SHA256 = sum(nil) }, "its sha256 is " + sum(data)},
		{func(r *manifest.Release) { r.Version = "1.0.1" }, "it is a 1.0.0, expected a 1.0.1"},
		{func(r *manifest.Release) { r.URL = "../a.tar" }, "a path beside the index"},
		{func(r *manifest.Release) { r.URL = "/etc/passwd" }, "a path beside the index"},
		{func(r *manifest.Release) { r.URL = "git+https://localhost/a" }, "a path beside the index"},
	} {
		r := good
		c.change(&r)
		_, err := (&Fetcher{}).Release(context.Background(), filepath.Join(dir, "index.json"), r)
		wantErr(t, err, c.want)
	}
	for _, c := range []struct{ index, ref, want string }{
		{"https://h/d/index.json", "a.tar", "https://h/d/a.tar"},
		{"https://h/d/index.json", "/a.tar", "https://h/a.tar"},
		{"https://h/i", "http://h/a.tar", "expected one with https"},
		{"http://h/i", "https://h/a.tar", "https://h/a.tar"},
		{"https://h/i", "file:///etc/passwd", "expected one with https"},
	} {
		got, err := address(c.index, c.ref)
		if text := fmt.Sprint(got, err); !strings.Contains(text, c.want) {
			t.Errorf("%s in %s: %q, want %q", c.ref, c.index, text, c.want)
		}
	}
}
