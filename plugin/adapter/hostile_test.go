package adapter

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// hostile returns more ways to misbehave, at the edges of the protocol.
func hostile() []behaviour {
	return slices.Concat(edgesOfFrames(), edgesOfManifests(), edgesOfAnswers(), edgesOfProcesses())
}

// edgesOfFrames returns plugins whose frames are nearly right, or never end.
func edgesOfFrames() []behaviour {
	const failed, malformed = adapters.HandshakeFailed, adapters.MalformedResponse
	raw := func(text string) func(*kid) { return func(k *kid) { k.read(); k.raw(text); k.hang() } }
	slowly := func(before, unit string) func(*kid) {
		return func(k *kid) {
			k.read()
			for k.raw(before); ; time.Sleep(5 * time.Millisecond) {
				k.raw(unit)
			}
		}
	}
	framed := func(format string) func(*kid) { // wraps a good answer
		return func(k *kid) {
			q := k.read()
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, k.manifest(everything))
			k.raw(fmt.Sprintf(format, len(body)) + body)
			k.serve()
		}
	}
	return []behaviour{
		{id: "no-colon", child: raw("Content-Length 2\r\n\r\n{}"), code: malformed, says: `got "Content-Length 2"`},
		{id: "bare-cr", child: raw("Content-Length: 2\r\r{}"), code: failed, says: "no answer to initialize"},
		{id: "folded-header", child: raw("Content-Length: 2\r\n more\r\n\r\n{}"), code: malformed, says: `got " more"`},
		{id: "blank-first", child: raw("\r\n\r\n"), code: malformed, says: "without Content-Length"},
		{id: "hex-length", child: raw("Content-Length: 0x2\r\n\r\n{}"), code: malformed, says: `"0x2"`},
		{id: "empty-body", child: raw("Content-Length: 0\r\n\r\n"), code: malformed, says: "the JSON ends"},
		{id: "two-values", child: raw("Content-Length: 5\r\n\r\n{} {}"), code: malformed, says: "expected the end"},
		{id: "byte-order-mark", child: raw("Content-Length: 5\r\n\r\n\xef\xbb\xbf{}"), code: malformed, says: "expected a value"},
		{id: "half-a-character", child: raw("Content-Length: 3\r\n\r\n\"\xe5\"Content-Length: 4\r\n\r\n\"\xbc\x81\""), code: malformed, says: "UTF-8"},
		{id: "not-a-number", child: raw("Content-Length: 5\r\n\r\n[NaN]"), code: malformed, says: "no JSON"},
		{id: "slow-header", child: slowly("X-Filler: ", "y"), code: failed, says: "no answer to initialize"},
		{id: "slow-body", child: slowly("Content-Length: 100000\r\n\r\n", " "), code: failed, says: "no answer to initialize"},
		{id: "padded-length", child: framed("Content-Length: %020d\r\n\r\n"), ask: "detect"},
		{id: "odd-spaces", child: framed("X-Empty:\r\ncontent-length :%d \n\r\n"), ask: "detect"},
		{id: "early-log", child: func(k *kid) { k.log("warn", "early"); k.serve() }, ask: "detect"},
		{id: "answers-ahead", child: func(k *kid) { // it answers a request that was not sent yet
			k.greet()
			for id := range 20 {
				k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"matches":true}}`, id+10))
			}
			k.serve()
		}, ask: "detect"},
	}
}

// edgesOfManifests returns manifests with one unusual member.
func edgesOfManifests() []behaviour {
	const failed = adapters.HandshakeFailed
	instead := func(old, new string) func(*kid) {
		return func(k *kid) { k.result(k.read(), strings.Replace(k.manifest(""), old, new, 1)); k.hang() }
	}
	task := func(member string) func(*kid) { return instead(`"run":"true"`, `"run":"true",`+member) }
	return []behaviour{
		{id: "version-text", child: instead(`n":1`, `n":"1"`), code: failed, says: "protocol_version: expected an integer from 0 to 2147483647, got a string"},
		{id: "version-huge", child: instead(`n":1`, `n":1e999`), code: failed, says: "got 1e999"},
		{id: "id-in-capitals", child: instead(`"id-in-capitals"`, `"ID-in-capitals"`), code: adapters.AdapterIDMismatch, says: `adapter_id is "ID-in-capitals"`},
		{id: "escape-id", child: instead(`"escape-id"`, `"\u001b[2J"`), code: adapters.AdapterIDMismatch, says: `adapter_id is "\x1b[2J"`},
		{id: "two-ids", child: instead(`"adapter_id"`, `"adapter_id":"other","adapter_id"`), code: failed, says: "adapter_id: expected one value, got two"},
		{id: "null-files", child: instead(`["kid.toml"]`, `null`), code: failed, says: "fingerprint_files: expected an array, got null"},
		{id: "climbing-file", child: instead(`"kid.toml"`, `"../../etc/passwd"`), code: failed, says: "fingerprint_files[0]: expected a glob inside the dish"},
		{id: "long-name", child: instead(`"kid"`, `"`+strings.Repeat("n", 70_000)+`"`), code: failed, says: "display_name: expected at most 256 bytes, got 70000"},
		{id: "turned-name", child: instead(`"name":"build"`, `"name":"b\u202edliu"`), code: failed, says: `default_tasks[0].name: expected a task name`},
		{id: "nameless-task", child: instead(`"name":"build"`, `"name":""`), code: failed, says: `default_tasks[0].name: expected a task name, got ""`},
		{id: "nul-command", child: instead(`"run":"true"`, `"run":"true\u0000"`), code: failed, says: `default_tasks[0].run: expected a shell command`},
		{id: "nul-value", child: task(`"env":{"A":"\u0000"}`), code: failed, says: `default_tasks[0].env.A: expected a string without NUL`},
		{id: "nameless-variable", child: task(`"env":{"":"x"}`), code: failed, says: `default_tasks[0].env: expected names of variables, got ""`},
		{id: "waits-of-itself", child: task(`"depends_on":["build"]`), code: failed, says: `default_tasks[0].depends_on[0]: expected a task that does not wait for "build"`},
		{id: "glob-bomb", child: task(`"inputs":["` + strings.Repeat("{a,b}", 30) + `"]`), code: failed, says: `default_tasks[0].inputs[0]: expected a glob`},
		{id: "glob-depths", child: task(`"outputs":["` + strings.Repeat("{", 2000) + strings.Repeat("}", 2000) + `"]`), code: failed, says: `default_tasks[0].outputs[0]: expected a glob`},
		{id: "negative-parallel", child: instead(`{`, `{"parallel":-1,`), code: failed, says: "parallel: expected an integer"},
		{id: "capability-list", child: instead(`{`, `{"capabilities":["detect"],`), code: failed, says: "capabilities: expected an object"},
		{id: "half-surrogate", child: func(k *kid) {
			k.result(k.read(), strings.Replace(k.manifest(everything), `"kid"`, `"k\ud800"`, 1))
			k.serve()
		}, ask: "detect"},
	}
}

// edgesOfAnswers returns plugins with responses that some parsers accept.
func edgesOfAnswers() []behaviour {
	body := func(format string) func(*kid) { // a response; the format has only the id as its argument
		return func(k *kid) {
			k.greet()
			for {
				if q := k.read(); q.Method == "shutdown" {
					k.answer(q)
				} else {
					k.send(strings.ReplaceAll(format, "ID", string(q.ID)))
				}
			}
		}
	}
	response := func(members string) func(*kid) { return body(`{"jsonrpc":"2.0","id":ID,` + members + `}`) }
	// A plugin builds a long response only when it sends it.
	long := func(before, unit string, n int, after string) func(*kid) {
		return func(k *kid) { response(before + strings.Repeat(unit, n) + after)(k) }
	}
	const malformed, rpc = adapters.MalformedResponse, adapters.RPCError
	return []behaviour{
		{id: "neither", child: body(`{"jsonrpc":"2.0","id":ID}`), ask: "detect", code: malformed, says: "result: expected an object with \"matches\", got null"},
		{id: "error-and-null", child: response(`"result":null,"error":{"code":7,"message":"m"}`), ask: "detect", code: rpc, says: "error 7: m"},
		{id: "error-fraction", child: response(`"error":{"code":1.5,"message":"m"}`), ask: "detect", code: malformed, says: "error: code: expected an integer"},
		{id: "error-huge", child: response(`"error":{"code":99999999999999999999,"message":"m"}`), ask: "detect", code: malformed, says: "error: code: expected an integer"},
		{id: "error-number", child: response(`"error":{"code":1,"message":7}`), ask: "detect", code: malformed, says: "error: message: expected a string"},
		{id: "error-steers", child: response(`"error":{"code":1,"message":"a\u001b]0;t\u0007\u001b[2J\r\u009b1m\u202eb"}`), ask: "detect", code: rpc, says: "error 1: a]0;t[2J1mb"},
		{id: "exponent-id", child: body(`{"jsonrpc":"2.0","id":IDe0,"result":{"matches":true}}`), ask: "detect"},
		{id: "huge-id", child: body(`{"jsonrpc":"2.0","id":1e999,"result":{"matches":true}}`), ask: "detect", code: adapters.Timeout, says: "no answer to detect", left: Failed},
		{id: "two-request-ids", child: body(`{"jsonrpc":"2.0","id":ID,"id":ID,"result":{"matches":true}}`), ask: "detect", code: malformed, says: `two members "id"`},
		{id: "two-results", child: response(`"result":{"matches":true},"result":{"matches":false}`), ask: "detect", code: malformed, says: `two members "result"`},
		{id: "two-matches", child: response(`"result":{"matches":true,"matches":false}`), ask: "detect", code: malformed, says: "matches: expected one value, got two"},
		{id: "many-members", child: long(``, `"x":1,`, 100_000, `"result":{"matches":true}`), ask: "detect", code: malformed, says: "more than 64 members"},
		{id: "long-member", child: long(`"result":{"`, "k", 4<<20, `":1,"matches":true}`), ask: "detect"},
		{id: "huge-number", child: response(`"result":{"matches":true,"confidence":1e999}`), ask: "detect"},
		{id: "tool-line", child: response(`"result":{"tool":"zig","version":"1","line":1e999}`), ask: "toolchain", code: malformed, says: "line: expected an integer"},
		{id: "tool-newline", child: response(`"result":{"tool":"zig","version":"1\n2"}`), ask: "toolchain", code: malformed, says: `version: expected a version, got "1\n2"`},
		{id: "tool-escape", child: response(`"result":{"tool":"zig\u001b[31m","version":"1"}`), ask: "toolchain", code: malformed, says: `tool: expected the name of a tool, got "zig\x1b[31m"`},
		{id: "long-fingerprint", child: long(`"result":"`, "v", 10<<20, `"`), ask: "fingerprint", code: malformed, says: "expected at most 65536 bytes, got 10485760"},
		{id: "tasks-wait", child: response(`"result":{"tasks":[{"name":"a","run":"b","depends_on":["c"]},{"name":"c","run":"b","depends_on":["a"]}]}`), ask: "tasks", code: malformed, says: `tasks[1].depends_on[0]: expected a task that does not wait for "c", got "a"`},
		{id: "findings-line", child: response(`"result":{"diagnostics":[{"file":"a","line":-1,"severity":"error","message":"m","source":"s"}]}`), ask: "lint", code: malformed, says: "diagnostics[0].line: expected an integer"},
	}
}

// edgesOfProcesses returns plugins that try to escape from bento, or to end bento too.
func edgesOfProcesses() []behaviour {
	const failed, timeout = adapters.HandshakeFailed, adapters.Timeout
	once := func(do func(k *kid, q query)) func(*kid) {
		return func(k *kid) { k.greet(); do(k, k.read()); k.serve() }
	}
	leaves := func(kind string) func(*kid) { return once(func(k *kid, q query) { k.spawn(kind, false); k.answer(q) }) }
	return []behaviour{
		{id: "joins-us", child: func(k *kid) { k.deafToTerm(); join(syscall.Getppid()); k.hang() }, code: failed, says: "no answer to initialize"},
		{id: "joins-us-later", child: once(func(k *kid, q query) { k.deafToTerm(); join(syscall.Getppid()); k.hang() }), ask: "detect", code: timeout, says: "no answer to detect", left: Failed},
		{id: "leaves-with-us", child: leaves(fmt.Sprint("joins:", syscall.Getppid())), ask: "detect"},
		{id: "leaves-twice", child: leaves("daemon"), ask: "detect"},
		{id: "leaves-again", child: leaves("again"), ask: "detect"},
		{id: "leaves-zombies", child: once(func(k *kid, q query) {
			for range 8 {
				k.spawn("exits", false)
			}
			k.answer(q)
		}), ask: "detect"},
		{id: "stops-again", child: once(func(k *kid, q query) {
			k.deafToTerm()
			woken := make(chan os.Signal, 1)
			signal.Notify(woken, syscall.SIGCONT)
			for {
				syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				<-woken
			}
		}), ask: "detect", code: timeout, says: "no answer to detect", left: Failed},
		{id: "reopens-stdout", child: once(func(k *kid, q query) {
			fd, err := syscall.Dup(1)
			if err != nil {
				panic(err)
			}
			syscall.Close(1)
			if err := syscall.Dup2(fd, 1); err != nil {
				panic(err)
			}
			k.answer(q)
		}), ask: "detect"},
		{id: "gone-and-changed", child: once(func(k *kid, q query) {
			if err := os.Remove(os.Args[0]); err != nil {
				panic(err)
			}
			if err := os.WriteFile(os.Args[0], []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
				panic(err)
			}
			os.Exit(7)
		}), ask: "detect", code: failed, says: "its executable has changed since its first start", left: Failed},
		{id: "removes-itself", child: once(func(k *kid, q query) { os.Remove(os.Args[0]); k.answer(q) }), ask: "detect"},
		{id: "refuses-to-go", child: once(func(k *kid, q query) {
			k.answer(q)
			k.fail(k.read(), `{"code":-32601,"message":"no"}`)
			k.hang()
		}), ask: "detect"},
		{id: "goes-with-a-bang", child: once(func(k *kid, q query) { k.answer(q); k.read(); k.forever("garbage\n") }), ask: "detect"},
		{id: "floods-one-line", child: once(func(k *kid, q query) {
			for range 64 {
				os.Stderr.WriteString(strings.Repeat("y", 1<<20))
			}
			k.answer(q)
		}), ask: "detect"},
		{id: "signals-us", child: once(func(k *kid, q query) {
			syscall.Kill(os.Getppid(), syscall.SIGWINCH)
			syscall.Kill(os.Getppid(), syscall.SIGURG)
			k.answer(q)
		}), ask: "detect"},
	}
}

// join moves the calling process into the process group of pid.
func join(pid int) {
	group, err := syscall.Getpgid(pid)
	if err == nil {
		err = syscall.Setpgid(0, group)
	}
	if err != nil {
		panic(err)
	}
}

// lingers runs a grandchild of this kind. If it returns, the grandchild hangs.
func (k *kid) lingers(kind string) {
	if pid, ok := strings.CutPrefix(kind, "joins:"); ok {
		n, _ := strconv.Atoi(pid)
		join(n)
	}
	switch kind {
	case "exits":
		os.Exit(0)
	case "daemon":
		k.spawn("closed", true)
		os.Exit(0)
	case "again":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		<-asked
		again := exec.Command(os.Args[0], "again")
		again.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = again.Start()
		os.Exit(0)
	}
}
