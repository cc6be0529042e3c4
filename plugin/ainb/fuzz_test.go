package ainb

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bentobuild/bento/plugin/host"
)

// FuzzBodies: whatever frames an extension writes after its handshake, the host answers the next good
// request.
func FuzzBodies(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":"host/snapshot/get","params":{"topic":"a"}}`), []byte("{}"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"host/snapshot/publish","params":{"topic":"a","payload":[1,2]}}`), []byte("["))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`), []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		answered := false
		over := make(chan struct{})
		r := newRig(t, withBus, nil, func(k *kid) {
			k.greet()
			k.send(string(first))
			k.send(string(second))
			k.send(`{"jsonrpc":"2.0","id":"last","method":"host/snapshot/get","params":{"topic":"z"}}`)
			q := k.read()
			for ; !q.over && string(q.ID) != `"last"`; q = k.read() {
			}
			answered = !q.over
			close(over)
			k.serve()
		})
		r.wake(t, "kid-x")
		<-over
		if !answered {
			t.Errorf("%q, %q: no answer to the request behind them: %v %v\n%s", first, second, r.Statuses()[0].Failure, r.Statuses()[0].State, r.logged())
		}
		r.Close()
	})
}

// FuzzParams: each method answers any params with a result or a refusal. It reads no file and starts no
// program without a grant.
func FuzzParams(f *testing.F) {
	for i, p := range []string{
		`{"topic":"a","payload":"aGk="}`, `{"path":"/etc/passwd"}`, `{"path":"/x/../y"}`, `{"url":"http://localhost:1"}`, `{"bin":"sh","argv":["-c","true"]}`,
		`{"scope":"a","key":"b"}`, `{"stream_id":"e1","bytes":[1]}`, `{"action":"a","payload":null,"timeout_ms":1}`, `{"level":"info","message":"x","fields":[]}`,
	} {
		f.Add(uint8(i), p)
	}
	methods := []string{
		"host/snapshot/get", "host/snapshot/subscribe", "host/event_stream_subscribe", "host/action/invoke", "host/fs/read_dir", "host/fs/read_file",
		"host/fs/write_file", "host/network/fetch", "host/spawn_managed_subprocess", "host/unix_socket_dial", "host/secret_store_get", "host/none",
	}
	notices := []string{"host/snapshot/publish", "host/log", "host/event_stream_cancel", "host/unix_socket_send", "host/unix_socket_close"}
	const declared = "[capabilities]\nevent_bus = [\"a*\"]\nnetwork = [\"none.invalid\"]\nspawn_managed_subprocess = [\"none\"]\nunix_socket_dial = [\"/none\"]\n\"secrets:read\" = [\"b\"]\n" +
		"event_stream_subscribe = true\nread_paths = [\"/none\"]\n"
	r := newRig(f, declared, func(o *Options) { o.Numbers = host.Extension() }, (*kid).serve)
	r.wake(f, "kid-x")
	x, err := r.find("kid-x")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which uint8, params string) {
		if !json.Valid([]byte(params)) {
			return
		}
		s := x.session()
		s.notified(notices[int(which)%len(notices)], json.RawMessage(params))
		method := methods[int(which)%len(methods)]
		h := s.handler(method)
		if h.run == nil {
			return
		}
		result, refused := h.run(t.Context(), method, json.RawMessage(params))
		if (result == nil) == (refused == nil) {
			t.Errorf("%s %s: %v and %v", method, params, result, refused)
		}
		switch method {
		case "host/fs/read_dir", "host/fs/read_file", "host/fs/write_file", "host/spawn_managed_subprocess", "host/unix_socket_dial", "host/network/fetch":
			if refused == nil {
				t.Errorf("%s %s was not refused: %v", method, params, fmt.Sprint(result))
			}
		}
	})
}
