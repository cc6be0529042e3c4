package ainb

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/plugin/ainb/manifest"
)

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for began := time.Now(); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("the process %d still runs", pid)
		}
	}
}

// TestManagedChildren: only listed programs start, with listed variables. No child outlives the process of
// the extension.
func TestManagedChildren(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	getenv := func(o *Options) {
		o.Getenv = func(name string) string { return map[string]string{"A": "1", "B": "2", "PATH": "/bin:/usr/bin"}[name] }
	}
	const list = `spawn_managed_subprocess = ["sh", "none", "/bin/sleep"]`
	for _, c := range []struct{ capability, params, want string }{
		{"", `{"bin":"sh"}`, `-32001 capability denied: spawn_managed_subprocess {"bin":"sh"}`},
		{"spawn_managed_subprocess = true", `{"bin":"sh"}`, `-32003 spawn_managed_subprocess = true in the manifest: required a list`},
		{"spawn_managed_subprocess = [\"sh*\"]", `{"bin":"sh"}`, `-32001 capability denied: spawn_managed_subprocess {"bin":"sh"}`},
		{list, `{"bin":"bash"}`, `-32001 capability denied`},
		{list, `{"bin":"/bin/sh"}`, `-32001 capability denied`},
		{list, `{"bin":"none"}`, `-32602 spawn none: `},
		{list, `{"argv":["x"]}`, `-32602 params.bin is missing`},
		{`spawn_managed_subprocess = ["./sh"]`, `{"bin":"./sh"}`, `-32602 spawn ./sh: it is a relative path`},
		{list, `{"bin":"sh","argv":[7]}`, `-32602 params: argv[0]`},
		{list, `{"bin":"sh","cwd":"/none/at/all"}`, `-32602 spawn sh: `},
		{list, `{"bin":"sh","argv":["-c",` + quoted("env >"+out+".new; mv "+out+".new "+out) + `],"env_allowlist":["A","PATH","C"]}`, `{"handle":"c`},
	} {
		ask(t, c.capability, getenv, func(k *kid) {
			if got := k.ask("1", "host/spawn_managed_subprocess", c.params).outcome(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%q %s: got %s, want %s", c.capability, c.params, got, c.want)
			}
			for began := time.Now(); strings.Contains(c.want, "handle") && time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
				if _, err := os.Stat(out); err == nil {
					break
				}
			}
		})
	}
	env, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(env), "A=1\n") || strings.Contains(string(env), "B=") || strings.Contains(string(env), "HOME=") {
		t.Errorf("%v, environment:\n%s", err, env)
	}
	var started struct{ PID int }
	r := ask(t, list, nil, func(k *kid) {
		if err := json.Unmarshal(k.ask("1", "host/spawn_managed_subprocess", `{"bin":"/bin/sleep","argv":["600"]}`).Result, &started); err != nil {
			t.Error(err)
		}
	})
	if syscall.Kill(started.PID, 0) != nil {
		t.Error("the child does not run")
	}
	if err := r.Reload("kid-x"); err != nil {
		t.Fatal(err)
	}
	gone(t, started.PID)
	ask(t, list, nil, func(k *kid) {
		for i := range maxChildren + 1 {
			got := k.ask(fmt.Sprint(i), "host/spawn_managed_subprocess", `{"bin":"/bin/sleep","argv":["600"]}`).outcome()
			if many := strings.HasPrefix(got, "-32602 more than 16 children"); many != (i == maxChildren) {
				t.Errorf("child %d: %s", i, got)
			}
		}
	})
}

// echo is a server on a Unix socket that sends each message back, until "bye".
func echo(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 1024)
			for {
				n, err := c.Read(buf)
				if err != nil || string(buf[:n]) == "bye" {
					break
				}
				_, _ = c.Write(buf[:n])
			}
			c.Close()
		}
	}()
}

// TestUnixSockets: an extension may only dial listed sockets, whatever the target of a link is. Bytes from
// a socket arrive in order.
func TestUnixSockets(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ainb") // its path has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	echo(t, filepath.Join(dir, "good"))
	lay(t, dir, "link -> good", "other", "bad -> other")
	list := `unix_socket_dial = ["~/good", "~/missing", "` + dir + `/swapped"]`
	lay(t, dir, "swapped -> other2")
	home := func(o *Options) { o.Home = dir }
	for _, c := range []struct{ capability, path, want string }{
		{"", "/good", "-32001 capability denied: unix_socket_dial {\"path\":"},
		{"unix_socket_dial = true", "/good", "-32003 "},
		{list, "/other", "-32001 capability denied"},
		{list, "/bad", "-32001 capability denied"},
		{list, "/missing", "-32602 dial "},
		{list, "/" + strings.Repeat("x", 200), "-32001"},
		{list, "/link", `{"stream_id":"s`},
		{list, "/good", `{"stream_id":"s`},
		{list, "/swapped", "-32602 dial "},
		{list, "", "-32001 "},
	} {
		ask(t, c.capability, home, func(k *kid) {
			if got := k.ask("1", "host/unix_socket_dial", fmt.Sprintf(`{"path":%q}`, dir+c.path)).outcome(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%q %s: got %s, want %s", c.capability, c.path, got, c.want)
			}
		})
	}
}

// TestSocketIsAStream: bytes go both ways, the end is an event, and no message follows a close.
func TestSocketIsAStream(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ainb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	echo(t, path)
	ask(t, fmt.Sprintf("unix_socket_dial = [%q]", path), nil, func(k *kid) {
		var to struct {
			ID string `json:"stream_id"`
		}
		a := k.ask("1", "host/unix_socket_dial", fmt.Sprintf(`{"path":%q}`, path))
		if err := json.Unmarshal(a.Result, &to); err != nil {
			t.Error(a.outcome())
		}
		send := func(text string) {
			k.tell("host/unix_socket_send", fmt.Sprintf(`{"stream_id":%q,"bytes":%q}`, to.ID, base64.StdEncoding.EncodeToString([]byte(text))))
		}
		var got []string
		next := func() string {
			var p struct {
				Topic   string
				Payload []byte
			}
			if err := json.Unmarshal(k.read().Params, &p); err != nil || p.Topic != "socket:"+to.ID {
				t.Errorf("%v %v", p, err)
			}
			return string(p.Payload)
		}
		send("one")
		got = append(got, next())
		k.tell("host/unix_socket_send", `{"stream_id":"s999","bytes":"AAAA"}`)
		send("two")
		got = append(got, next())
		send("bye")
		got = append(got, next())
		want := []string{`{"kind":"data","bytes":"b25l"}`, `{"kind":"data","bytes":"dHdv"}`, `{"kind":"eof"}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSecrets: a key must be listed, unless the grant is true. No secret is in the trace.
func TestSecrets(t *testing.T) {
	t.Parallel()
	store := func(_ context.Context, scope, workspace, key string) ([]byte, bool, error) {
		if key == "broken" {
			return nil, false, errors.New("locked")
		}
		value, ok := map[string]string{"user//token": "hunter2", "workspace/w1/token": "of w1"}[scope+"/"+workspace+"/"+key]
		return []byte(value), ok, nil
	}
	const list = `"secrets:read" = ["token", "broken"]`
	for _, c := range []struct{ capability, params, want string }{
		{"", `{"scope":"user","key":"token"}`, "-32001 capability denied: secrets:read"},
		{list, `{"scope":"user","key":"other"}`, `-32001 capability denied: secrets:read {"key":"other"}`},
		{list, `{"scope":"user","key":"token"}`, `{"value":"aHVudGVyMg=="}`},
		{list, `{"scope":"workspace","workspace_id":"w1","key":"token"}`, `{"value":"b2YgdzE="}`},
		{list, `{"scope":"workspace","workspace_id":"w2","key":"token"}`, "-32004 secret not found: scope=workspace key=token"},
		{`"secrets:read" = true`, `{"scope":"user","key":"any"}`, "-32004 secret not found: scope=user key=any"},
		{list, `{"scope":"user","key":"broken"}`, "-32603 the secrets cannot be read: locked"},
		{list, `{"key":"token"}`, "-32602 params.scope is missing"},
		{list, `{"scope":"user"}`, "-32602 params.key is missing"},
	} {
		var traced strings.Builder
		r := ask(t, c.capability, func(o *Options) {
			o.Secret = store
			o.Trace = func(_ string, _ bool, body []byte) { traced.Write(body) }
		}, func(k *kid) {
			if got := k.ask("1", "host/secret_store_get", c.params).outcome(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%q %s: got %s, want %s", c.capability, c.params, got, c.want)
			}
			k.tell("host/log", `{"level":"info","message":"aHVudGVyMg=="}`)
			k.ask("2", "host/none", "{}")
		})
		r.Close()
		if text := traced.String(); strings.Contains(c.want, "aHVud") && (strings.Contains(text, "aHVud") || !strings.Contains(text, "***")) || strings.Contains(r.decided(), "hunter2") {
			t.Errorf("traced: %s", text)
		}
	}
}

// TestStreams: a stream delivers the events of its topic until it is cancelled or its process ends. No
// other extension can cancel it.
func TestStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := map[string][]string{}
		r := &rig{m: map[string]*memory{}}
		run := func(name string) func(k *kid) {
			return func(k *kid) {
				k.result(k.read(), fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, name))
				if name == "kid-a" {
					for i, topic := range []string{"a", "a", "b.c", "fleet.x", "c"} {
						got["open"] = append(got["open"], k.ask(fmt.Sprint(i), "host/event_stream_subscribe", fmt.Sprintf(`{"topic":%q,"since_version":0}`, topic)).outcome())
					}
				} else {
					k.tell("host/event_stream_cancel", `{"stream_id":"e1"}`)
				}
				for {
					q := k.read()
					switch {
					case q.over || q.Method == "plugin/shutdown":
						return
					case q.Method == "plugin/handle_event":
						got[name] = append(got[name], string(q.Params))
						if len(got[name]) == 4 {
							k.tell("host/event_stream_cancel", `{"stream_id":"e1"}`)
						}
					}
				}
			}
		}
		a := r.member(t, "kid-a", "[capabilities]\nevent_stream_subscribe = [\"a\", \"b.*\", \"f*\"]\n", run("kid-a"))
		b := r.member(t, "kid-b", "", run("kid-b"))
		r.start(t, func(o *Options) { o.Extensions = []Extension{a, b} })
		if err := r.Publish("a", nil); err != nil {
			t.Fatal(err)
		}
		r.wake(t, "kid-a")
		r.wake(t, "kid-b")
		synctest.Wait()
		for _, topic := range []string{"a", "b.c", "b.d", "a", "a"} {
			if err := r.Publish(topic, nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		event := func(id string) string { return fmt.Sprintf(`{"topic":"stream:%s","payload":""}`, id) }
		const refused = "-32001 capability denied: event_stream_subscribe"
		want := map[string][]string{
			"open":  {`{"stream_id":"e1","version":1}`, `{"stream_id":"e2","version":1}`, `{"stream_id":"e3","version":0}`, refused, refused},
			"kid-a": {event("e1"), event("e2"), event("e3"), event("e1"), event("e2"), event("e2")},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestGrants: an extension has the capabilities that its manifest declares and the user allows, and no
// more.
func TestGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var granted json.RawMessage
		newRig(t, "[capabilities]\nevent_bus = true\nnetwork = [\"a\", \"b\"]\nread_paths = [\"/a\"]\n\"secrets:read\" = false\n", func(o *Options) {
			o.Extensions[0].Grants = map[string]manifest.Grant{"network": {Only: []string{"b", "c"}}, "secrets:read": {All: true}, "more": {All: true}}
			o.Extensions[0].Eager = true
		}, func(k *kid) {
			q := k.read()
			var p struct {
				Granted json.RawMessage `json:"granted_capabilities"`
			}
			_ = json.Unmarshal(q.Params, &p)
			granted = p.Granted
			k.result(q, identity)
			k.serve()
		})
		synctest.Wait()
		if string(granted) != `["network"]` {
			t.Errorf("granted %s", granted)
		}
	})
}
