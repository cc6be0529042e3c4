package ainb

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

const withBus = "[capabilities]\nevent_bus = true\n"

// TestInit: the first message is plugin/init with these params and the id 1. The next process continues
// with the ids.
func TestInit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []query
		r := newRig(t, "[capabilities]\nevent_bus = true\nnetwork = [\"a\"]\nread_paths = []\nother = true\n", func(o *Options) {
			o.Extensions[0].Config = json.RawMessage(`{"k":1}`)
			delete(o.Extensions[0].Grants, "other")
		}, func(k *kid) {
			q := k.read()
			got = append(got, q)
			k.result(q, `{"name":"kid-x","version":"1.0.0","manifest":{},"abi_version":2}`)
			k.read()
		}, (*kid).serve)
		r.wake(t, "kid-x")
		var p map[string]any
		if err := json.Unmarshal(got[0].Params, &p); err != nil {
			t.Fatal(err)
		}
		if pid := p["host"].(map[string]any)["pid"].(float64); pid < 1 {
			t.Errorf("pid %v", pid)
		}
		p["host"].(map[string]any)["pid"] = 0
		want := map[string]any{
			"manifest_path": "/x/kid-x/manifest.toml", "granted_capabilities": []any{"event_bus", "network"}, "abi_version": 2.0,
			"config": map[string]any{"k": 1.0}, "host": map[string]any{"kind": "bento", "pid": 0},
		}
		if diff := cmp.Diff(want, p); diff != "" || got[0].Method != "plugin/init" || string(got[0].ID) != "1" {
			t.Errorf("%s %s\n%s", got[0].Method, got[0].ID, diff)
		}
		_, _ = r.Command(t.Context(), "kid-x", Command{}) // the process dies at the request with the id 2
		r.m["kid-x"].mu.Lock()
		r.m["kid-x"].run[1] = func(k *kid) { got = append(got, k.read()); k.result(got[1], identity); k.serve() }
		r.m["kid-x"].mu.Unlock()
		r.wake(t, "kid-x")
		if string(got[1].ID) != "3" {
			t.Errorf("the first request of the second process has the id %s, want 3", got[1].ID)
		}
	})
}

// TestHandshakeFaults: an invalid answer to plugin/init is a failure with its reason.
func TestHandshakeFaults(t *testing.T) {
	for answer, want := range map[string]string{
		`{"name":"kid-y","version":"1.0.0"}`: `answered the name "kid-y", required "kid-x"`,
		`{"name":"kid-x","version":"1.0.1"}`: `answered the version "1.0.1"`,
		`{"name":"kid-x"}`:                   "has neither name and version nor a manifest with both",
		`null`:                               "expected an object",
		`7`:                                  "expected an object",
		`{"name":7,"version":"1.0.0"}`:       "expected a string",
		`{"Name":"kid-x","Version":"1.0.0"}`: "has neither name and version nor a manifest with both",
		`{"name":"kid-x","version":"1.0.0","abi_version":3}`:                                         "answered the abi_version 3, required 2",
		`{"name":"kid-x","version":"1.0.0","abi_version":"2"}`:                                       `answered the abi_version "2", required 2`,
		`{"manifest":{"plugin":{"name":"kid-x","version":"1.0.0","abi_version":2}},"abi_version":1}`: "answered the abi_version 1, required 2",
		`{"manifest":{"plugin":{"name":"kid-x","version":"1.0.0","abi_version":3}},"abi_version":2}`: "answered the manifest.plugin.abi_version 3, required 2",
		`{"manifest":{"plugin":{"name":"kid-y","version":"1.0.0","abi_version":2}},"abi_version":2}`: `answered the manifest.plugin.name "kid-y"`,
		`{"manifest":{"plugin":{"name":"kid-x","version":"1.0.0","abi_version":2}}}`:                 "has a manifest and no abi_version",
		`{"manifest":{"plugin":{"name":"kid-x"}},"abi_version":2}`:                                   "has neither name and version nor a manifest with both",
		`{"name":"kid-y","manifest":{"plugin":{"name":"kid-x","version":"1.0.0"}},"abi_version":2}`:  `answered the name "kid-y"`,
		`{"manifest":"[plugin]","abi_version":2}`:                                                    "expected an object",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, "", nil, func(k *kid) { k.result(k.read(), answer); k.hang() })
			var f *adapters.Failure
			if err := r.Wake(t.Context(), "kid-x"); !errors.As(err, &f) || f.Code != adapters.HandshakeFailed || !strings.Contains(f.Message, want) || f.Hint == "" {
				t.Errorf("%s: got %v, want %s", answer, err, want)
			}
		})
	}
}

// TestGreetings: plugin/init may be answered as the document of the contract says, or as the extensions of
// its reference do.
func TestGreetings(t *testing.T) {
	for _, answer := range []string{
		`{"name":"kid-x","version":"1.0.0"}`,
		`{"name":"kid-x","version":"1.0.0","abi_version":2}`,
		`{"manifest":{"plugin":{"name":"kid-x","version":"1.0.0","abi_version":2,"description":""},"capabilities":{"event_bus":true}},"abi_version":2}`,
		`{"name":"kid-x","version":"1.0.0","manifest":{"plugin":{"name":"kid-x","version":"1.0.0","abi_version":2}},"abi_version":2}`,
		`{"name":"kid-x","version":"1.0.0","manifest":null,"abi_version":null}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, "", nil, func(k *kid) { k.result(k.read(), answer); k.hang() })
			if err := r.Wake(t.Context(), "kid-x"); err != nil {
				t.Errorf("%s: %v", answer, err)
			}
		})
	}
}

// TestReverseCalls: an extension calls the host while the host waits for it, in the handshake, in a screen
// and in a command. Many calls run at once, in both directions.
func TestReverseCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withBus+"[provides]\ncli_namespaces = [\"kid\"]\n", nil, func(k *kid) {
			q := k.read()
			if a := k.ask(`"in init"`, "host/snapshot/get", `{"topic":"a"}`); string(a.Result) != `{"payload":null,"version":0}` {
				t.Errorf("during the handshake: %s %v", a.Result, a.Error)
			}
			k.result(q, identity)
			for {
				q := k.read()
				if q.over || q.Method == "plugin/shutdown" {
					return
				}
				if q.Method != "" && q.ID != nil {
					if a := k.ask(fmt.Sprintf(`"back %s"`, q.ID), "host/snapshot/get", `{"topic":"a"}`); a.Error != nil {
						t.Errorf("during %s: %v", q.Method, a.Error)
					}
				}
				k.answer(q)
			}
		})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if f, err := r.Render(t.Context(), "kid-x", Viewport{3, 1}); err != nil || len(f.Buffer.Cells) != 1 {
					t.Errorf("screen: %v, %v", f, err)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		out, err := r.Command(t.Context(), "kid-x", Command{Namespace: "kid"})
		if diff := cmp.Diff(&Output{[]byte("hello\n"), []byte{}, 3}, out); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		if got := r.Namespaces(); got["kid"] != "kid-x" {
			t.Errorf("namespaces: %v", got)
		}
	})
}

// TestActionsBothWays: each of two extensions invokes the other during its own action.
func TestActionsBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{m: map[string]*memory{}}
		run := func(other string) func(k *kid) {
			return func(k *kid) {
				q := k.read()
				k.result(q, fmt.Sprintf(`{"name":"kid-%s","version":"1.0.0"}`, map[string]string{"a": "b", "b": "a"}[other]))
				waiting := map[string]query{} // by the id of the kid's own request
				for {
					q := k.read()
					switch {
					case q.over || q.Method == "plugin/shutdown":
						return
					case q.Method == "host/action/invoke":
						var p struct{ Payload []byte }
						_ = json.Unmarshal(q.Params, &p)
						if len(p.Payload) == 5 {
							k.result(q, `{"payload":"`+"ZW5k"+`"}`)
							continue
						}
						id := fmt.Sprintf(`"q%s"`, q.ID)
						waiting[id] = q
						more, _ := json.Marshal(append(p.Payload, 'x'))
						k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"host/action/invoke","params":{"action":%q,"payload":%s}}`, id, other, more))
					case q.Method == "":
						k.result(waiting[string(q.ID)], string(q.Result))
					}
				}
			}
		}
		a := r.member(t, "kid-a", "[provides]\ncli_namespaces = [\"a\"]\n", run("b"))
		b := r.member(t, "kid-b", "[provides]\ncli_namespaces = [\"b\"]\n", run("a"))
		r.start(t, func(o *Options) { o.Extensions = []Extension{a, b} })
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				x, _ := r.find("kid-a")
				got, refused := x.invoked(t.Context(), "a", nil)
				if string(got) != "end" || refused != nil {
					t.Errorf("got %s, %v", got, refused)
				}
			})
		}
		all.Wait()
	})
}

// TestActionTimeout: the host ends an action that takes longer than its caller allows.
func TestActionTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers []query
		r := &rig{m: map[string]*memory{}}
		y := r.member(t, "kid-y", "[provides]\ncli_namespaces = [\"slow\", \"broken\", \"echo\"]\n", func(k *kid) {
			q := k.read()
			k.result(q, `{"name":"kid-y","version":"1.0.0"}`)
			for q = k.read(); !q.over && q.Method == "host/action/invoke"; q = k.read() {
				var p struct{ Action string }
				_ = json.Unmarshal(q.Params, &p)
				switch p.Action {
				case "echo":
					k.result(q, `{"payload":"aGkraWQ="}`)
				case "broken":
					k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no luck"}}`, q.ID))
				}
			}
		})
		x := r.member(t, "kid-x", "", func(k *kid) {
			k.greet()
			k.read()
			for i, params := range []string{
				`{"action":"echo","payload":"aGk="}`, `{"action":"slow","payload":"","timeout_ms":300}`, `{"action":"what","payload":""}`,
				`{"action":"broken"}`, `{"payload":""}`, `{"action":"echo","timeout_ms":-1}`, `{"action":"echo","payload":"?"}`, `{"action":"echo","timeout_ms":99999999999999999}`,
			} {
				answers = append(answers, k.ask(fmt.Sprint(i), "host/action/invoke", params))
			}
			k.serve()
		})
		r.start(t, func(o *Options) { o.Extensions = []Extension{x, y} })
		r.wake(t, "kid-x")
		began := time.Now()
		r.Key("kid-x", "s", Key{})
		synctest.Wait()
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if len(answers) != 8 || time.Since(began) != 300*time.Millisecond {
			t.Fatalf("%d answers after %v", len(answers), time.Since(began))
		}
		if string(answers[0].Result) != `{"payload":"aGkraWQ="}` {
			t.Errorf("echo: %s", answers[0].Result)
		}
		for i, want := range map[int]string{
			1: "-32002 action timed out: slow", 2: "-32601 method not found", 3: "-32603 no luck", 4: "-32602 params.action is missing",
			5: "-32602 params.timeout_ms is -1", 6: "-32602 params.payload: the bytes are no base64",
		} {
			if e := answers[i].Error; e == nil || !strings.HasPrefix(fmt.Sprintf("%d %s", e.Code, e.Message), want) {
				t.Errorf("%d: got %v, want %s", i, e, want)
			}
		}
	})
}

// TestEnvelope: a fault of one message affects only that message.
func TestEnvelope(t *testing.T) {
	for sent, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"host/nothing"}`:                              `7 -32601 method not found: host/nothing`,
		`{"jsonrpc":"2.0","id":"seven","method":"host/nothing"}`:                        `"seven" -32601 method not found: host/nothing`,
		`{"jsonrpc":"2.0","id":1.5,"method":"host/nothing"}`:                            `1.5 -32601 method not found`,
		`{"jsonrpc":"2.0","id":null,"method":"host/nothing"}`:                           `null -32600 invalid request: the id of a request is null`,
		`{"jsonrpc":"2.0","id":{},"method":"host/nothing"}`:                             `null -32600 invalid request: the id is neither`,
		`{"jsonrpc":"1.0","id":7,"method":"host/nothing"}`:                              "",
		`{"id":7,"method":"host/nothing"}`:                                              "",
		`[{"jsonrpc":"2.0","id":7,"method":"host/nothing"}]`:                            "",
		`{"jsonrpc":"2.0","id":99,"result":1}`:                                          "",
		`{"jsonrpc":"2.0","id":1,"result":"again"}`:                                     "",
		`{"jsonrpc":"2.0","method":"host/what","params":{}}`:                            "",
		`{"jsonrpc":"2.0","method":"host/snapshot/publish","params":{"topic":"a"}}`:     "",
		`{"jsonrpc":"2.0","method":"host/log","params":{"level":"loud","message":"x"}}`: "",
		`{broken`:                "",
		"\xff\xfe":               "",
		``:                       "",
		`7`:                      "",
		strings.Repeat("[", 100): "",
		`{"jsonrpc":"2.0","id":7,"method":"host/snapshot/get"}`:                                 `7 -32602 params.topic is missing`,
		`{"jsonrpc":"2.0","id":7,"method":"host/snapshot/get","params":[]}`:                     `7 -32602 params: expected an object`,
		`{"jsonrpc":"2.0","id":7,"method":"host/snapshot/get","params":{"topic":7}}`:            `7 -32602 params: topic: expected a string`,
		`{"jsonrpc":"2.0","id":7,"method":"host/snapshot/get","params":{"Topic":"a"}}`:          `7 -32602 params.topic is missing`,
		`{"jsonrpc":"2.0","id":7,"method":"host/snapshot/get","params":{"topic":"a","more":1}}`: `7 ok`,
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []string
			r := newRig(t, withBus, nil, func(k *kid) {
				k.greet()
				k.send(sent)
				k.send(`{"jsonrpc":"2.0","id":"last","method":"host/snapshot/get","params":{"topic":"a"}}`)
				for {
					q := k.read()
					switch {
					case q.over || q.Method == "plugin/shutdown":
						return
					case q.Error != nil:
						got = append(got, fmt.Sprintf("%s %d %s", q.ID, q.Error.Code, q.Error.Message))
					default:
						got = append(got, string(q.ID)+" ok")
					}
				}
			})
			r.wake(t, "kid-x")
			synctest.Wait()
			if n := len(got); n == 0 || got[n-1] != `"last" ok` {
				t.Errorf("%.80q: the connection did not survive: %q; %s", sent, got, r.logged())
			} else if got := strings.Join(got[:n-1], "; "); (want == "") != (got == "") || !strings.HasPrefix(got, want) {
				t.Errorf("%.80q: got %q, want %q", sent, got, want)
			}
			if state := r.state(); state != host.Ready {
				t.Errorf("%.80q: %s", sent, state)
			}
		})
	}
}

// TestResults: an unusable result fails only its call.
func TestResults(t *testing.T) {
	for result, want := range map[string]string{
		`{"stdout":"aGk=","stderr":[104],"exit_code":0}`:   "",
		`{"stdout":null,"stderr":null,"exit_code":-1}`:     "",
		`{"stdout":"aGk=","stderr":""}`:                    "required stdout, stderr and exit_code",
		`{"stdout":"a","stderr":"","exit_code":0}`:         "required base64",
		`{"stdout":"","stderr":"","exit_code":"0"}`:        "exit_code",
		`{"stdout":"","stderr":"","exit_code":2147483648}`: "exit_code",
		`null`: "expected an object",
		`[]`:   "expected an object",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, "", nil, func(k *kid) { k.greet(); k.result(k.read(), result); k.serve() })
			_, err := r.Command(t.Context(), "kid-x", Command{})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", result, err, want)
			}
			if _, err := r.Command(t.Context(), "kid-x", Command{}); err != nil {
				t.Errorf("%s: the next command: %v", result, err)
			}
		})
	}
	for _, result := range []string{`{}`, `{"buffer":{"cells":[[1]]}}`, `{"buffer":null}`, `7`} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, "", nil, func(k *kid) { k.greet(); k.result(k.read(), result); k.serve() })
			var f *adapters.Failure
			if _, err := r.Render(t.Context(), "kid-x", Viewport{}); !errors.As(err, &f) || f.Code != adapters.MalformedResponse {
				t.Errorf("%s: %v", result, err)
			}
		})
	}
}

// TestErrorsOfExtensions: the codes of an extension reach the caller.
func TestErrorsOfExtensions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "", nil, func(k *kid) { k.greet(); k.fail(k.read(), -32001, "capability denied: x"); k.serve() })
		var rpc *wire.RPCError
		if _, err := r.Command(t.Context(), "kid-x", Command{}); !errors.As(err, &rpc) || rpc.Code != -32001 {
			t.Errorf("got %v", err)
		}
		if _, err := r.Command(t.Context(), "kid-y", Command{}); err == nil {
			t.Error("an unknown extension has a command")
		}
	})
}

// TestHandleAction: an action starts the extension, and a key does not.
func TestHandleAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got query
		r := newRig(t, "", nil, func(k *kid) { k.greet(); got = k.read(); k.serve() })
		r.Key("kid-x", "s", Key{})
		synctest.Wait()
		if n := r.m["kid-x"].count(); n != 0 {
			t.Errorf("a key started %d processes", n)
		}
		if err := r.Action(t.Context(), "kid-x", "go", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got.Method != "plugin/handle_action" || got.ID != nil || string(got.Params) != `{"action_id":"go","payload":null}` {
			t.Errorf("got %s %s", got.Method, got.Params)
		}
	})
}

// TestNamesAreUnique: two extensions with the same name are an error, and none starts.
func TestNamesAreUnique(t *testing.T) {
	m := kidManifest(t, "kid-x", "")
	_, err := Start(t.Context(), Options{Extensions: []Extension{{Found: manifest.Found{Manifest: m}}, {Found: manifest.Found{Manifest: m}}}})
	if err == nil || !strings.Contains(err.Error(), `two extensions are named "kid-x"`) {
		t.Errorf("got %v", err)
	}
}
