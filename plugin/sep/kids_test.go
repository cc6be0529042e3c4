package sep

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// kid is an extension that misbehaves, with its expected result.
type kid struct {
	run func()
	// state is the expected state; Backoff means a failure with code and reason.
	state  State
	code   adapters.Code
	reason string
	log    string // what its log contains
}

func ill(code adapters.Code, reason string, run func()) kid {
	return kid{run: run, state: Backoff, code: code, reason: reason}
}

func fine(run func()) kid { return kid{run: run, state: Running} }

func sleep() { time.Sleep(time.Hour) }

// raw sends bytes, then waits.
func raw(text string) func(c *child) {
	return func(c *child) { _, _ = c.stdout.Write([]byte(text)); c.drain(); sleep() }
}

// writesThenReads sends a body that no buffer holds, and only then reads the answer.
func writesThenReads(c *child) {
	size := 8 << 20
	if _, err := fmt.Fprintf(c.stdout, "Content-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size)); err != nil {
		fmt.Println("it could not write:", err)
	}
	for {
		m := c.read()
		if m.Error != nil {
			var data struct{ Reason string }
			_ = json.Unmarshal(m.Error.Data, &data)
			fmt.Println("it was told", data.Reason)
			return
		}
		if m.Method == "" {
			fmt.Println("it was told nothing")
			return
		}
	}
}

// many sends one body often, then waits.
func many(n int, body string) func(c *child) {
	return func(c *child) { c.repeat(n, body); sleep() }
}

func answer(body string) func() {
	return func() {
		c := connected()
		c.write(`{"jsonrpc":"2.0","id":%s,%s}`, c.read().ID, body)
		sleep()
	}
}

// serving answers every request while f runs.
func serving(f func(c *child)) func() {
	return after(func(c *child) { go f(c); c.loop(func(message) {}) })
}

// kids returns the misbehaving extensions by name.
func kids() map[string]kid {
	all := map[string]kid{}
	for _, more := range []map[string]kid{transportKids(), messageKids(), processKids()} {
		for name, k := range more {
			all[name] = k
		}
	}
	return all
}

func transportKids() map[string]kid {
	const bad, malformed = adapters.HandshakeFailed, adapters.MalformedResponse
	return map[string]kid{
		"well":            fine(after(func(c *child) { c.loop(func(message) {}) })),
		"never-connects":  ill(bad, "not_connected", sleep),
		"exits":           ill(bad, "not_connected", func() {}),
		"dies":            ill(bad, "not_connected", func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }),
		"no-token":        ill(adapters.Timeout, "startup_timeout", func() { c, _ := dial(); c.greet(); sleep() }),
		"guesses":         ill(bad, "not_authenticated", func() { c, _ := dial(); c.hello(strings.Repeat("0", 64)); sleep() }),
		"empty-token":     ill(bad, "not_authenticated", func() { c, _ := dial(); c.hello(""); sleep() }),
		"prefix-of-token": ill(bad, "not_authenticated", func() { c, _ := dial(); c.hello(os.Getenv("SEP_TOKEN")[:63]); sleep() }),
		"asks-first":      ill(bad, "not_authenticated", func() { c, _ := dial(); c.ask("host.get_capabilities", "{}"); sleep() }),
		"noise-first":     ill(bad, "not_authenticated", func() { c, _ := dial(); raw("hello\r\n")(c) }),
		"late-token":      ill(adapters.Timeout, "startup_timeout", func() { c, _ := dial(); time.Sleep(5 * time.Minute); c.hello("") }),
		"silent":          ill(adapters.Timeout, "startup_timeout", func() { connected(); sleep() }),
		"connects-twice":  {run: twice, state: Running, log: "second connection refused"},
		"hello-twice":     fine(after(func(c *child) { c.hello(os.Getenv("SEP_TOKEN")); c.loop(func(message) {}) })),
		"half-and-waits":  ill(adapters.Timeout, "startup_timeout", func() { c := connected(); raw("Content-Length: 100\r\n\r\n{")(c) }),
		"half-and-closes": ill(adapters.Crashed, "exited", func() { c := connected(); _, _ = c.stdout.Write([]byte("Content-Length: 100\r\n\r\n{")) }),
		"slow-header":     ill(adapters.Timeout, "startup_timeout", func() { slowHeader(connected()); sleep() }),
		"noise":           ill(malformed, "framing", after(raw("hello\r\n"))),
		"line-feeds":      ill(malformed, "framing", after(raw("Content-Length: 2\n\n{}"))),
		"other-header":    ill(malformed, "framing", after(raw("Content-Type: x\r\nContent-Length: 2\r\n\r\n{}"))),
		"long-header":     ill(malformed, "framing", after(raw("Content-Length: "+strings.Repeat("0", 9000)+"2\r\n\r\n{}"))),
		"too-large":       ill(malformed, "payload_too_large", after(raw("Content-Length: 65537\r\n\r\n"))),
		"too-large-whole": {run: after(writesThenReads), state: Backoff, code: malformed, reason: "payload_too_large", log: "it was told payload_too_large"},
		"large-greeting":  ill(malformed, "payload_too_large", answer(`"result":"`+strings.Repeat("x", 70000)+`"`)),
		"prints-first": {run: func() {
			_, _ = os.Stdout.WriteString(strings.Repeat("x", 1<<20) + "\nprinted\n")
			after(func(c *child) { c.loop(func(message) {}) })()
		}, state: Running, log: "printed"},
		"closes":         ill(adapters.Crashed, "exited", after(func(c *child) { c.Close(); sleep() })),
		"child-connects": fine(func() { _ = again("well", false).Wait() }),
		"removes-endpoint": fine(after(func(c *child) {
			_ = os.RemoveAll(strings.TrimPrefix(os.Getenv("SEP_ENDPOINT"), "unix:"))
			c.loop(func(message) {})
		})),
	}
}

// twice connects again after the first connection.
func twice() {
	after(func(c *child) {
		if _, err := dial(); err != nil {
			os.Stderr.WriteString("second connection refused\n")
		}
		c.loop(func(message) {})
	})()
}

func messageKids() map[string]kid {
	const bad, malformed = adapters.HandshakeFailed, adapters.MalformedResponse
	abuse := func(body string) kid { return ill(malformed, "protocol_abuse", after(many(20, body))) }
	sick := func(f func(c *child)) kid { return ill(adapters.Timeout, "unhealthy", after(f)) }
	return map[string]kid{
		"refuses":        ill(bad, "initialize_failed", answer(`"error":{"code":1,"message":"no"}`)),
		"no-greeting":    ill(malformed, "initialize_failed", answer(`"result":7`)),
		"other-id":       ill(bad, "id_mismatch", answer(`"result":{"extensionId":"acme.x","version":"0.2.0","apiVersion":"1.0.0"}`)),
		"other-version":  ill(bad, "version_mismatch", answer(`"result":{"extensionId":"acme.lint","version":"9.2.0","apiVersion":"1.0.0"}`)),
		"other-api":      ill(adapters.ProtocolVersionMismatch, "version_unsupported", answer(`"result":{"extensionId":"acme.lint","version":"0.2.0","apiVersion":"1.1.0"}`)),
		"garbage-api":    ill(adapters.ProtocolVersionMismatch, "version_unsupported", answer(`"result":{"extensionId":"acme.lint","version":"0.2.0","apiVersion":"one"}`)),
		"deep":           abuse(`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`),
		"not-utf8":       abuse("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"),
		"batches":        abuse(`[{"jsonrpc":"2.0","id":1,"method":"host.get_capabilities"}]`),
		"null-ids":       abuse(`{"jsonrpc":"2.0","id":null,"method":"host.get_capabilities"}`),
		"fractional-ids": abuse(`{"jsonrpc":"2.0","id":1.5,"method":"host.get_capabilities"}`),
		"two-members":    abuse(`{"jsonrpc":"2.0","id":1,"method":"host.get_capabilities","params":{"a":1,"a":2}}`),
		"to-nobody":      abuse(`{"jsonrpc":"2.0","id":77,"result":{}}`),
		"errors-to-none": abuse(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`),
		"too-soon": ill(malformed, "protocol_abuse", func() {
			c := connected()
			c.read()
			many(20, `{"jsonrpc":"2.0","id":1,"method":"host.get_capabilities"}`)(c)
		}),
		"floods":        ill(malformed, "rate_abuse", after(many(1e6, `{"jsonrpc":"2.0","id":%d,"method":"host.get_capabilities"}`))),
		"floods-denied": fine(serving(func(c *child) { many(15, `{"jsonrpc":"2.0","id":%d,"method":"host.messages.list"}`)(c) })),
		"flood-unread": ill(malformed, "rate_abuse", after(func(c *child) {
			for i := range 5000 {
				c.write(`{"jsonrpc":"2.0","id":%d,"method":"host.get_capabilities"}`, i)
			}
			sleep()
		})),
		"notices":    ill(malformed, "rate_abuse", after(many(1e6, `{"jsonrpc":"2.0","method":"x"}`))),
		"hangs":      sick(func(*child) { sleep() }),
		"reads-only": sick((*child).drain),
		"unhealthy":  sick(func(c *child) { c.health(`{"seq":%s,"status":"unhealthy"}`) }),
		"wrong-seq":  sick(func(c *child) { c.health(`{"seq":0,"status":"ok"}`) }),
		"late": sick(func(c *child) {
			m := c.read()
			time.Sleep(3 * time.Second)
			c.reply(m, `{"seq":1,"status":"ok"}`)
			sleep()
		}),
		"stopped":       sick(func(*child) { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP); sleep() }),
		"exits-in-call": ill(adapters.Crashed, "exited", after(func(c *child) { c.write(`{"jsonrpc":"2.0","id":1,"method":"host.get_capabilities"}`) })),
		"answers-twice": fine(serving(func(*child) {})),
		"asks-and-reads": fine(serving(func(c *child) {
			c.write(`{"jsonrpc":"2.0","id":1,"method":"host.notifications.toast","params":{"level":"info","message":"m"}}`)
		})),
	}
}

func processKids() map[string]kid {
	return map[string]kid{
		"exits-later":     ill(adapters.Crashed, "exited", after(func(*child) {})),
		"floods-stderr":   {run: serving(func(*child) { flood(os.Stderr) }), state: Running, log: "flooded"},
		"floods-stdout":   {run: serving(func(*child) { flood(os.Stdout) }), state: Running, log: "flooded"},
		"ignores-end":     fine(after(func(c *child) { signal.Ignore(syscall.SIGTERM); c.loopForever() })),
		"forks":           fine(after(func(c *child) { again("stays", false); c.loop(func(message) {}) })),
		"forks-apart":     fine(after(func(c *child) { again("stays", true); c.loop(func(message) {}) })),
		"forks-and-exits": ill(adapters.Crashed, "exited", after(func(*child) { again("stays", true) })),
		"stays":           ill(adapters.HandshakeFailed, "not_connected", func() { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP); sleep() }),
		"closes-its-own":  fine(after(func(c *child) { os.Stdin.Close(); os.Stdout.Close(); os.Stderr.Close(); c.loop(func(message) {}) })),
		"environment":     fine(func() { c, _ := dial(); text, _ := json.Marshal(os.Environ()); _, _ = c.stdout.Write(text); sleep() }),
		"stdio":           fine(func() { c, _ := dial(); c.serve() }),
		"removes-itself":  fine(after(func(c *child) { dir, _ := os.Getwd(); _ = os.RemoveAll(dir); c.loop(func(message) {}) })),
	}
}

func flood(f *os.File) {
	for range 1000 {
		_, _ = f.WriteString(strings.Repeat("y", 4000) + "\n")
	}
	_, _ = f.WriteString("flooded\n")
}

// loopForever answers health checks, but not the shutdown.
func (c *child) loopForever() {
	for {
		if m := c.read(); m.Method == "" {
			sleep()
		} else {
			c.healthy(m)
		}
	}
}
