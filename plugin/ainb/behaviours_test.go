package ainb

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// misbehaviour is an extension that does something wrong, with its expected result.
type misbehaviour struct {
	name   string
	more   string // more of its manifest
	run    func(k *kid)
	code   adapters.Code // of the first command; "" for a good answer
	says   string        // in the failure, or in the log and the decisions
	state  host.State    // afterwards; "" is ready
	eager  bool          // no command is called; the test waits for state
	large  bool          // the command has large arguments
	hurry  bool          // the timeouts are short, since the extension misses one
	spares bool          // the second command succeeds
}

// greeted returns an extension that does something after the handshake.
func greeted(run func(k *kid)) func(k *kid) { return func(k *kid) { k.greet(); run(k) } }

// raw returns an extension that writes bytes after the handshake, in place of an answer, and hangs.
func raw(text string) func(k *kid) {
	return greeted(func(k *kid) { k.read(); k.raw(text); k.forever() })
}

// sends returns an extension that writes a body before its answer.
func sends(body string) func(k *kid) {
	return greeted(func(k *kid) {
		q := k.read()
		k.send(body)
		k.answer(q)
		k.serve()
	})
}

// forever reads its input until only the end of the process can end it.
func (k *kid) forever() {
	_, _ = io.Copy(io.Discard, k.in)
	k.linger()
}

// fork starts a grandchild that keeps the pipes open.
func (k *kid) fork(ownSession bool) {
	cmd := exec.Command(os.Args[0], "holder")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: ownSession}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func frame(n int) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n", n) }

// misbehaviours returns all extensions of TestMisbehave.
func misbehaviours() (list []misbehaviour) {
	for _, part := range [][]misbehaviour{handshakes(), frames(), messages(), ends(), floods()} {
		list = append(list, part...)
	}
	return list
}

func handshakes() []misbehaviour {
	const failed, later = adapters.HandshakeFailed, host.Restarting
	return []misbehaviour{
		{name: "kid-silent", run: func(k *kid) { k.forever() }, code: failed, says: "the handshake timed out after", state: later, hurry: true},
		{name: "kid-half-frame", run: func(k *kid) { k.raw("Content-Le"); k.forever() }, code: failed, says: "the handshake timed out after", state: later, hurry: true},
		{name: "kid-half-body", run: func(k *kid) { k.raw(frame(10) + "{"); k.forever() }, code: failed, says: "the handshake timed out after", state: later, hurry: true},
		{name: "kid-exits", run: func(k *kid) { k.status = 3 }, code: failed, says: "it exited (exit status 3)", state: later},
		{name: "kid-exits-well", run: func(k *kid) { k.read() }, code: failed, says: "it exited (exit status 0)", state: later},
		{name: "kid-refuses", run: func(k *kid) { k.fail(k.read(), -32003, "revision 3 required"); k.forever() }, code: failed, says: "error -32003: revision 3 required", state: later},
		{name: "kid-other-name", run: func(k *kid) { k.result(k.read(), `{"name":"host","version":"1.0.0"}`); k.forever() }, code: failed, says: `answered the name "host"`, state: later},
		{name: "kid-other-version", run: func(k *kid) { k.result(k.read(), `{"name":"kid-other-version","version":"2.0.0"}`); k.forever() }, code: failed, says: `answered the version "2.0.0"`, state: later},
		{name: "kid-text-id", run: func(k *kid) { k.send(`{"jsonrpc":"2.0","id":"1","result":{}}`); k.forever() }, code: failed, says: `has the id "1", the request had 1`, state: later},
		{name: "kid-both", run: func(k *kid) { k.send(`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`); k.forever() }, code: failed, says: "both a result and an error", state: later},
		{name: "kid-answers-twice", run: func(k *kid) { q := k.read(); k.result(q, k.identity()); k.result(q, k.identity()); k.serve() }, says: "has no request"},
		{name: "kid-crash-loop", run: func(k *kid) { k.greet(); k.status = 1 }, eager: true, says: "it exited 3 times within", state: host.Quarantined},
	}
}

func frames() []misbehaviour {
	const bad, later = adapters.MalformedResponse, host.Restarting
	return []misbehaviour{
		{name: "kid-noise", run: raw("starting up\r\n"), code: bad, says: `got "starting up"`, state: later},
		{name: "kid-line-feeds", run: raw("Content-Length: 2\n\n{}"), code: bad, says: "without CR LF", state: later},
		{name: "kid-other-header", run: raw("Content-Type: x\r\n" + frame(2) + "{}"), code: bad, says: "expected only Content-Length", state: later},
		{name: "kid-negative", run: raw("Content-Length: -1\r\n\r\n"), code: bad, says: "expected decimal digits", state: later},
		{name: "kid-no-length", run: raw("\r\n"), code: bad, says: "without Content-Length", state: later},
		{name: "kid-too-long", run: raw(frame(16<<20 + 1)), code: bad, says: "at most 16777216", state: later},
		{name: "kid-long-header", run: raw("Content-Length:" + strings.Repeat(" ", 8<<10) + "2\r\n\r\n{}"), code: bad, says: "more than 8192 bytes", state: later},
		{name: "kid-endless-header", run: raw(strings.Repeat("x", 1<<20)), code: bad, says: "more than 8192 bytes", state: later},
		{name: "kid-ends-in-header", run: greeted(func(k *kid) { k.read(); k.raw("Content-Length: 2") }), code: adapters.Crashed, says: "in the middle of a message", state: later},
		{name: "kid-ends-in-body", run: greeted(func(k *kid) { k.read(); k.raw(frame(2) + "{") }), code: adapters.Crashed, says: "in the middle of a message", state: later},
		{name: "kid-waits-in-body", run: greeted(func(k *kid) { k.read(); k.raw(frame(2) + "{"); k.forever() }), code: adapters.Timeout, says: "no answer to plugin/cli_dispatch", hurry: true},
		{name: "kid-last-length", run: greeted(func(k *kid) { q := k.read(); k.raw("Content-Length: 9\r\n" + frame(2) + "{}"); k.answer(q); k.serve() }), says: "ignored message"},
		{name: "kid-two-in-one", run: greeted(func(k *kid) { k.read(); k.raw(frame(2) + "{}" + frame(2) + "[]"); k.forever() }), code: adapters.Timeout, hurry: true, says: "no answer"},
	}
}

func messages() []misbehaviour {
	return []misbehaviour{
		{name: "kid-no-json", run: sends("{broken"), says: "ignored message"},
		{name: "kid-no-utf8", run: sends("{\"a\":\"\xff\"}"), says: "invalid UTF-8"},
		{name: "kid-deep", run: sends(strings.Repeat("[", 1000) + strings.Repeat("]", 1000)), says: "ignored message"},
		{name: "kid-batch", run: sends(`[{"jsonrpc":"2.0","id":1,"method":"host/log"}]`), says: "no batches"},
		{name: "kid-old-rpc", run: sends(`{"jsonrpc":"1.0","id":1,"method":"host/log"}`), says: `expected "2.0"`},
		{name: "kid-null-id", run: sends(`{"jsonrpc":"2.0","id":null,"method":"host/log"}`), says: "the id of a request is null"},
		{name: "kid-to-nobody", run: sends(`{"jsonrpc":"2.0","id":77,"result":1}`), says: "has no request"},
		{name: "kid-bad-log", run: sends(`{"jsonrpc":"2.0","method":"host/log","params":{"level":"shout","message":"x"}}`), says: "required one of"},
		{name: "kid-other-slot", more: withBus, run: sends(`{"jsonrpc":"2.0","method":"host/snapshot/publish","params":{"topic":"ui.state/other","payload":""}}`), says: "slot of another extension"},
		{name: "kid-unasked-bus", run: sends(`{"jsonrpc":"2.0","method":"host/snapshot/publish","params":{"topic":"a","payload":""}}`), says: "deny host/snapshot/publish event_bus"},
		{name: "kid-dots", more: "[capabilities]\nread_sessions = true\n", run: sends(`{"jsonrpc":"2.0","id":5,"method":"host/fs/read_file","params":{"path":"/x/.agents-in-a-box/sessions/../../etc/passwd"}}`), says: "deny host/fs/read_file"},
		{name: "kid-late", run: greeted(func(k *kid) {
			q := k.read()
			k.result(k.read(), `{"stdout":"","stderr":"","exit_code":0}`)
			k.answer(q)
			k.serve()
		}), code: adapters.Timeout, says: "no answer", hurry: true, spares: true},
		{name: "kid-large-result", run: greeted(func(k *kid) {
			k.result(k.read(), `{"stdout":"`+strings.Repeat("AAAA", 4<<20)+`","stderr":"","exit_code":0}`)
			k.forever()
		}), code: adapters.MalformedResponse, says: "at most 16777216", state: host.Restarting},
		{name: "kid-no-result", run: greeted(func(k *kid) { k.result(k.read(), `{"stdout":7}`); k.serve() }), code: adapters.MalformedResponse, says: "required stdout", spares: true},
	}
}

func ends() []misbehaviour {
	const crashed, later = adapters.Crashed, host.Restarting
	suicide := func(s syscall.Signal) func(k *kid) {
		return greeted(func(k *kid) { k.read(); _ = syscall.Kill(os.Getpid(), s); k.linger() })
	}
	return []misbehaviour{
		{name: "kid-dies", run: greeted(func(k *kid) { k.read(); k.status = 7 }), code: crashed, says: "it exited (exit status 7)", state: later, spares: false},
		{name: "kid-is-killed", run: suicide(syscall.SIGKILL), code: crashed, says: "it exited (killed by SIGKILL)", state: later},
		{name: "kid-is-ended", run: suicide(syscall.SIGTERM), code: crashed, says: "it exited (killed by SIGTERM)", state: later},
		{name: "kid-forks", run: greeted(func(k *kid) { k.read(); k.fork(false) }), code: crashed, says: "it exited (exit status 0)", state: later},
		{name: "kid-forks-away", run: greeted(func(k *kid) { k.read(); k.fork(true) }), code: crashed, says: "it exited (exit status 0)", state: later},
		{name: "kid-fork-stays", run: greeted(func(k *kid) { k.fork(true); k.serve() })},
		{name: "kid-stays", run: greeted(func(k *kid) { k.answer(k.read()); k.forever() })},
		{name: "kid-stays-for-ever", run: greeted(func(k *kid) {
			signal.Ignore(syscall.SIGTERM)
			k.answer(k.read())
			k.forever()
		})},
		{name: "kid-stays-unread", run: greeted(func(k *kid) { signal.Ignore(syscall.SIGTERM); k.answer(k.read()); k.linger() })},
		{name: "kid-fails-at-the-end", run: greeted(func(k *kid) { k.serve(); k.status = 9 })},
		{name: "kid-closes-stdout", run: greeted(func(k *kid) { k.read(); os.Stdout.Close(); k.linger() }), code: crashed, says: "it closed its standard output (killed by SIGKILL)", state: later},
		{name: "kid-closes-stdin", run: greeted(func(k *kid) { os.Stdin.Close(); k.linger() }), code: adapters.Timeout, says: "no answer", hurry: true},
		{name: "kid-removes-itself", run: greeted(func(k *kid) { k.answer(k.read()); os.RemoveAll(filepath.Dir(os.Args[0])); k.serve() })},
		{name: "kid-leaves-a-child", more: "[capabilities]\nspawn_managed_subprocess = [\"sleep\"]\n", run: greeted(func(k *kid) {
			k.read()
			k.ask("1", "host/spawn_managed_subprocess", `{"bin":"sleep","argv":["1000"]}`)
			k.status = 1
		}), code: crashed, says: "it exited (exit status 1)", state: later},
	}
}

func floods() []misbehaviour {
	return []misbehaviour{
		{name: "kid-floods-stderr", run: greeted(func(k *kid) {
			w := bufio.NewWriter(k.stderr)
			for range 100_000 {
				w.WriteString(strings.Repeat("e", 99) + "\n")
			}
			w.WriteString(strings.Repeat("e", 1<<20))
			w.Flush()
			k.serve()
		})},
		{name: "kid-floods-the-log", run: greeted(func(k *kid) {
			k.read()
			for {
				k.tell("host/log", `{"level":"info","message":"x"}`)
			}
		}), code: adapters.Timeout, says: "no answer", hurry: true},
		{name: "kid-floods-the-bus", more: withBus, run: greeted(func(k *kid) {
			q := k.read()
			for i := range 11_000 {
				k.tell("host/snapshot/publish", fmt.Sprintf(`{"topic":"t%d","payload":"AAAA"}`, i))
			}
			k.answer(q)
			k.serve()
		}), says: "the snapshot bus is full"},
		{name: largePayloads, more: withBus, run: greeted(func(k *kid) {
			q := k.read()
			payload := strings.Repeat("AAAA", 4<<20-1000)
			for i := range 6 {
				k.tell("host/snapshot/publish", fmt.Sprintf(`{"topic":"t%d","payload":"%s"}`, i, payload))
			}
			k.answer(q)
			k.serve()
		}), says: "the snapshot bus is full"},
		{name: "kid-asks-without-reading", run: greeted(func(k *kid) {
			w := bufio.NewWriter(k.out)
			k.out = w
			for i := range 20_000 {
				k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"host/none"}`, i))
			}
			w.Flush()
			k.linger()
		}), code: adapters.Timeout, says: "it does not read its standard input", state: host.Restarting},
		{name: "kid-many-requests", run: greeted(func(k *kid) {
			q := k.read()
			answers := 0
			for i := range 2000 {
				k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"host/fs/read_file","params":{"path":"/x"}}`, i))
			}
			for answers < 2000 && !k.read().over {
				answers++
			}
			k.answer(q)
			k.serve()
		}), says: "deny host/fs/read_file read_sessions"},
		{name: "kid-does-not-read", run: greeted(func(k *kid) { k.linger() }), large: true, hurry: true, code: adapters.Timeout, says: "it does not read its standard input", state: host.Restarting},
	}
}
