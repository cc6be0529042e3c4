package sep

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/adapters"
)

func TestLife(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var first message
		x, m := begun(t, Options{Version: "9.9.9"}, func(c *child) { first = c.greet(); c.loop(func(message) {}) })
		state(t, x, Running, "")
		want := `{"hostName":"bento","hostVersion":"9.9.9","apiVersion":"1.0.0","supportedApiVersions":["1.0.0"],"extensionId":"acme.lint",` +
			`"grantedPermissions":["messages.read","messages.send","contacts.read","events.subscribe","tools.register","notifications.create"],` +
			`"subscribedEvents":["run.started","run.finished"],` +
			`"limits":{"maxRequestBytes":65536,"maxRequestsPerSecond":20,"maxConcurrentRequests":4},"platformProfile":"desktop"}`
		if first.Method != "sep.initialize" || string(first.Params) != want {
			t.Errorf("got %s %s\nwant %s", first.Method, first.Params, want)
		}
		time.Sleep(time.Hour)
		state(t, x, Running, "")
		x.Close()
		m.alive.Wait()
		state(t, x, Stopped, "")
		if want := (Counters{Starts: 1, Exits: 1}); x.Status().Counters != want {
			t.Errorf("got %+v, want %+v", x.Status().Counters, want)
		}
	})
}

// TestFaults: each fault is a failure with its code, reason and time.
func TestFaults(t *testing.T) {
	initialize := func(answer string) func(c *child) {
		return func(c *child) { c.write(`{"jsonrpc":"2.0","id":%s,%s}`, c.read().ID, answer); c.hang() }
	}
	greeted := func(then func(c *child)) func(c *child) { return func(c *child) { c.greet(); then(c) } }
	for name, f := range map[string]struct {
		run    func(c *child)
		code   adapters.Code
		reason string
		text   string
		took   time.Duration // at most
	}{
		"silent":           {func(c *child) { c.read(); c.hang() }, adapters.Timeout, "startup_timeout", "no answer to sep.initialize within 5s", 6 * time.Second},
		"does not read":    {(*child).hang, adapters.Timeout, "startup_timeout", "within 5s", 6 * time.Second},
		"half a header":    {func(c *child) { c.read(); c.stdout.Write([]byte("Content-Le")); c.hang() }, adapters.Timeout, "startup_timeout", `read "Content-Le" without`, 6 * time.Second},
		"exits at once":    {func(c *child) { c.status = "exit status 3" }, adapters.Crashed, "exited", "closed the connection", 0},
		"exits when asked": {func(c *child) { c.read() }, adapters.Crashed, "exited", "closed the connection", 0},
		"half a frame":     {func(c *child) { c.read(); c.stdout.Write([]byte("Content-Length: 9\r\n\r\n{")) }, adapters.Crashed, "exited", "middle of a message", 0},
		"an error":         {initialize(`"error":{"code":1,"message":"no"}`), adapters.HandshakeFailed, "initialize_failed", "error 1: no", 0},
		"no result":        {initialize(`"result":null`), adapters.MalformedResponse, "initialize_failed", "expected an object", 0},
		"version refused":  {initialize(`"error":{"code":-32012,"message":"no","data":{"reason":"version_unsupported"}}`), adapters.ProtocolVersionMismatch, "version_unsupported", "no", 0},
		"another id":       {initialize(`"result":{"extensionId":"acme.other","version":"0.2.0","apiVersion":"1.0.0"}`), adapters.HandshakeFailed, "id_mismatch", `"acme.other", required "acme.lint"`, 0},
		"another version":  {initialize(`"result":{"extensionId":"acme.lint","version":"0.3.0","apiVersion":"1.0.0"}`), adapters.HandshakeFailed, "version_mismatch", `"0.3.0", required "0.2.0"`, 0},
		"another API":      {initialize(`"result":{"extensionId":"acme.lint","version":"0.2.0","apiVersion":"2.0.0"}`), adapters.ProtocolVersionMismatch, "version_unsupported", "required a version 1", 0},
		"noise":            {func(c *child) { c.stdout.Write([]byte("hello\r\n")); c.hang() }, adapters.MalformedResponse, "framing", `got "hello"`, 0},
		"a bare line feed": {func(c *child) { c.stdout.Write([]byte("Content-Length: 2\n\n{}")); c.hang() }, adapters.MalformedResponse, "framing", "without CR LF", 0},
		"another header":   {func(c *child) { c.stdout.Write([]byte("X: y\r\nContent-Length: 2\r\n\r\n{}")); c.hang() }, adapters.MalformedResponse, "framing", "expected only Content-Length", 0},
		"a long header": {func(c *child) {
			c.stdout.Write([]byte("Content-Length: 2" + strings.Repeat(" ", 9000) + "\r\n\r\n{}"))
			c.hang()
		}, adapters.MalformedResponse, "framing", "more than 8192 bytes", 0},
		"noise later":       {greeted(func(c *child) { c.stdout.Write([]byte("hello\r\n")); c.hang() }), adapters.MalformedResponse, "framing", `got "hello"`, 0},
		"exits later":       {greeted(func(c *child) { c.status = "exit status 0" }), adapters.Crashed, "exited", "it exited (exit status 0)", 0},
		"half a frame late": {greeted(func(c *child) { c.stdout.Write([]byte("Content-Length: 9\r\n\r\n{")) }), adapters.Crashed, "exited", "middle of a message", 0},
		"too large":         {greeted(func(c *child) { c.stdout.Write([]byte("Content-Length: 65537\r\n\r\n")); c.read(); c.hang() }), adapters.MalformedResponse, "payload_too_large", "at most 65536", 0},
		"no health":         {greeted((*child).drain), adapters.Timeout, "unhealthy", "2 health checks in a row were missed, each after 2s; the last one: no answer", 6 * time.Second},
		"stops reading":     {greeted((*child).hang), adapters.Timeout, "unhealthy", "no answer", 6 * time.Second},
		"says unhealthy":    {greeted(func(c *child) { c.health(`{"seq":%s,"status":"unhealthy","detail":"full"}`) }), adapters.Timeout, "unhealthy", "unhealthy full", 4 * time.Second},
		"another seq":       {greeted(func(c *child) { c.health(`{"seq":7,"status":"ok"}`) }), adapters.Timeout, "unhealthy", "another seq", 4 * time.Second},
		"odd status":        {greeted(func(c *child) { c.health(`{"seq":%s,"status":"fine"}`) }), adapters.Timeout, "unhealthy", "an unknown status", 4 * time.Second},
		"no status":         {greeted(func(c *child) { c.health(`{"seq":%s}`) }), adapters.Timeout, "unhealthy", "status: expected a string", 4 * time.Second},
		"slow header":       {greeted(slowHeader), adapters.Timeout, "unhealthy", "no answer", 6 * time.Second},
		"errors":            {greeted(func(c *child) { c.repeat(20, `{"jsonrpc":"2.0","id":null,"method":"x"}`) }), adapters.MalformedResponse, "protocol_abuse", "20 errors of the protocol in a minute", 0},
		"answers to nobody": {greeted(func(c *child) { c.repeat(20, `{"jsonrpc":"2.0","id":99,"result":1}`) }), adapters.MalformedResponse, "protocol_abuse", "a response with the id 99", 0},
		"no JSON":           {greeted(func(c *child) { c.repeat(20, `{]`) }), adapters.MalformedResponse, "protocol_abuse", "no JSON", 0},
		"requests too soon": {func(c *child) { c.read(); c.repeat(20, `{"jsonrpc":"2.0","id":1,"method":"host.get_capabilities"}`) }, adapters.MalformedResponse, "protocol_abuse", "before sep.initialize", 0},
		"flood":             {greeted(func(c *child) { c.repeat(121, `{"jsonrpc":"2.0","id":%d,"method":"host.get_capabilities"}`) }), adapters.MalformedResponse, "rate_abuse", "100 messages in a row over 20 a second", 0},
		"flood of notices":  {greeted(func(c *child) { c.repeat(121, `{"jsonrpc":"2.0","method":"x"}`) }), adapters.MalformedResponse, "rate_abuse", "100 messages", 0},
		"cannot be started": {nil, adapters.LaunchFailed, "launch_failed", "no such program", 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				run := []func(c *child){f.run, (*child).hang}
				if f.run == nil {
					run = nil
				}
				began := time.Now()
				seen := make(chan Status, 100)
				x, m := begun(t, Options{Failed: func(s Status) { seen <- s }}, run...)
				s := <-seen
				took := time.Since(began)
				if s.Failure.Code != f.code || s.Reason != f.reason || !strings.Contains(s.Failure.Message, f.text) {
					t.Errorf("got %s, %s, %s\nwant %s, %s, %s", s.Failure.Code, s.Reason, s.Failure.Message, f.code, f.reason, f.text)
				}
				if took > f.took+time.Second {
					t.Errorf("took %v, want at most %v", took, f.took)
				}
				x.Close()
				m.alive.Wait()
			})
		})
	}
}

// drain reads and never answers.
func (c *child) drain() {
	for {
		if _, err := c.Recv(); err != nil {
			return
		}
	}
}

// health answers every health check; %s is its seq.
func (c *child) health(result string) {
	for {
		m := c.read()
		if m.Method == "" {
			return
		}
		c.reply(m, strings.ReplaceAll(result, "%s", seq(m)))
	}
}

// repeat writes n messages at once, as long as the host takes them, and reads.
func (c *child) repeat(n int, body string) {
	go func() {
		for i := range n {
			if c.Send([]byte(strings.ReplaceAll(body, "%d", strconv.Itoa(i)))) != nil {
				return
			}
		}
	}()
	c.drain()
}

func slowHeader(c *child) {
	for _, b := range []byte("Content-Length: 20\r\n") {
		if _, err := c.stdout.Write([]byte{b}); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// TestCrashLoop: the pauses are 1 and 4 s. After the third failure within a minute only an operator starts
// the extension again.
func TestCrashLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var codes []adapters.Code
		x, m := begun(t, Options{Failed: func(s Status) { codes = append(codes, s.Failure.Code) }}, func(c *child) { c.greet() })
		for _, pause := range []time.Duration{time.Second, 4 * time.Second} {
			state(t, x, Backoff, "exited")
			n := m.launches()
			time.Sleep(pause - time.Millisecond)
			synctest.Wait()
			if m.launches() != n {
				t.Errorf("started again before %v", pause)
			}
			time.Sleep(time.Millisecond)
		}
		state(t, x, Quarantined, "exited")
		time.Sleep(time.Hour)
		state(t, x, Quarantined, "exited")
		if want := (Counters{Starts: 3, Exits: 3, Restarts: 2, Disabled: 1}); x.Status().Counters != want {
			t.Errorf("got %+v, want %+v", x.Status().Counters, want)
		}
		if want := []adapters.Code{adapters.Crashed, adapters.Crashed, adapters.Quarantined}; !slices.Equal(codes, want) {
			t.Errorf("got the failures %q, want %q", codes, want)
		}
		m.mu.Lock()
		m.run = []func(c *child){(*child).serve}
		m.mu.Unlock()
		x.Reload(t.Context())
		state(t, x, Running, "")
	})
}

// TestFarApart: failures that are more than a minute apart are no crash loop.
func TestFarApart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x, m := begun(t, Options{}, func(c *child) {
			c.greet()
			time.AfterFunc(61*time.Second, func() { c.Close() })
			c.loop(func(message) {})
		})
		time.Sleep(10 * time.Minute)
		if s := x.Status(); s.State == Quarantined || m.launches() < 8 {
			t.Errorf("%s after %d starts", s.State, m.launches())
		}
	})
}

// TestDegraded: the status degraded or one missed check changes the state, and causes no restart.
func TestDegraded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		answers := []string{`{"seq":%s,"status":"ok"}`, `{"seq":%s,"status":"degraded","detail":"slow"}`, "", `{"seq":%s,"status":"ok"}`, ""}
		var mu sync.Mutex
		var seen []State
		x, m := begun(t, Options{Changed: func(s Status) {
			mu.Lock()
			defer mu.Unlock()
			if n := len(seen); n == 0 || seen[n-1] != s.State {
				seen = append(seen, s.State)
			}
		}}, func(c *child) {
			c.greet()
			for _, a := range answers {
				if q := c.read(); a != "" {
					c.reply(q, strings.ReplaceAll(a, "%s", seq(q)))
				}
			}
			c.loop(func(message) {})
		})
		time.Sleep(time.Minute)
		state(t, x, Running, "")
		mu.Lock()
		defer mu.Unlock()
		if want := []State{Starting, Running, Degraded, Running, Degraded, Running}; !slices.Equal(seen, want) {
			t.Errorf("got %s, want %s", seen, want)
		}
		if want := (Counters{Starts: 1, HealthMisses: 2}); x.Status().Counters != want || m.launches() != 1 {
			t.Errorf("got %+v, want %+v", x.Status().Counters, want)
		}
	})
}

// TestLadder checks how long the shutdown of an extension takes if it ignores steps of it.
func TestLadder(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(c *child)
		want time.Duration
	}{
		"answers":        {func(c *child) { c.loop(func(message) {}) }, 0},
		"exits unasked":  {func(c *child) { c.read() }, 0},
		"stays for TERM": {func(c *child) { c.read(); <-c.term }, 3 * time.Second},
		"stays for KILL": {func(c *child) { c.read(); c.hang() }, 5 * time.Second},
		"does not read":  {(*child).hang, 5 * time.Second},
		"answers, stays": {func(c *child) { c.reply(c.read(), "{}"); c.hang() }, 5 * time.Second},
		"asks meanwhile": {func(c *child) { c.read(); c.ask("host.get_capabilities", "{}") }, 0},
		"waits for EOF":  {func(c *child) { c.read(); c.drain() }, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x, m := begun(t, Options{}, func(k *child) { k.greet(); c.run(k) })
				state(t, x, Running, "")
				began := time.Now()
				x.Close()
				m.alive.Wait()
				if d := time.Since(began); d != c.want {
					t.Errorf("took %v, want %v", d, c.want)
				}
				state(t, x, Stopped, "")
			})
		})
	}
}

// TestForgives: errors that are more than a minute apart do not end an extension. Nor does a flood that a
// good request interrupts.
func TestForgives(t *testing.T) {
	bubble(t, func(t *testing.T) {
		request := `{"jsonrpc":"2.0","id":%d,"method":"host.get_capabilities"}`
		x, m := begun(t, Options{
			Manifest: parsed(t, `"heartbeatIntervalMs":2000`, `"heartbeatIntervalMs":120000`),
			Failed:   func(s Status) { t.Errorf("%s: %v", s.Reason, s.Failure) },
		}, func(c *child) {
			c.greet()
			answers := func(n int, body string) {
				for range n {
					c.id++
					_ = c.Send([]byte(strings.ReplaceAll(body, "%d", strconv.Itoa(c.id))))
					c.answer()
				}
			}
			for range 2 {
				answers(maxErrors-1, `{"jsonrpc":"2.0","id":null,"method":"x"}`)
				time.Sleep(61 * time.Second)
			}
			for range 2 {
				answers(20+maxLimited-1, request) // 20 of them have a token
				time.Sleep(2 * time.Second)
			}
			c.loop(func(message) {})
		})
		time.Sleep(3 * time.Minute)
		state(t, x, Running, "")
		if m.launches() != 1 {
			t.Errorf("%d starts", m.launches())
		}
	})
}
