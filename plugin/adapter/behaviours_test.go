package adapter

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// behaviour is one way to misbehave, with its expected result.
type behaviour struct {
	id    string
	child func(k *kid)
	// ask lists the questions after a good start. If it is empty, the start fails.
	ask  string
	code adapters.Code // "" for no failure
	says string        // a part of the message
	left string        // the expected status afterwards; "" is failed if the start fails, loaded otherwise
}

func behaviours() []behaviour {
	return slices.Concat(badStarts(), badManifests(), badAnswers(), badLives(), hostile())
}

// others returns the plugins that only one test uses.
func others(id string) func(*kid) {
	if strings.HasPrefix(id, "waits-") {
		return (*kid).waitForAll
	}
	if strings.HasPrefix(id, "naps-") {
		return func(k *kid) { q := k.read(); time.Sleep(200 * time.Millisecond); k.answer(q); k.serve() }
	}
	if n, ok := strings.CutPrefix(id, "umlauts-"); ok { // characters of several bytes, shifted by n bytes
		shift, _ := strconv.Atoi(n)
		return func(k *kid) { k.raw(strings.Repeat("x", shift) + strings.Repeat("ä弁", 200) + "\n"); k.hang() }
	}
	install := func(failure string) func(*kid) {
		return func(k *kid) { k.greet(); k.fail(k.read(), failure); k.serve() }
	}
	switch id {
	case "half-body-of-16-mib":
		return func(k *kid) { k.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n{", 16<<20)); k.hang() }
	case "floods-a-million":
		return (*kid).floodMillion
	case "env":
		return func(k *kid) {
			k.greet()
			k.result(k.read(), fmt.Sprintf("%q", strings.Join(slices.Sorted(slices.Values(os.Environ())), " ")))
			k.serve()
		}
	case "dies-talking":
		return func(k *kid) {
			for i := range 20 {
				fmt.Fprintf(os.Stderr, "line %d\n", i)
			}
			fmt.Fprint(os.Stderr, "no \x1b[31mlicence\n")
			os.Exit(3)
		}
	case "talkative":
		return func(k *kid) { os.Stderr.WriteString("hello\x1b[0m\n"); k.serve() }
	case "extends":
		return (*kid).extend
	case "echo":
		return (*kid).echo
	case "counts":
		return (*kid).count
	case "install-fails":
		return install(`{"code":2001,"message":"rebar3 compile failed","data":{"exit_status":1,"command":"rebar3 compile"}}`)
	case "install-fails-barely":
		return install(`{"code":2001,"message":"rebar3 compile failed"}`)
	case "install-plans":
		return func(k *kid) {
			k.greet()
			for {
				q := k.read() // the name of the dish selects the answer
				k.result(q, fmt.Sprint(q.Params["dish_name"]))
			}
		}
	case "install-misses-a-tool":
		return install(`{"code":2099,"message":"no rebar3","data":{"detail":"d","missing_tool":"rebar3","hint":"get it"}}`)
	case "hooks":
		return func(k *kid) {
			rerun := `{"kind":"append_args","args":[]}`
			k.result(k.read(), k.manifest(`"diagnostic_hooks":{"lint":{"rerun":`+rerun+`,"parser":"ruff"},"test":{"rerun":`+rerun+`,"parser":"own"},`+
				`"build":{"rerun":{"kind":"prepend"},"parser":"plugin"},"check":{"rerun":{"kind":"replace"},"parser":"plugin"}},`))
			k.serve()
		}
	case "finds":
		return func(k *kid) {
			k.greet()
			q := k.read()
			rest := `"severity":"error","message":"m","source":"zig"}`
			k.result(q, `{"diagnostics":[{"file":"/w/dish/b.zig","line":3,"severity":"error","message":"status `+fmt.Sprint(q.Params["exit_status"])+`","source":"zig"},`+
				`{"file":"dish/a.zig","line":0,"end_line":7,"severity":"odd","message":"m","source":""},`+
				`{"file":"./dish/../dish/a.zig","line":1,"severity":"warning","message":"m","source":"finds"},`+
				`{"file":"/etc/passwd","line":3,`+rest+`,{"file":"../out.zig","line":3,`+rest+`]}`)
			k.serve()
		}
	}
	return (*kid).serve
}

// waitForAll answers only after the test has released all plugins of this kind.
func (k *kid) waitForAll() {
	q := k.read()
	barrier, err := net.Dial("unix", filepath.Join(filepath.Dir(os.Args[0]), "barrier"))
	if err != nil {
		panic(err)
	}
	_, _ = barrier.Read(make([]byte, 1)) // blocks until the test closes it
	k.answer(q)
	k.serve()
}

// floodMillion sends a million log notifications during each install.
func (k *kid) floodMillion() {
	k.greet()
	one := `{"jsonrpc":"2.0","method":"notifications/log","params":{"level":"info","message":"fetching"}}`
	many := strings.Repeat(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(one), one), 1000)
	for {
		q := k.read()
		if q.Method == "install" {
			for range 1000 {
				k.raw(many)
			}
		}
		k.answer(q)
	}
}

// echo answers as fast as a plugin can: it only looks for the id.
func (k *kid) echo() {
	k.answer(k.read())
	var frame []byte
	for {
		length := 0
		for {
			line, err := k.in.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) <= 2 {
				break
			}
			length, _ = strconv.Atoi(string(line[len("Content-Length: ") : len(line)-2]))
		}
		body, err := k.in.Peek(length)
		if err != nil {
			return
		}
		_, id, _ := bytes.Cut(body, []byte(`"id":`))
		id = id[:bytes.IndexByte(id, ',')]
		frame = append(frame[:0], "Content-Length: "...)
		frame = strconv.AppendInt(frame, int64(len(id)+len(`{"jsonrpc":"2.0","id":,"result":{"matches":true}}`)), 10)
		frame = append(frame, "\r\n\r\n"+`{"jsonrpc":"2.0","id":`...)
		frame = append(append(frame, id...), `,"result":{"matches":true}}`...)
		os.Stdout.Write(frame)
		if bytes.Contains(body, []byte(`"shutdown"`)) {
			return
		}
		k.in.Discard(length)
	}
}

// count counts the requests that it receives, and returns the count as links.
func (k *kid) count() {
	asked := make(map[string]int)
	for {
		q := k.read()
		asked[q.Method]++
		if q.Method != "links" {
			k.answer(q)
			continue
		}
		k.result(q, fmt.Sprintf(`{"links":[],"provides":["detect=%d","requiredToolchain=%d","resolvedToolchainFingerprint=%d"]}`,
			asked["detect"], asked["requiredToolchain"], asked["resolvedToolchainFingerprint"]))
	}
}

// badStarts returns plugins that fail before they send a manifest.
func badStarts() []behaviour {
	const failed, malformed = adapters.HandshakeFailed, adapters.MalformedResponse
	frame := func(n int, body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", n, body) }
	raw := func(text string) func(*kid) { return func(k *kid) { k.raw(text); k.hang() } }
	return []behaviour{
		{id: "silent", child: (*kid).hang, code: failed, says: "no answer to initialize"},
		{id: "reads-only", child: func(k *kid) { k.read(); k.hang() }, code: failed, says: "no answer to initialize"},
		{id: "deaf-to-term", child: func(k *kid) { k.deafToTerm(); k.hang() }, code: failed, says: "no answer to initialize"},
		{id: "exits-at-once", child: func(k *kid) { os.Exit(3) }, code: failed, says: "exit status 3"},
		{id: "exits-well", child: func(k *kid) {}, code: failed, says: "exit status 0"},
		{id: "dies-of-a-signal", child: func(k *kid) { syscall.Kill(os.Getpid(), syscall.SIGKILL); k.hang() }, code: failed, says: "killed by SIGKILL"},
		{id: "panics", child: func(k *kid) { panic("no zig") }, code: failed, says: "exit status 2"},
		{id: "garbage-first", child: raw("Loading plugin...\n"), code: malformed, says: `got "Loading plugin..."`},
		{id: "nul-bytes", child: raw("\x00\x00\x00\x00\n"), code: malformed, says: `got "\x00`},
		{id: "half-header", child: raw("Content-Len"), code: failed, says: "no answer to initialize"},
		{id: "half-header-exit", child: func(k *kid) { k.raw("Content-Len") }, code: failed, says: "in the middle of a message"},
		{id: "half-body", child: raw(frame(100, "{")), code: failed, says: "no answer to initialize"},
		{id: "half-body-exit", child: func(k *kid) { k.raw(frame(100, "{")) }, code: failed, says: "in the middle of a message"},
		{id: "huge-length", child: raw(frame(0x7fffffffffffffff, "")), code: malformed, says: "a body of 9223372036854775807 bytes, at most 16777216"},
		{id: "one-byte-too-long", child: raw(frame(16<<20+1, "")), code: malformed, says: "a body of 16777217 bytes"},
		{id: "negative-length", child: raw(frame(-1, "")), code: malformed, says: `Content-Length of "-1"`},
		{id: "signed-length", child: raw("Content-Length: +2\r\n\r\n{}"), code: malformed, says: `"+2"`},
		{id: "no-length", child: raw("Content-Type: json\r\n\r\n{}"), code: malformed, says: "without Content-Length"},
		{id: "two-lengths", child: raw("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), code: malformed, says: "two Content-Length"},
		{id: "endless-header", child: func(k *kid) { k.forever("X-Filler: y\r\n") }, code: malformed, says: "more than 8192 bytes"},
		{id: "endless-line", child: func(k *kid) { k.forever("yyyyyyyyyyyyyyyy") }, code: malformed, says: "more than 8192 bytes"},
		{id: "not-json", child: func(k *kid) { k.send("{'a':1}"); k.hang() }, code: malformed, says: "no JSON"},
		{id: "bad-utf8", child: func(k *kid) { k.send("\"\xff\""); k.hang() }, code: malformed, says: "UTF-8"},
		{id: "deep", child: func(k *kid) { k.send(strings.Repeat("[", 1<<20)); k.hang() }, code: malformed, says: "too deep"},
		{id: "ndjson", child: func(k *kid) {
			k.read()
			k.raw(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n")
			k.hang()
		}, code: malformed, says: `expected "Content-Length: N", got "{\"jsonrpc`},
		{id: "flood", child: func(k *kid) {
			for {
				k.log("info", strings.Repeat("x", 1000))
			}
		}, code: failed, says: "no answer to initialize"},
		{id: "closes-stdout", child: func(k *kid) { os.Stdout.Close(); k.hang() }, code: failed, says: "it closed its standard output (killed by SIGKILL)"},
		{id: "closes-stdin", child: func(k *kid) { k.in = nil; os.Stdin.Close(); k.hang() }, code: failed, says: "no answer to initialize|standard input"},
		{id: "slow", child: func(k *kid) { q := k.read(); time.Sleep(time.Minute); k.result(q, "1") }, code: failed, says: "no answer to initialize"},
		{id: "pipe-holder", child: func(k *kid) { k.spawn("holder", false) }, code: failed, says: "exit status 0"},
		{id: "pipe-holder-setsid", child: func(k *kid) { k.spawn("holder", true) }, code: failed, says: "exit status 0"},
		{id: "stops-itself", child: func(k *kid) { syscall.Kill(os.Getpid(), syscall.SIGSTOP); k.hang() }, code: failed, says: "no answer to initialize"},
	}
}

func (k *kid) forever(unit string) {
	chunk := strings.Repeat(unit, 1000)
	for {
		k.raw(chunk)
	}
}

// badManifests returns plugins that answer initialize with a bad manifest.
func badManifests() []behaviour {
	const failed = adapters.HandshakeFailed
	says := func(manifest func(k *kid) string) func(*kid) {
		return func(k *kid) { k.result(k.read(), manifest(k)); k.hang() }
	}
	instead := func(old, new string) func(*kid) {
		return says(func(k *kid) string { return strings.Replace(k.manifest(""), old, new, 1) })
	}
	task := func(member string) func(*kid) { return instead(`"run":"true"`, `"run":"true",`+member) }
	return []behaviour{
		{id: "wrong-version", child: instead(`"protocol_version":1`, `"protocol_version":99`), code: adapters.ProtocolVersionMismatch, says: "protocol_version is 99, this bento speaks 1"},
		{id: "wrong-id", child: instead(`"adapter_id":"wrong-id"`, `"adapter_id":"other"`), code: adapters.AdapterIDMismatch, says: `adapter_id is "other", expected "wrong-id" as in its file name`},
		{id: "null-manifest", child: instead("", "null,"), code: adapters.MalformedResponse, says: "no JSON"},
		{id: "no-object", child: says(func(*kid) string { return "[]" }), code: failed, says: "manifest: expected an object with \"protocol_version\" and \"adapter_id\", got an array"},
		{id: "empty", child: says(func(*kid) string { return "{}" }), code: failed, says: "manifest: protocol_version: expected an integer from 0 to 2147483647, got nothing"},
		{id: "fraction", child: instead(`:1,`, `:1.5,`), code: failed, says: "protocol_version: expected an integer from 0 to 2147483647, got 1.5"},
		{id: "no-tasks", child: instead(`"default_tasks"`, `"tasks"`), code: failed, says: "default_tasks: expected an array, got nothing"},
		{id: "many-tasks", child: says(func(k *kid) string {
			tasks := strings.Repeat(`{"name":"b","run":"t"},`, 99_999) + `{"name":"b","run":"t"}`
			return strings.Replace(k.manifest(""), `{"name":"build","run":"true"}`, tasks, 1)
		}), code: failed, says: "default_tasks: expected at most 1000 elements, got more"},
		{id: "same-task", child: instead(`[{"name":"build"`, `[{"name":"build","run":"t"},{"name":"build"`), code: failed, says: `default_tasks[1].name: expected a unique name, got "build" as in default_tasks[0]`},
		{id: "long-string", child: says(func(k *kid) string {
			return strings.Replace(k.manifest(""), `"run":"true"`, `"run":"`+strings.Repeat("x", 10<<20)+`"`, 1)
		}), code: failed, says: "default_tasks[0].run: expected at most 65536 bytes, got 10485760"},
		{id: "wrong-type", child: instead(`"run":"true"`, `"run":7`), code: failed, says: "default_tasks[0].run: expected a shell command, got a number"},
		{id: "no-command", child: instead(`"run":"true"`, `"run":" "`), code: failed, says: "default_tasks[0].run: expected a shell command"},
		{id: "escape-name", child: instead(`"name":"build"`, `"name":"\u001b[2J"`), code: failed, says: `default_tasks[0].name: expected a task name, got "\x1b[2J"`},
		{id: "absolute-output", child: task(`"outputs":["/etc/*"]`), code: failed, says: `default_tasks[0].outputs[0]: expected a glob inside the dish, outside .git and .bento, got "/etc/*"`},
		{id: "git-output", child: task(`"outputs":[".git/**"]`), code: failed, says: `default_tasks[0].outputs[0]: expected a glob inside the dish, outside .git and .bento, got ".git/**"`},
		{id: "git-input", child: task(`"inputs":["a","!//.git/config"]`), code: failed, says: `default_tasks[0].inputs[1]: expected a glob inside the dish, or inside the workspace after "//", outside .git and .bento, got "!//.git/config"`},
		{id: "climbing-output", child: task(`"outputs":["a/../../b"]`), code: failed, says: `default_tasks[0].outputs[0]: expected a glob inside the dish`},
		{id: "climbing-braces", child: task(`"outputs":["{..,a}/b"]`), code: failed, says: `default_tasks[0].outputs[0]`},
		{id: "bad-glob", child: task(`"inputs":["a[","b"]`), code: failed, says: `default_tasks[0].inputs[0]: expected a glob inside the dish, or inside the workspace after "//", outside .git and .bento, got "a[": it is malformed: a "[" is not closed`},
		{id: "climbing-cwd", child: task(`"cwd":".."`), code: failed, says: `default_tasks[0].cwd: expected a path relative to the dish and inside it`},
		{id: "bad-variable", child: task(`"env":{"A=B":"x"}`), code: failed, says: `default_tasks[0].env: expected names of variables`},
		{id: "capability-type", child: instead(`{`, `{"capabilities":{"detect":"yes"},`), code: failed, says: "capabilities.detect: expected true or false"},
		{id: "hook-type", child: instead(`{`, `{"diagnostic_hooks":{"lint":{"rerun":"x","parser":"y"}},`), code: failed, says: "diagnostic_hooks.lint.rerun: expected an object"},
		{id: "refuses", child: func(k *kid) {
			k.fail(k.read(), `{"code":2099,"message":"no \u001b[31mlicence","data":{"detail":"x"}}`)
			k.hang()
		}, code: failed, says: "error 2099: no [31mlicence"},
	}
}

// badAnswers returns plugins that start well and answer a request in an odd way.
func badAnswers() []behaviour {
	on := func(reply func(k *kid, q query)) func(*kid) {
		return func(k *kid) {
			k.greet()
			for {
				if q := k.read(); q.Method == "shutdown" {
					k.answer(q)
				} else {
					reply(k, q)
				}
			}
		}
	}
	with := func(result string) func(*kid) { return on(func(k *kid, q query) { k.result(q, result) }) }
	then := func(before, after string) func(*kid) {
		return on(func(k *kid, q query) {
			if before != "" {
				k.send(before)
			}
			k.answer(q)
			if after != "" {
				k.send(after)
			}
		})
	}
	const malformed, rpc = adapters.MalformedResponse, adapters.RPCError
	return []behaviour{
		{id: "good", child: (*kid).serve, ask: "detect"},
		{id: "string-id", child: on(func(k *kid, q query) { k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":1}`, q.ID)) }), ask: "detect", code: malformed, says: "the request had 2"},
		{id: "fraction-id", child: on(func(k *kid, q query) {
			k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s.0,"result":{"matches":true}}`, q.ID))
		}), ask: "detect"},
		{id: "other-id", child: on(func(k *kid, q query) { k.send(`{"jsonrpc":"2.0","id":77,"result":{}}`) }), ask: "detect", code: adapters.Timeout, says: "no answer to detect", left: Failed},
		{id: "null-id-error", child: on(func(k *kid, q query) { k.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`) }), ask: "detect", code: rpc, says: "error -32700: what?"},
		{id: "no-version", child: on(func(k *kid, q query) { k.send(fmt.Sprintf(`{"id":%s,"result":{}}`, q.ID)) }), ask: "detect", code: malformed, says: `no "jsonrpc":"2.0"`},
		{id: "both", child: on(func(k *kid, q query) {
			k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":"m"}}`, q.ID))
		}), ask: "detect", code: malformed, says: "both a result and an error"},
		{id: "extra-keys", child: on(func(k *kid, q query) {
			k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"trace":7,"result":{"matches":true,"why":"x"}}`, q.ID))
		}), ask: "detect"},
		{id: "batch", child: then(`[{"jsonrpc":"2.0","id":2,"result":{"matches":false}}]`, ""), ask: "detect"},
		{id: "no-message", child: then(`{"hello":"world"}`, ""), ask: "detect"},
		{id: "answers-twice", child: then("", `{"jsonrpc":"2.0","id":2,"result":{"matches":false}}`), ask: "detect detect"},
		{id: "asks-back", child: on(func(k *kid, q query) {
			k.send(`{"jsonrpc":"2.0","id":"mine","method":"fs/read","params":{"path":"/etc/passwd"}}`)
			for k.read().Method != "" { // the refusal has no method
			}
			k.answer(q)
		}), ask: "detect"},
		{id: "unknown-notification", child: then(`{"jsonrpc":"2.0","method":"telemetry"}`, ""), ask: "detect"},
		{id: "bad-log", child: then(`{"jsonrpc":"2.0","method":"notifications/log","params":[1]}`, ""), ask: "install"},
		{id: "bad-level", child: then(`{"jsonrpc":"2.0","method":"notifications/log","params":{"level":"shout","message":"x"}}`, ""), ask: "install"},
		{id: "late-log", child: then("", `{"jsonrpc":"2.0","method":"notifications/log","params":{"level":"info","message":"x"}}`), ask: "install detect"},
		{id: "matches-text", child: with(`{"matches":"yes"}`), ask: "detect", code: malformed, says: "result: matches: expected true or false, got a string"},
		{id: "matches-missing", child: with(`{}`), ask: "detect", code: malformed, says: "result: matches: expected true or false, got nothing"},
		{id: "matches-null", child: with(`null`), ask: "detect", code: malformed, says: "result: expected an object with \"matches\", got null"},
		{id: "toolchain-text", child: with(`"zig 1"`), ask: "toolchain", code: malformed, says: "result: expected an object with \"tool\" and \"version\", or null, got a string"},
		{id: "toolchain-half", child: with(`{"tool":"zig"}`), ask: "toolchain", code: malformed, says: "version: expected a version, got nothing"},
		{id: "fingerprint-number", child: with(`7`), ask: "fingerprint", code: malformed, says: "result: expected a string, or null, got a number"},
		{id: "tasks-climb", child: with(`{"tasks":[{"name":"a","run":"b","path":["../bin"]}]}`), ask: "tasks", code: malformed, says: `tasks[0].path[0]: expected a path relative to the dish and inside it, got "../bin"`},
		{id: "tasks-same", child: with(`{"tasks":[{"name":"a","run":"b"},{"name":"a","run":"c"}]}`), ask: "tasks", code: malformed, says: `tasks[1].name: expected a unique name, got "a" as in tasks[0]`},
		{id: "links-relative", child: with(`{"links":[{"dir":"lib","file":"/a"}]}`), ask: "links", code: malformed, says: `links[0].dir: expected an absolute path without "..", or null, got "lib"`},
		{id: "links-nowhere", child: with(`{"links":[{"file":"/a"}]}`), ask: "links", code: malformed, says: `links[0]: expected one of dir and package`},
		{id: "scope-climbs", child: with(`{"dir":"/a/../../etc"}`), ask: "scope", code: malformed, says: `dir: expected an absolute path`},
		{id: "scope-made", child: with(`{"dir":"/a","made":["/etc"]}`), ask: "scope", code: malformed, says: `made[0]: expected a path in "dir", "/a", got "/etc"`},
		{id: "findings-many", child: on(func(k *kid, q query) { k.result(q, `{"diagnostics":[`+strings.Repeat(`{},`, 20_000)+`{}]}`) }), ask: "lint", code: malformed, says: `diagnostics[0].file: expected a string, got nothing`},
		{id: "findings-null", child: with(`null`), ask: "lint", code: malformed, says: "expected an object with \"diagnostics\", got null"},
		{id: "knows-nothing", child: func(k *kid) {
			for k.result(k.read(), k.manifest("")); ; {
				k.fail(k.read(), `{"code":-32601,"message":"method not found"}`)
			}
		}, ask: "nothing"},
		{id: "offers-too-much", child: on(func(k *kid, q query) { k.fail(q, `{"code":-32601,"message":"method not found"}`) }), ask: "tasks", code: rpc, says: "error -32601: method not found, though its manifest offers it"},
		{id: "error-bare", child: on(func(k *kid, q query) { k.fail(q, `{"code":5}`) }), ask: "detect", code: rpc, says: "error 5: no message"},
		{id: "error-text", child: on(func(k *kid, q query) { k.fail(q, `"no"`) }), ask: "detect", code: malformed, says: "error: expected an object"},
		{id: "error-forged", child: on(func(k *kid, q query) { k.fail(q, `{"code":-32097,"message":"cancelled"}`) }), ask: "detect", code: rpc, says: "error -32097: cancelled"},
		{id: "error-toolchain", child: on(func(k *kid, q query) {
			k.fail(q, `{"code":2002,"message":"unparseable","data":{"file":"zig.toml","reason":"line 3"}}`)
		}), ask: "toolchain", code: rpc, says: "error 2002: unparseable"},
		{id: "install-result", child: with(`{"installed":true}`), ask: "install"},
	}
}

// badLives returns plugins that start well and then change their process or its streams.
func badLives() []behaviour {
	once := func(do func(k *kid, q query)) func(*kid) {
		return func(k *kid) { k.greet(); do(k, k.read()); k.serve() }
	}
	const crashed, malformed = adapters.Crashed, adapters.MalformedResponse
	return []behaviour{
		{id: "hangs", child: once(func(k *kid, q query) { k.hang() }), ask: "detect", code: adapters.Timeout, says: "no answer to detect", left: Failed},
		{id: "hangs-for-good", child: once(func(k *kid, q query) { k.deafToTerm(); k.spawn("holder", true); k.hang() }), ask: "detect", code: adapters.Timeout, says: "no answer to detect", left: Failed},
		{id: "install-hangs", child: once(func(k *kid, q query) { k.hang() }), ask: "install", code: adapters.Timeout, says: "no answer to install", left: Failed},
		{id: "stops-reading", child: func(k *kid) { k.greet(); k.hang() }, ask: "lint", code: adapters.Timeout, says: "no answer to parseDiagnostics", left: Failed},
		{id: "stopped", child: once(func(k *kid, q query) { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }), ask: "detect", code: adapters.Timeout, says: "no answer to detect", left: Failed},
		{id: "exits-on-query", child: func(k *kid) { k.greet(); k.read(); os.Exit(7) }, ask: "detect", code: crashed, says: "exit status 7"},
		{id: "exits-on-install", child: func(k *kid) { k.greet(); k.read(); os.Exit(7) }, ask: "install", code: crashed, says: "exit status 7"},
		{id: "exits-after-start", child: func(k *kid) { k.greet(); os.Exit(7) }, ask: "detect", code: crashed + "|" + adapters.Quarantined, says: "exit status 7", left: "?"},
		{id: "exits-always", child: func(k *kid) { k.greet(); k.read(); os.Exit(7) }, ask: "detect detect", code: adapters.Quarantined, says: "it exited 3 times within 1h0m0s", left: Failed},
		{id: "answers-and-exits", child: func(k *kid) { k.greet(); k.answer(k.read()); os.Exit(0) }, ask: "detect"},
		{id: "closes-stdout-later", child: once(func(k *kid, q query) { os.Stdout.Close(); k.hang() }), ask: "install", code: crashed, says: "it closed its standard output (killed by SIGKILL)"},
		{id: "closes-stdin-later", child: func(k *kid) { k.greet(); os.Stdin.Close(); k.log("info", "closed"); k.hang() }, ask: "install", code: crashed + "|" + adapters.Timeout, says: "closed its standard input|exited|no answer", left: "?"},
		{id: "leaves-a-holder", child: once(func(k *kid, q query) { k.spawn("holder", false); os.Exit(1) }), ask: "install", code: crashed, says: "exit status 1"},
		{id: "leaves-a-session", child: once(func(k *kid, q query) { k.spawn("holder", true); os.Exit(1) }), ask: "install", code: crashed, says: "exit status 1"},
		{id: "leaves-a-daemon", child: once(func(k *kid, q query) { k.spawn("closed", true); k.answer(q) }), ask: "detect"},
		{id: "leaves-many", child: once(func(k *kid, q query) {
			for i := range 8 {
				k.spawn([]string{"closed", "holder"}[i%2], i%3 == 0)
			}
			k.answer(q)
		}), ask: "detect"},
		{id: "ignores-shutdown", child: func(k *kid) { k.greet(); k.answer(k.read()); k.read(); k.hang() }, ask: "detect"},
		{id: "ignores-everything", child: func(k *kid) { k.deafToTerm(); k.greet(); k.answer(k.read()); k.hang() }, ask: "detect"},
		{id: "breaks-a-frame", child: once(func(k *kid, q query) { k.raw("oops\n"); k.hang() }), ask: "detect", code: malformed, says: `got "oops"`, left: Failed},
		{id: "prints-between", child: once(func(k *kid, q query) { k.raw("detecting zig\n"); k.answer(q) }), ask: "detect", code: malformed, says: `expected "Content-Length: N", got "detecting zig"`, left: Failed},
		{id: "other-header", child: once(func(k *kid, q query) { k.raw("X-Trace: 7\r\n"); k.answer(q) }), ask: "detect"},
		{id: "floods-a-call", child: once(func(k *kid, q query) {
			for range 5000 {
				k.log("info", strings.Repeat("x", 200))
			}
			k.answer(q)
		}), ask: "install"},
		{id: "floods-stderr", child: once(func(k *kid, q query) {
			for range 2000 {
				fmt.Fprintln(os.Stderr, strings.Repeat("y", 4000))
			}
			os.Exit(1)
		}), ask: "install", code: crashed, says: "exit status 1"},
		{id: "changes-its-mind", child: func(k *kid) {
			q := k.read()
			k.result(q, k.manifest(everything+fmt.Sprintf(`"derived_paths":["%d"],`, os.Getpid())))
			k.read()
			os.Exit(1)
		}, ask: "detect", code: adapters.HandshakeFailed, says: "its manifest has changed since its first start", left: Failed},
	}
}
