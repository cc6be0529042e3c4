package ainb

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/plugin/ainb/manifest"
)

// ask runs an extension that only sends requests, until f returns.
func ask(t *testing.T, capabilities string, change func(*Options), f func(k *kid)) *rig {
	t.Helper()
	asked := make(chan struct{})
	r := newRig(t, "[capabilities]\n"+capabilities+"\n", func(o *Options) {
		x := &o.Extensions[0]
		x.Grants = make(map[string]manifest.Grant)
		for name := range x.Manifest.Capabilities {
			x.Grants[name] = manifest.Grant{All: true}
		}
		if change != nil {
			change(o)
		}
	}, func(k *kid) {
		k.greet()
		f(k)
		close(asked)
		k.serve()
	})
	r.wake(t, "kid-x")
	<-asked
	return r
}

// outcome returns the code of an answer with its message or result.
func (q query) outcome() string {
	if q.Error != nil {
		return strings.TrimSpace(fmt.Sprintf("%d %s %s", q.Error.Code, q.Error.Message, q.Error.Data))
	}
	return string(q.Result)
}

func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// lay creates files below dir. A name that ends in "/" is a directory, "a -> b" is a link.
func lay(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte("in "+filepath.Base(name)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFiles: an extension reads files only below the directories of granted capabilities, whatever the
// target of a link is.
func TestFiles(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lay(t, home, ".agents-in-a-box/sessions/s/a", ".claude/projects/p", ".codex/sessions/c", "mine/a", "mine/sub/b", "mine/two/", "secret/key",
		"mine/out -> ../secret", "mine/file -> ../secret/key", "mine/in -> sub/b", "mine/abs -> "+home+"/mine/a", "mine/gone -> ../secret/none",
		"mine/loop -> loop", "via -> mine", "minecraft/a", "one")
	if err := syscall.Mkfifo(filepath.Join(home, "mine/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(home, "mine/large"))
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if err := large.Truncate(maxFile + 1); err != nil {
		t.Fatal(err)
	}
	const denied = "-32001 capability denied: "
	read := `read_paths = ["~/mine", "${WHERE}/one", "relative"]`
	for _, c := range []struct{ capabilities, path, want string }{
		{"read_sessions = true", "~/.agents-in-a-box/sessions/s/a", "in a"},
		{"read_claude_logs = true", "~/.claude/projects/p", "in p"},
		{"read_codex_logs = true", "~/.codex/sessions/c", "in c"},
		{"read_codex_logs = true", "~/.claude/projects/p", denied + "read_claude_logs"},
		{"", "~/.codex/sessions/c", denied + "read_codex_logs"},
		{"", "~/.codex/sessions/none", denied + "read_codex_logs"},
		{"", "/etc/shadow", denied + "read_sessions"},
		{"read_paths = true", "~/mine/a", denied + "read_paths"},
		{"read_paths = []", "~/mine/a", denied + "read_sessions"},
		{read, "~/mine/a", "in a"},
		{read, "~/mine/sub/b", "in b"},
		{read, "~/mine/sub/../a", "in a"},
		{read, "~/mine/../secret/key", denied + "read_paths"},
		{read, "~/mine/two/../../secret/key", denied + "read_paths"},
		{read, "~/mine/out/key", denied + "read_paths"},
		{read, "~/mine/file", denied + "read_paths"},
		{read, "~/mine/in", "in b"},
		{read, "~/mine/abs", "in a"},
		{read, "~/via/a", "in a"},
		{read, "~/minecraft/a", denied + "read_paths"},
		{read, "~/one", "in one"},
		{read, "~/mine/none", "-32602 read ~/mine/none: no such file"},
		{read, "~/via/none/more", "-32602 read ~/via/none/more: no such file"},
		{read, "~/mine/gone", denied + "read_paths"},
		{read, "~/mine/loop", "-32602 read ~/mine/loop: "},
		{read, "~/mine/sub", "-32602 read ~/mine/sub: it is not a regular file"},
		{read, "~/mine/pipe", "-32602 read ~/mine/pipe: it is not a regular file"},
		{read, "~/mine/large", "-32602 read ~/mine/large: it has more than 12582912 bytes"},
		{read, "mine/a", "-32602 params.path is \"mine/a\", required an absolute path"},
		{read, "~/mine/a\x00b", "-32602 params.path"},
	} {
		path := strings.Replace(c.path, "~", home, 1)
		ask(t, c.capabilities, func(o *Options) {
			o.Home = home
			o.Getenv = func(name string) string { return map[string]string{"WHERE": home}[name] }
		}, func(k *kid) {
			a := k.ask("1", "host/fs/read_file", fmt.Sprintf(`{"path":%s}`, quoted(path)))
			got := a.outcome()
			var file struct{ Bytes []byte }
			if a.Error == nil && json.Unmarshal(a.Result, &file) == nil {
				got = string(file.Bytes)
			}
			want := strings.ReplaceAll(c.want, "~", home)
			if strings.HasPrefix(want, "-32602") && !strings.HasPrefix(got, want) || !strings.HasPrefix(want, "-32602") && got != want {
				t.Errorf("%q of %s: got %.200q, want %q", c.capabilities, c.path, got, want)
			}
		})
	}
}

// TestDirectories: entries have names, kinds and sizes. The size of a directory is 0.
func TestDirectories(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	lay(t, home, "mine/abc", "mine/sub/x", "mine/out -> /etc", "mine/empty/")
	many := filepath.Join(home, "mine", "empty", "many")
	for i := range 3 {
		lay(t, many, fmt.Sprint(i))
	}
	ask(t, `read_paths = ["~/mine"]`, func(o *Options) { o.Home = home }, func(k *kid) {
		got := map[string]entry{}
		var list struct{ Entries []entry }
		a := k.ask("1", "host/fs/read_dir", fmt.Sprintf(`{"path":%q}`, home+"/mine"))
		if err := json.Unmarshal(a.Result, &list); err != nil {
			t.Errorf("%v: %s", err, a.outcome())
		}
		for _, e := range list.Entries {
			got[e.Name] = e
		}
		if len(got) != 4 || got["abc"] != (entry{"abc", false, 6}) || got["sub"] != (entry{"sub", true, 0}) || got["out"].IsDir {
			t.Errorf("got %v", got)
		}
		for path, want := range map[string]string{
			"/mine/out": "-32001 capability denied: read_paths", "/mine/abc": "-32602 read_dir ", "/mine/none": "-32602 read_dir ",
		} {
			if got := k.ask("2", "host/fs/read_dir", fmt.Sprintf(`{"path":%q}`, home+path)).outcome(); !strings.HasPrefix(got, want) {
				t.Errorf("%s: got %s, want %s", path, got, want)
			}
		}
	})
}

// TestFilesRace: while a directory and a link to another directory swap places, no read returns a file of
// the other directory.
func TestFilesRace(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	lay(t, home, "mine/dir/key", "secret/key", "mine/link -> ../secret")
	if err := os.WriteFile(filepath.Join(home, "secret", "key"), []byte("stolen"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		at := func(name string) string { return filepath.Join(home, "mine", name) }
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(at("dir"), at("spare"))
			_ = os.Rename(at("link"), at("dir"))
			_ = os.Rename(at("dir"), at("link"))
			_ = os.Rename(at("spare"), at("dir"))
		}
	})
	seen := map[string]int{}
	ask(t, `read_paths = ["~/mine"]`, func(o *Options) { o.Home = home }, func(k *kid) {
		for i := range 1000 {
			a := k.ask(fmt.Sprint(i), "host/fs/read_file", fmt.Sprintf(`{"path":%q}`, home+"/mine/dir/key"))
			what := a.outcome()
			if a.Error != nil {
				what = fmt.Sprint(a.Error.Code)
			}
			seen[what]++
		}
	})
	close(stop)
	swaps.Wait()
	if seen[`{"bytes":"c3RvbGVu"}`] > 0 || seen[`{"bytes":"aW4ga2V5"}`] == 0 {
		t.Errorf("got %v", seen)
	}
}

// TestWriting: an extension writes only below the directory of its own data.
func TestWriting(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	own := filepath.Join(home, ".agents-in-a-box/plugins/kid-x")
	lay(t, home, ".agents-in-a-box/plugins/kid-y/a", "secret/a", ".agents-in-a-box/plugins/kid-x/out -> ../../../secret")
	for _, c := range []struct{ capability, path, want string }{
		{"write_plugin_data = true", own + "/a", "{}"},
		{"write_plugin_data = true", own + "/deep/er/a", "{}"},
		{"write_plugin_data = true", own + "/a", "{}"},
		{"write_plugin_data = false", own + "/b", "-32001 capability denied: write_plugin_data"},
		{"write_plugin_data = true", own + "/../kid-y/a", "-32001 capability denied: write_plugin_data"},
		{"write_plugin_data = true", own + "/out/a", "-32001 capability denied: write_plugin_data"},
		{"write_plugin_data = true", home + "/b", "-32001 capability denied: write_plugin_data"},
		{"write_plugin_data = true", own + "/deep", "-32602 write "},
		{"write_plugin_data = true", own, "-32602 write "},
	} {
		ask(t, c.capability, func(o *Options) { o.Home = home }, func(k *kid) {
			if got := k.ask("1", "host/fs/write_file", fmt.Sprintf(`{"path":%q,"bytes":"bmV3"}`, c.path)).outcome(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s of %s: got %s, want %s", c.capability, c.path, got, c.want)
			}
		})
	}
	for path, want := range map[string]string{own + "/a": "new", own + "/deep/er/a": "new", filepath.Join(home, "secret/a"): "in a"} {
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if names, _ := filepath.Glob(own + "/*.new"); names != nil {
		t.Errorf("left: %v", names)
	}
}

// TestNetwork: only granted hosts receive requests, also after a redirect.
func TestNetwork(t *testing.T) {
	t.Parallel()
	var other *httptest.Server
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
		case "/near":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/large":
			_, _ = w.Write(make([]byte, maxFetched+1))
		default:
			body := make([]byte, 100)
			n, _ := r.Body.Read(body)
			w.Header().Set("X-Kid", r.Header.Get("X-Kid"))
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s", r.Method, body[:n])
		}
	}))
	defer server.Close()
	other = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a host that is not granted was asked") }))
	defer other.Close()
	const only = `network = ["127.0.0.1", "Example.com"]`
	for _, c := range []struct{ capability, params, want string }{
		{"", `{"url":"U"}`, "-32001 capability denied: network"},
		{"network = []", `{"url":"U"}`, "-32001 capability denied: network"},
		{`network = ["example.com"]`, `{"url":"U"}`, `-32001 capability denied: network {"host":"127.0.0.1"}`},
		{only, `{"url":"U"}`, `418 GET `},
		{"network = true", `{"url":"U/near"}`, `418 GET `},
		{only, `{"url":"U","method":"POST","body":"aGk=","headers":[["X-Kid","k"]]}`, `418 POST hi k`},
		{only, `{"url":"U/away"}`, "-32001 capability denied: network"},
		{only, `{"url":"U/round"}`, "-32603 Get \"/round\": more than 10 redirects"},
		{only, `{"url":"U/large"}`, "-32603 GET U/large: the answer has more than"},
		{only, `{"url":"file:///etc/passwd"}`, "-32602 params.url is"},
		{only, `{"url":"127.0.0.1"}`, "-32602 params.url is"},
		{only, `{}`, "-32602 params.url is missing"},
		{only, `{"url":"U","method":"a b"}`, "-32602 params.method"},
		{only, `{"url":"U","headers":[["a"]]}`, "-32602 params.headers[0] has 1 values"},
		{only, `{"url":"U","headers":[["a\n","b"]]}`, "-32603 "},
	} {
		ask(t, c.capability, nil, func(k *kid) {
			a := k.ask("1", "host/network/fetch", strings.Replace(c.params, "U", server.URL, 1))
			got := a.outcome()
			var f struct {
				Status  int
				Headers [][2]string
				Body    []byte
			}
			if a.Error == nil && json.Unmarshal(a.Result, &f) == nil {
				got = fmt.Sprintf("%d %s", f.Status, f.Body)
				for _, h := range f.Headers {
					if h[0] == "x-kid" && h[1] != "" {
						got += " " + h[1]
					}
				}
			}
			if want := strings.ReplaceAll(c.want, "U", server.URL); !strings.HasPrefix(got, want) {
				t.Errorf("%q %s: got %.300s, want %s", c.capability, c.params, got, want)
			}
		})
	}
}
