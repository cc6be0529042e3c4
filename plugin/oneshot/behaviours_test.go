package oneshot

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/adapters"
)

// Behaviour is a tool of the tests with its expected result.
type Behaviour struct {
	ID     string
	do     func(*kid)
	code   adapters.Code // of the failure, "" for none
	says   string        // part of the message, or of the output
	Clause string        // of docs/TOOL-PROTOCOL.md, which the suite must name; "" for none

	Short    bool // it misses a deadline
	Granted  []string
	trailing int64 // at least, after the response
	large    bool  // its input is a string of 4 MiB, in place of {"paths":[]}
}

// Behaviours returns all behaviours, in the order of the exchange.
func Behaviours() []Behaviour {
	var all []Behaviour
	for _, part := range [][]Behaviour{starts(), handshakes(), identities(), capabilities(), responses(), ends(), oddities(), narrowOnes()} {
		all = append(all, part...)
	}
	return all
}

// first writes a text in place of the answer to the handshake, and hangs.
func first(text string) func(*kid) {
	return func(k *kid) { k.read(); k.raw(text); hang() }
}

// second writes a text in place of the response.
func second(text string) func(*kid) {
	return func(k *kid) { k.greet(); k.raw(text); hang() }
}

// with sets a member of the manifest; nil removes it.
func with(name string, value any) func(*kid) {
	return func(k *kid) {
		if k.manifest[name] = value; value == nil {
			delete(k.manifest, name)
		}
	}
}

func starts() []Behaviour {
	return []Behaviour{
		{ID: "good", do: (*kid).serve, says: `{"bytes":12}`},
		{ID: "silent", do: func(*kid) { hang() }, code: adapters.Timeout, says: "without the answer to the handshake", Clause: "O3.1", Short: true},
		{ID: "exits-at-once", do: func(*kid) { leave(3) }, code: adapters.Crashed, says: "exit status 3", Clause: "O3.1"},
		{ID: "exits-well-at-once", do: func(*kid) { leave(0) }, code: adapters.Crashed, says: "exit status 0", Clause: "O3.1"},
		{ID: "killed-at-once", do: func(*kid) { die() }, code: adapters.Crashed, says: "killed by SIGKILL", Clause: "O3.1"},
		{ID: "exits-on-handshake", do: func(k *kid) { k.read(); leave(4) }, code: adapters.Crashed, says: "exit status 4", Clause: "O3.1"},
		{ID: "closes-stdout", do: func(k *kid) { k.read(); os.Stdout.Close(); hang() }, code: adapters.Crashed, says: "closed its standard output", Clause: "O3.1", Short: true},
		{ID: "closes-stdin", do: func(*kid) { os.Stdin.Close(); hang() }, code: "crashed|timeout", Clause: "O3.1", Short: true},
		{ID: "deaf-to-term", do: func(*kid) { signal.Ignore(syscall.SIGTERM); hang() }, code: adapters.Timeout, Clause: "O3.1", Short: true},
		{ID: "stops-itself", do: func(*kid) { syscall.Kill(os.Getpid(), syscall.SIGSTOP); hang() }, code: adapters.Timeout, Clause: "O3.1", Short: true},
	}
}

func handshakes() []Behaviour {
	malformed := func(id, text, says, clause string) Behaviour {
		return Behaviour{ID: id, do: first(text), code: adapters.MalformedResponse, says: says, Clause: clause}
	}
	return []Behaviour{
		malformed("banner-first", "loading\n", "not a JSON object", "O2.1"),
		malformed("blank-first", "\n", "a blank line", "O2.1"),
		malformed("spaces-first", " \r\n", "a blank line", "O2.1"),
		malformed("not-json", "{'type':1}\n", "not one JSON object", "O2.1"),
		malformed("array", "[1]\n", "not a JSON object", "O2.1"),
		malformed("number", "7\n", "not a JSON object", "O2.1"),
		malformed("two-values", `{"type":"handshake"} {"a":1}`+"\n", "not one JSON object", "O2.1"),
		malformed("byte-order-mark", "\ufeff{}\n", "byte order mark", "O2.3"),
		malformed("not-utf8", "{\"type\":\"\xff\"}\n", "not UTF-8", "O2.3"),
		malformed("nul", "{\"type\":\"\x00\"}\n", "NUL", "O2.3"),
		malformed("too-long", strings.Repeat(" ", 10)+"{"+strings.Repeat("x", maxLine+100), "more than 1048576 bytes", "O2.1"),
		{ID: "half-a-line", do: func(k *kid) { k.read(); k.raw(`{"type":"hand`); leave(0) }, code: adapters.MalformedResponse, says: "not one JSON object", Clause: "O2.1"},
		{ID: "half-and-hangs", do: first(`{"type":"hand`), code: adapters.Timeout, says: "timed out", Clause: "O3.1", Short: true},
		{ID: "crash-in-words", do: func(k *kid) { fmt.Fprintln(os.Stderr, "no module named x"); leave(1) }, code: adapters.Crashed, says: "exit status 1", Clause: "O3.1"},
		{ID: "wrong-type", do: first(`{"type":"response","manifest":{}}` + "\n"), code: adapters.HandshakeFailed, says: `type "response"`, Clause: "O3.2"},
		{ID: "no-manifest", do: first(`{"type":"handshake"}` + "\n"), code: adapters.ProtocolVersionMismatch, says: `protocol_version ""`, Clause: "O3.2"},
		{ID: "empty-manifest", do: first(`{"type":"handshake","manifest":{}}` + "\n"), code: adapters.ProtocolVersionMismatch, says: `protocol_version ""`, Clause: "O3.3"},
		{ID: "manifest-list", do: first(`{"type":"handshake","manifest":[]}` + "\n"), code: adapters.MalformedResponse, says: "want an object", Clause: "O3.2"},
	}
}

func identities() []Behaviour {
	refused := func(id, name string, value any, says string) Behaviour {
		return Behaviour{ID: id, do: with(name, value), code: adapters.HandshakeFailed, says: says, Clause: "O3.4"}
	}
	list := []Behaviour{
		refused("no-id", "plugin_id", nil, "no plugin_id"),
		refused("blank-id", "plugin_id", " ", "no plugin_id"),
		refused("other-id", "plugin_id", "acme.other", `plugin_id "acme.other", want "other-id"`),
		refused("no-version", "plugin_version", nil, "no plugin_version"),
		{ID: "number-id", do: with("plugin_id", 7), code: adapters.MalformedResponse, says: `"plugin_id" is 7, want a string`, Clause: "O3.2"},
		{ID: "no-functions", do: with("exposed_tools", []string{}), code: adapters.HandshakeFailed, says: "no exposed_tools", Clause: "O3.5"},
		{ID: "functions-text", do: with("exposed_tools", "check"), code: adapters.MalformedResponse, says: "want an array of strings", Clause: "O3.2"},
		{ID: "other-functions", do: with("exposed_tools", []string{"Check", "check "}), code: adapters.ToolNotExposed, says: `no function "check", only "Check", "check "`, Clause: "O3.5"},
		{ID: "next-version", do: with("protocol_version", "rterm.plugin.v2"), code: adapters.ProtocolVersionMismatch, says: `"rterm.plugin.v2", want "rterm.plugin.v1"`, Clause: "O3.3"},
		{ID: "number-version", do: with("protocol_version", 1), code: adapters.MalformedResponse, says: "want a string", Clause: "O3.2"},
		{ID: "padded-version", do: with("protocol_version", " rterm.plugin.v1 "), says: `{"bytes":12}`},
	}
	return list
}

func capabilities() []Behaviour {
	declares := func(id string, declared any, code adapters.Code, says string) Behaviour {
		b := Behaviour{ID: id, do: with("capabilities", declared), code: code, says: says, Granted: []string{"fs.read", "fs.write"}}
		if b.Clause = "O3.6"; code == "" {
			b.Clause = ""
		}
		return b
	}
	ungranted := declares("none-granted", []string{"fs.read"}, adapters.CapabilityNotAllowed, "granted: none")
	ungranted.Granted, ungranted.Clause = nil, ""
	return []Behaviour{
		ungranted,
		declares("subset", []string{"fs.write"}, "", `{"bytes":12}`),
		declares("undeclared", nil, adapters.CapabilityNotDeclared, "no capabilities"),
		declares("capabilities-empty", []string{}, adapters.CapabilityNotDeclared, "no capabilities"),
		declares("capability-empty", []string{""}, adapters.CapabilityNotDeclared, `capability ""`),
		declares("capability-padded", []string{"fs.read "}, adapters.CapabilityNotDeclared, "white space"),
		declares("capability-twice", []string{"fs.read", "fs.read"}, adapters.CapabilityNotDeclared, "twice"),
		declares("capability-foreign", []string{"fs.read", "net"}, adapters.CapabilityNotAllowed, `"net", which is not granted`),
		{ID: "capability-number", do: with("capabilities", []int{1}), code: adapters.MalformedResponse, says: "want a string", Clause: "O3.2"},
	}
}

func responses() []Behaviour {
	malformed := func(id, text, says, clause string) Behaviour {
		return Behaviour{ID: id, code: adapters.MalformedResponse, says: says, Clause: clause, do: func(k *kid) {
			c := k.greet()
			k.raw(strings.ReplaceAll(text, "ID", encoded(c.ID)) + "\n")
			leave(0)
		}}
	}
	return []Behaviour{
		malformed("prints-between", "checking 3 files", "not a JSON object", "O2.1"),
		malformed("response-blank", "", "a blank line", "O2.1"),
		malformed("response-type", `{"type":"result","request_id":ID,"status":"ok"}`, `type "result"`, "O4.1"),
		malformed("response-depth", `{"type":"response","request_id":ID,"status":"ok","output":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)+"}", "not one JSON object", "O2.1"),
		malformed("other-request", `{"type":"response","request_id":"plugin_req_0","status":"ok"}`, `request_id "plugin_req_0"`, "O4.2"),
		malformed("no-request", `{"type":"response","status":"ok"}`, `request_id ""`, "O4.2"),
		malformed("number-request", `{"type":"response","request_id":1,"status":"ok"}`, `"request_id" is 1`, "O4.2"),
		malformed("ok-and-error", `{"type":"response","request_id":ID,"status":"ok","error":{}}`, "and an error", "O4.3"),
		malformed("error-without", `{"type":"response","request_id":ID,"status":"error"}`, "no error with a message", "O4.3"),
		malformed("error-blank", `{"type":"response","request_id":ID,"status":"error","error":{"code":"x","message":" "}}`, "no error with a message", "O4.3"),
		malformed("error-text", `{"type":"response","request_id":ID,"status":"error","error":"bad"}`, "a JSON string, want an object", "O4.3"),
		malformed("error-number", `{"type":"response","request_id":ID,"status":"error","error":{"message":5}}`, "want a string", "O4.3"),
		malformed("status-other", `{"type":"response","request_id":ID,"status":"OK"}`, `status "OK"`, "O4.3"),
		malformed("status-none", `{"type":"response","request_id":ID}`, `status ""`, "O4.3"),
		malformed("status-true", `{"type":"response","request_id":ID,"status":true}`, `"status" is true`, "O4.3"),
		{ID: "response-early", do: func(k *kid) {
			k.say(k.introduction())
			k.raw(`{"type":"response","request_id":"plugin_req_0","status":"ok"}` + "\n")
			hang()
		}, code: adapters.MalformedResponse, says: "request_id", Clause: "O4.2"},
		{ID: "dies-on-request", do: func(k *kid) { k.greet(); leave(5) }, code: adapters.Crashed, says: "exit status 5", Clause: "O4.1"},
		{ID: "dies-after-handshake", do: func(k *kid) { k.read(); k.say(k.introduction()); leave(6) }, code: adapters.Crashed, says: "exit status 6", Clause: "O4.1"},
		{ID: "closes-stdout-later", do: func(k *kid) { k.greet(); os.Stdout.Close(); hang() }, code: adapters.Crashed, says: "closed its standard output", Clause: "O4.1", Short: true},
		{ID: "hangs-on-request", do: func(k *kid) { k.greet(); hang() }, code: adapters.Timeout, says: "timed out", Clause: "O4.1", Short: true},
		{ID: "response-half", do: second(`{"type":"resp`), code: adapters.Timeout, says: "timed out", Clause: "O4.1", Short: true},
		{ID: "stops-reading", do: func(k *kid) { k.read(); k.say(k.introduction()); hang() }, code: adapters.Timeout, Clause: "O4.1", Short: true, large: true},
		{ID: "answers-unread", do: func(k *kid) {
			k.read()
			k.say(k.introduction())
			head, _ := k.in.Peek(200)
			_, after, _ := strings.Cut(string(head), `"request_id":"`)
			id, _, _ := strings.Cut(after, `"`)
			k.ok(call{ID: id}, "1")
			leave(0)
		}, says: "1", large: true},
	}
}

func ends() []Behaviour {
	after := func(do func(*kid)) func(*kid) { return func(k *kid) { k.serve(); do(k) } }
	return []Behaviour{
		{ID: "exit-status", do: after(func(*kid) { leave(1) }), code: adapters.Crashed, says: "exit status 1, want exit status 0", Clause: "O5.2"},
		{ID: "killed-at-end", do: after(func(*kid) { die() }), code: adapters.Crashed, says: "killed by SIGKILL", Clause: "O5.2"},
		{ID: "lingers", do: after(func(*kid) { hang() }), code: adapters.Crashed, Clause: "O5.1", Short: true},
		{ID: "lingers-deaf", do: func(k *kid) { signal.Ignore(syscall.SIGTERM); k.serve(); hang() }, code: adapters.Crashed, Clause: "O5.1", Short: true},
		{ID: "answers-twice", do: func(k *kid) { c := k.greet(); k.answer(c); k.answer(c); leave(0) }, says: `{"bytes":12}`, Clause: "O2.2", trailing: 50},
		{ID: "prints-last", do: after(func(k *kid) { k.raw("done"); leave(0) }), says: `{"bytes":12}`, Clause: "O2.2", trailing: 4},
		{ID: "floods-last", do: after(func(k *kid) { k.raw(strings.Repeat(strings.Repeat("done", 256)+"\n", 5<<10)); leave(0) }), says: `{"bytes":12}`, Clause: "O2.2", trailing: 5 << 20},
		{ID: "leaves-a-holder", do: func(k *kid) { k.spawn("grand-holder", false) }, says: `{"bytes":12}`, Clause: "O5.6"},
		{ID: "leaves-a-session", do: func(k *kid) { k.spawn("grand-holder", true) }, says: `{"bytes":12}`, Clause: "O5.6"},
		{ID: "leaves-one-closed", do: func(k *kid) { k.spawn("grand-closed", false) }, says: `{"bytes":12}`, Clause: "O5.6"},
		{ID: "leaves-and-dies", do: func(k *kid) { k.spawn("grand-holder", true); leave(7) }, code: adapters.Crashed, says: "exit status 7", Clause: "O3.1"},
		{ID: "error-status", do: func(k *kid) { k.fail(k.greet(), "invalid_input", "paths must not be empty"); leave(9) }, code: "error invalid_input", says: "paths must not be empty", Clause: "O5.3"},
		{ID: "error-hangs", do: func(k *kid) { k.fail(k.greet(), "not_found", "no such file"); hang() }, code: "error not_found", says: "no such file", Clause: "O5.3"},
		{ID: "error-uncoded", do: func(k *kid) { k.fail(k.greet(), "", "it broke\x1b[31m") }, code: "error ", says: "it broke[31m", Clause: "O4.8"},
	}
}

// oddities returns unusual behaviours that the host accepts.
func oddities() []Behaviour {
	return []Behaviour{
		{ID: "crlf", do: func(k *kid) { k.eol = "\r\n" }, says: `{"bytes":12}`, Clause: "O2.4"},
		{ID: "padded", do: func(k *kid) { k.eol = " \t\n"; k.raw(" \t") }, says: `{"bytes":12}`, Clause: "O2.4"},
		{ID: "no-last-newline", do: func(k *kid) { c := k.greet(); k.eol = " "; k.answer(c); leave(0) }, says: `{"bytes":12}`, Clause: "O2.4"},
		{ID: "byte-by-byte", do: func(k *kid) {
			k.read()
			for _, b := range []byte(k.introduction() + "\n") {
				os.Stdout.Write([]byte{b})
			}
			k.answer(k.read())
		}, says: `{"bytes":12}`},
		{ID: "exactly-long", do: func(k *kid) {
			c := k.greet()
			text := fmt.Sprintf(`{"type":"response","request_id":%q,"status":"ok","output":""}`, c.ID)
			k.raw("  " + strings.Replace(text, `""`, `"`+strings.Repeat("x", maxLine-len(text))+`"`, 1) + "\r\n")
		}, says: "xxxx", Clause: "O2.4"},
		{ID: "a-byte-too-long", do: func(k *kid) {
			c := k.greet()
			text := fmt.Sprintf(`{"type":"response","request_id":%q,"status":"ok","output":""}`, c.ID)
			k.say(strings.Replace(text, `""`, `"`+strings.Repeat("x", maxLine-len(text)+1)+`"`, 1))
		}, code: adapters.MalformedResponse, says: "more than 1048576 bytes", Clause: "O2.1"},
		{ID: "equal-keys", do: func(k *kid) {
			c := k.greet()
			k.say(fmt.Sprintf(`{"type":"x","type":"response","request_id":"y","request_id":%q,"status":"error","status":"ok","output":1,"output":2,"error":{},"error":null}`, c.ID))
		}, says: "2"},
		{ID: "unknown-members", do: func(k *kid) {
			k.manifest["homepage"] = "x"
			k.ok(k.greet(), `3,"metadata":{"a":1},"took":5`)
		}, says: "3", Clause: "O3.8"},
		{ID: "unknown-answers", do: func(k *kid) { k.ok(k.greet(), `3,"took":5`) }, says: "3", Clause: "O4.9"},
		{ID: "other-case", do: func(k *kid) {
			c := k.greet()
			k.say(fmt.Sprintf(`{"Type":"response","REQUEST_ID":%q,"Status":"ok","output":4}`, c.ID))
		}, says: "4", Clause: "O4.9"},
		{ID: "no-output", do: func(k *kid) {
			k.say(fmt.Sprintf(`{"type":"response","request_id":%q,"status":"ok"}`, k.greet().ID))
		}, says: "{}"},
		{ID: "null-output", do: func(k *kid) { k.ok(k.greet(), "null") }, says: "{}"},
		{ID: "floods-stderr", do: func(k *kid) {
			c := k.greet()
			os.Stderr.WriteString(strings.Repeat("warning: something\n", 1<<18))
			k.answer(c)
		}, says: `{"bytes":12}`},
	}
}

// narrowOnes returns tools that answer the one call of the tests well, but break another clause of the
// contract.
func narrowOnes() []Behaviour {
	if_ := func(id, clause string, is func(c call) bool, do func(k *kid, c call)) Behaviour {
		return Behaviour{ID: id, Clause: clause, says: `{"bytes":12}`, do: func(k *kid) {
			hello := k.read()
			if is(hello) {
				do(k, hello)
			}
			k.say(k.introduction())
			if c := k.read(); is(c) {
				do(k, c)
			} else {
				k.answer(c)
			}
			leave(0)
		}}
	}
	dies := func(*kid, call) { leave(9) }
	return []Behaviour{
		if_("small-buffer", "O2.5", func(c call) bool { return len(c.text) > 1<<16 }, dies),
		{ID: "no-pieces", Clause: "O2.6", says: `{"bytes":12}`, do: func(k *kid) { k.in = bufio.NewReader(oneRead{}) }},
		if_("strict-members", "O3.10", func(c call) bool { return strings.Contains(c.text, "bento_future") }, dies),
		if_("any-version", "O3.9", func(c call) bool { return c.Version != "" }, func(k *kid, c call) { k.manifest["protocol_version"] = c.Version }),
		if_("any-function", "O4.4", func(c call) bool { return c.Type == "request" && c.Function != "check" }, func(k *kid, c call) { k.ok(c, "{}") }),
		if_("dies-of-functions", "O4.4", func(c call) bool { return c.Type == "request" && c.Function != "check" }, dies),
		if_("needs-a-path", "O4.5", func(c call) bool { return string(c.Input) == "{}" }, dies),
		if_("needs-an-object", "O4.6", func(c call) bool { return c.Type == "request" && !strings.HasPrefix(string(c.Input), "{") }, dies),
		if_("needs-a-root", "O4.7", func(c call) bool { return c.Type == "request" && c.Context["repo_root"] == nil }, dies),
		{ID: "no-two-alike", Clause: "O4.10", says: "{", do: func(k *kid) { k.ok(k.greet(), fmt.Sprintf(`{"pid":%d}`, os.Getpid())) }},
		{ID: "changes-its-mind", Clause: "O3.7", says: `{"bytes":12}`, do: func(k *kid) { k.manifest["plugin_version"] = fmt.Sprint(os.Getpid()) }},
		{ID: "outlives-its-input", Clause: "O5.4", says: `{"bytes":12}`, do: func(k *kid) {
			k.read()
			k.say(k.introduction())
			if _, err := k.in.Peek(1); err != nil {
				hang()
			}
			k.answer(k.read())
		}},
		{ID: "waits-for-ever", Clause: "O5.5", says: `{"bytes":12}`, do: func(k *kid) {
			if _, err := k.in.Peek(1); err != nil {
				hang()
			}
		}},
	}
}

// oneRead takes the bytes of one read for a whole line.
type oneRead struct{}

func (oneRead) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p)
	if err == nil && p[n-1] != '\n' && n < 4096 {
		leave(9)
	}
	return n, err
}

var _ io.Reader = oneRead{}

// Good reports whether the host accepts the behaviour.
func (b *Behaviour) Good() bool { return b.code == "" }
