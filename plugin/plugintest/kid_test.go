package plugintest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/internal/testrun"
)

// forks is the thread that forks all children: it lives as long as this process.
var forks = goleak.IgnoreTopFunction("github.com/bentobuild/bento/internal/proc.(*family).adopt.func1")

// TestMain makes the test binary a plugin too: run by the name bento-adapter-<id> it does what the kid of
// that id does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "sep:") {
		sepKid(strings.TrimPrefix(os.Args[1], "sep:"))
	}
	id, isPlugin := strings.CutPrefix(filepath.Base(os.Args[0]), "bento-adapter-")
	if name := os.Getenv("AINB_KID"); name != "" {
		serveAinb(name)
		return
	}
	if !isPlugin {
		goleak.VerifyTestMain(testrun.InMemory(testrun.Kids(m)), forks)
		return
	}
	k := &kid{id: id, in: bufio.NewReader(os.Stdin), manifest: everything, header: "Content-Length: %d\r\n\r\n%s"}
	for _, b := range kids() {
		if b.id == id && b.change != nil {
			b.change(k)
		}
	}
	k.serve()
}

// kid is a good plugin, apart from the changes of a test.
type kid struct {
	id       string
	in       *bufio.Reader
	manifest string // with %q for the id
	header   string // of the frames that it writes
	// before receives every request first. It returns true if it has handled the request.
	before func(k *kid, q question) bool
	atEOF  func()
}

type question struct {
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	size    int
	headers int
	lf      bool
}

const everything = `{"protocol_version":1,"adapter_id":%q,"display_name":"kid","fingerprint_files":["kid.toml"],"default_tasks":[{"name":"build","run":"true"}],` +
	`"capabilities":{"detect":true,"required_toolchain":true,"resolved_toolchain_fingerprint":true,"install":true,"tasks":true,"links":true,"install_scope":true,"add":true,"resolved_toolchain":true,"cancel":true,"options":true,"scaffold":true},"options_schema":{"type":"object","properties":{"size":{"type":"string"}}},"env":["KID_*"],"pass_env":["KID"],"parallel":4,"nested":false,"exec":["kid","--version"],` +
	`"diagnostic_hooks":{"lint":{"rerun":{"kind":"append_args","args":["--json"]},"parser":"plugin"}}}`

func (k *kid) serve() {
	for {
		q, ok := k.read()
		switch {
		case !ok && k.atEOF != nil:
			k.atEOF()
		case !ok:
			leave()
		case k.before != nil && k.before(k, q):
		case q.ID != nil:
			k.answer(q)
		}
	}
}

// read returns the next request; ok is false at the end of the stream.
func (k *kid) read() (q question, ok bool) {
	length := 0
	for {
		line, err := k.in.ReadString('\n')
		if err != nil {
			return q, false
		}
		q.lf = q.lf || !strings.HasSuffix(line, "\r\n")
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "" {
			break
		}
		q.headers++
		if strings.EqualFold(name, "content-length") {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(k.in, body); err != nil {
		return q, false
	}
	if err := json.Unmarshal(body, &q); err != nil {
		panic(err)
	}
	q.size = length
	return q, true
}

func (k *kid) send(body string) { fmt.Printf(k.header, len(body), body) }

func (k *kid) result(q question, result string) {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result))
}

func (k *kid) fail(q question, failure string) {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, q.ID, failure))
}

func (k *kid) log(params string) {
	k.send(`{"jsonrpc":"2.0","method":"notifications/log","params":` + params + `}`)
}

func (k *kid) answer(q question) {
	var p struct{ Dir any }
	switch q.Method {
	case "initialize":
		k.result(q, fmt.Sprintf(k.manifest, k.id))
	case "detect":
		_ = json.Unmarshal(q.Params, &p)
		if _, ok := p.Dir.(string); !ok {
			k.fail(q, `{"code":-32602,"message":"dir is no string"}`)
			return
		}
		k.result(q, `{"matches":false}`)
	case "requiredToolchain", "resolvedToolchainFingerprint", "resolvedToolchain":
		k.result(q, "null")
	case "install", "add":
		k.log(`{"level":"info","message":"x"}`)
		k.result(q, "null")
	case "parseDiagnostics":
		k.result(q, `{"diagnostics":[{"file":"a.zig","line":1,"severity":"error","message":"m","source":"zig"}]}`)
	case "tasks":
		k.result(q, `{"tasks":[{"name":"build","run":"true"}]}`)
	case "links":
		k.result(q, `{"links":[]}`)
	case "install_scope":
		k.result(q, `{"dir":"/tmp"}`)
	case "scaffold":
		k.result(q, `{"files":[{"path":"kid.toml","text":""}]}`)
	case "shutdown":
		k.result(q, "null")
		leave()
	default:
		k.fail(q, `{"code":-32601,"message":"method not found"}`)
	}
}

// bad is a kid with the clauses that it must fail.
type bad struct {
	id     string
	change func(*kid)
	fails  string
}

// on replaces the handling of requests of one method; "" means all methods.
func on(method string, do func(k *kid, q question)) func(*kid) {
	return func(k *kid) {
		k.before = func(k *kid, q question) bool {
			if method != "" && q.Method != method {
				return false
			}
			do(k, q)
			return true
		}
	}
}

// where replaces the handling of requests for which is returns true.
func where(is func(q question) bool, do func(k *kid, q question)) func(*kid) {
	return func(k *kid) {
		k.before = func(k *kid, q question) bool {
			if !is(q) {
				return false
			}
			do(k, q)
			return true
		}
	}
}

func says(method, result string) func(*kid) {
	return on(method, func(k *kid, q question) { k.result(q, result) })
}

// inProject replaces the result for directories that are not empty.
func inProject(method, result string) func(*kid) {
	return where(func(q question) bool {
		var p struct{ Dir string }
		return q.Method == method && json.Unmarshal(q.Params, &p) == nil && exists(filepath.Join(p.Dir, "kid.toml"))
	}, func(k *kid, q question) { k.result(q, result) })
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// with replaces a part of the manifest.
func with(old, new string) func(*kid) {
	return func(k *kid) { k.manifest = strings.Replace(k.manifest, old, new, 1) }
}

func die(*kid, question) { os.Exit(9) }

func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// kids returns the kids in the order of the clauses that they fail.
func kids() []bad {
	return append(append(badFrames(), badMessages()...), append(badLives(), badAnswers()...)...)
}

func badFrames() []bad {
	return []bad{
		{"good", nil, ""},
		{"prints-first", func(k *kid) { fmt.Println("loading"); hang() }, "2.1 4.1"},
		{"prints-between", on("install", func(k *kid, q question) { fmt.Println("fetching"); k.answer(q) }), "2.1 7.1 7.2 7.3"},
		{"half-a-body", on("tasks", func(k *kid, q question) { fmt.Print("Content-Length: 100\r\n\r\n{"); os.Exit(0) }), "2.1 9.1"},
		{"not-json", on("tasks", func(k *kid, q question) { k.send("{'a':1}") }), "2.1 9.1"},
		{"writes-lf", func(k *kid) { k.header = "Content-Length: %d\n\n%s" }, "2.2"},
		{"no-pieces", func(k *kid) { k.in = bufio.NewReader(oneRead{}) }, "2.3"},
		{"drops-the-second", func(k *kid) {
			k.before = func(k *kid, q question) bool { k.in.Discard(k.in.Buffered()); return false }
		}, "2.4 9.7"},
		{"only-crlf", where(func(q question) bool { return q.lf }, die), "2.5"},
		{"only-length", where(func(q question) bool { return q.headers > 1 }, die), "2.5"},
		{"counts-characters", where(func(q question) bool { return strings.Contains(string(q.Params), "弁") },
			func(k *kid, q question) { io.CopyN(io.Discard, k.in, 1); die(k, q) }), "2.6"},
		{"small-buffer", where(func(q question) bool { return q.size > 1<<16 }, die), "2.7"},
	}
}

// oneRead takes the bytes of one read for a whole frame.
type oneRead struct{}

func (oneRead) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p)
	if err == nil && p[n-1] != '}' {
		os.Exit(9)
	}
	return n, err
}

func badMessages() []bad {
	again := func(k *kid, q question) { k.answer(q); k.answer(q) }
	return []bad{
		{"string-id", on("detect", func(k *kid, q question) {
			k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":{"matches":false}}`, q.ID))
		}), "3.1 6.1"},
		{"no-version", on("tasks", func(k *kid, q question) { k.send(fmt.Sprintf(`{"id":%s,"result":{"tasks":[]}}`, q.ID)) }), "3.1 9.1"},
		{"answers-twice", on("detect", again), "3.2"},
		{"toolchain-twice", on("requiredToolchain", again), "3.2"},
		{"fingerprint-twice", on("resolvedToolchainFingerprint", again), "3.2"},
		{"findings-twice", on("parseDiagnostics", again), "3.2"},
		{"tasks-twice", on("tasks", again), "3.2"},
		{"links-twice", on("links", again), "3.2"},
		{"scope-twice", on("install_scope", again), "3.2"},
		{"add-twice", on("add", again), "3.2"},
		{"knows-everything", where(func(q question) bool { return strings.HasPrefix(q.Method, "bento/") && q.ID != nil },
			func(k *kid, q question) { k.result(q, "{}") }), "3.3"},
		{"dies-of-the-unknown", where(func(q question) bool { return strings.HasPrefix(q.Method, "bento/") && q.ID != nil }, die), "3.3"},
		{"dies-of-notifications", where(func(q question) bool { return q.ID == nil }, die), "3.4"},
		{"answers-cancel", where(func(q question) bool {
			return q.Method == "$/cancel" && strings.Contains(string(q.Params), "1099511627776")
		},
			func(k *kid, q question) { k.send(`{"jsonrpc":"2.0","id":1099511627776,"result":null}`) }), "3.4"},
		{"strict-members", where(func(q question) bool { return strings.Contains(string(q.Params), "future") },
			func(k *kid, q question) { k.fail(q, `{"code":-32602,"message":"unknown member"}`) }), "3.5"},
		{"dies-of-params", where(func(q question) bool { return q.Method == "detect" && !strings.Contains(string(q.Params), `"dir":"`) }, die), "3.6"},
		{"asks-back", on("install", func(k *kid, q question) { k.send(`{"jsonrpc":"2.0","id":"mine","method":"fs/read"}`); k.answer(q) }), "3.7"},
		{"telemetry", on("install", func(k *kid, q question) { k.send(`{"jsonrpc":"2.0","method":"telemetry"}`); k.answer(q) }), "3.8"},
		{"odd-level", on("install", func(k *kid, q question) { k.log(`{"level":"shout","message":"x"}`); k.answer(q) }), "3.8"},
	}
}

func badLives() []bad {
	return []bad{
		{"silent", func(k *kid) { hang() }, "4.1"},
		{"exits-at-once", func(k *kid) { os.Exit(3) }, "4.1"},
		{"shutdown-unknown", on("shutdown", func(k *kid, q question) { k.fail(q, `{"code":-32601,"message":"m"}`) }), "4.2"},
		{"shutdown-result", on("shutdown", func(k *kid, q question) { k.result(q, "true"); os.Exit(0) }), "4.2"},
		{"prints-last", on("shutdown", func(k *kid, q question) { k.result(q, "null"); fmt.Fprintln(os.Stdout, "bye"); leave() }), "2.1"},
		{"prints-last-half", on("shutdown", func(k *kid, q question) { k.result(q, "null"); fmt.Fprint(os.Stdout, "bye"); leave() }), "2.1"},
		{"stays", on("shutdown", func(k *kid, q question) { k.result(q, "null") }), "4.3"},
		{"exit-status", on("shutdown", func(k *kid, q question) { k.result(q, "null"); os.Exit(1) }), "4.4"},
		{"outlives-stdin", func(k *kid) { k.atEOF = hang }, "4.5"},
		{"deaf-to-term", func(k *kid) { signal.Ignore(syscall.SIGTERM) }, "4.6"},
		{"wrong-version", with(`"protocol_version":1`, `"protocol_version":2`), "5.1"},
		{"wrong-id", with("%q", `"other%.0s"`), "5.2"},
		{"no-tasks", with(`"default_tasks"`, `"recipes"`), "5.3"},
		{"nested-text", with(`"nested":false`, `"nested":"no"`), "5.3"},
		{"odd-hook", with(`"parser":"plugin"`, `"parser":"own"`), "5.4"},
		{"misspelt-hook", with(`"lint":{"rerun"`, `"biuld":{"rerun"`), "5.4"},
		{"derived-marker", with(`"nested":false`, `"nested":false,"derived_paths":["kid.*"]`), "5.4"},
		{"no-versions", with(`"protocol_version":1,`, `"protocol_version":1,"protocol_versions":[],`), "5.1"},
		{"unknown-capability", with(`"capabilities":{`, `"capabilities":{"instal":true,`), "5.12"},
		{"unknown-member", says("tasks", `{"tasks":[{"name":"a","run":"b","output":["c"]}]}`), "5.12"},
		{"changes-its-mind", func(k *kid) { with(`"kid"`, fmt.Sprintf(`"kid %d"`, os.Getpid()))(k) }, "5.5"},
	}
}

func badAnswers() []bad {
	return []bad{
		{"detect-text", says("detect", `{"matches":"no"}`), "6.1"},
		{"detects-all", says("detect", `{"matches":true}`), "6.2"},
		{"detect-dies", where(func(q question) bool { return strings.Contains(string(q.Params), "absent") }, die), "6.3"},
		{"toolchain-half", says("requiredToolchain", `{"tool":"zig"}`), "6.4"},
		{"fingerprint-number", says("resolvedToolchainFingerprint", `7`), "6.5"},
		{"resolved-half", says("resolvedToolchain", `{"version":"1"}`), "6.8"},
		{"version-grammar", says("requiredToolchain", `{"tool":"zig","version":"at least 3"}`), "6.10"},
		{"version-words", says("resolvedToolchain", `{"fingerprint":"zig","version":"newest"}`), "6.10"},
		{"install-dies", on("install", die), "7.1"},
		{"install-unknown", on("install", func(k *kid, q question) { k.fail(q, `{"code":-32601,"message":"m"}`) }), "7.1"},
		{"install-result", says("install", `{"installed":true}`), "7.2"},
		{"install-error", on("install", func(k *kid, q question) { k.fail(q, `{"code":2001,"message":"m"}`) }), "7.2"},
		{"install-error-types", on("install", func(k *kid, q question) {
			k.fail(q, `{"code":2001,"message":"m","data":{"exit_status":"x","command":5}}`)
		}), "7.2"},
		{"late-log", on("install", func(k *kid, q question) { k.answer(q); k.log(`{"level":"info","message":"late"}`) }), "7.3"},
		{"findings-text", says("parseDiagnostics", `{"diagnostics":"none"}`), "8.1"},
		{"findings-line", says("parseDiagnostics", `{"diagnostics":[{"file":"a","line":"1","severity":"error","message":"m","source":"s"}]}`), "8.1 8.2"},
		{"findings-outside", says("parseDiagnostics", `{"diagnostics":[{"file":"/etc/passwd","line":1,"severity":"error","message":"m","source":"s"}]}`), "8.2"},
		{"findings-severity", says("parseDiagnostics", `{"diagnostics":[{"file":"a","line":1,"severity":"bad","message":"m","source":"s"}]}`), "8.2"},
		{"tasks-climb", says("tasks", `{"tasks":[{"name":"a","run":"b","cwd":".."}]}`), "9.1"},
		{"links-relative", says("links", `{"links":[{"dir":"lib","file":"/a"}]}`), "9.2"},
		{"scope-relative", says("install_scope", `{"dir":"a"}`), "9.3"},
		{"tasks-of-a-project", inProject("tasks", `{"tasks":[{"name":"a","run":"b","cwd":"/tmp"}]}`), "9.1"},
		{"links-of-a-project", inProject("links", `{"links":[{"dir":"lib","file":"/a"}]}`), "9.2"},
		{"made-outside", inProject("install_scope", `{"dir":"/w","made":["/tmp/x"]}`), "9.3"},
		{"made-climbs", inProject("install_scope", `{"dir":"/w","made":["../x"]}`), "9.3"},
		{"made-climbs-absolute", inProject("install_scope", `{"dir":"/w","made":["/w/../x"]}`), "9.3"},
		{"depends-unknown", says("tasks", `{"tasks":[{"name":"build","run":"true"},{"name":"test","run":"true","depends_on":["biuld"]}]}`), "9.20"},
		{"depends-default", with(`"run":"true"}]`, `"run":"true","depends_on":["gen"]}]`), "9.20"},
		{"depends-in-project", inProject("tasks", `{"tasks":[{"name":"test","run":"true","depends_on":["build"]}]}`), "9.20"},
		{"depends-linked-nothing", says("tasks", `{"tasks":[{"name":"build","run":"true","depends_on":["^"]}]}`), "9.20"},
		{"depends-no-task", says("tasks", `{"tasks":[{"name":"build","run":"true","depends_on":["lib:"]}]}`), "9.20"},
		{"depends-elsewhere", says("tasks", `{"tasks":[{"name":"a:b","run":"true"},{"name":"build","run":"true","depends_on":["lib:build","^build","a:b"]}]}`), ""},
		{"outputs-shared", says("tasks", `{"tasks":[{"name":"build","run":"true","outputs":["out/a"]},{"name":"test","run":"true","outputs":["out"]}]}`), "9.21"},
		{"outputs-in-order", says("tasks", `{"tasks":[{"name":"build","run":"true","outputs":["out"]},{"name":"gen","run":"true","depends_on":["build"]},{"name":"test","run":"true","outputs":["out/a"],"depends_on":["gen"]}]}`), ""},
		{"made-output", func(k *kid) {
			k.before = func(k *kid, q question) bool {
				var p struct{ Dir string }
				if q.Method != "tasks" && q.Method != "install_scope" || json.Unmarshal(q.Params, &p) != nil {
					return false
				}
				if q.Method == "tasks" {
					k.result(q, `{"tasks":[{"name":"build","run":"true","outputs":["out/*.o"]}]}`)
				} else {
					k.result(q, fmt.Sprintf(`{"dir":%q,"made":["out"]}`, p.Dir))
				}
				return true
			}
		}, "9.22"},
		{"add-unknown", on("add", func(k *kid, q question) { k.fail(q, `{"code":-32601,"message":"m"}`) }), "9.5"},
		{"exec-dies", where(func(q question) bool { return strings.Contains(string(q.Params), `"stderr":"kid`) }, die), "9.11"},
		{"exec-number", where(func(q question) bool { return strings.Contains(string(q.Params), `"stdout":"0.14`) }, func(k *kid, q question) { k.result(q, "7") }), "9.11"},
		{"exec-shell", with(`["kid","--version"]`, `["sh","-c","kid --version"]`), "5.3"},
		{"exec-path", with(`["kid","--version"]`, `["./kid","--version"]`), "5.3"},
		{"exec-text", with(`["kid","--version"]`, `"kid --version"`), "5.3"},
		{"install-plans", says("install", `{"commands":[["kid","fetch"],["./kidw","sync"]]}`), ""},
		{"install-line", says("install", `{"commands":["kid fetch"]}`), "9.13"},
		{"install-nothing", says("install", `{"commands":[["kid"],[]]}`), "9.13"},
		{"install-misspelt", says("install", `{"comands":[["kid"]]}`), "7.2"},
		{"options-refused", where(func(q question) bool { return q.Method == "detect" && strings.Contains(string(q.Params), `"options"`) },
			func(k *kid, q question) { k.fail(q, `{"code":-32602,"message":"unknown member"}`) }), "9.15"},
		{"options-alone", with(`"options":true,`, ""), "5.3"},
		{"options-of-text", with(`{"type":"object","properties"`, `{"type":"string","properties"`), "5.3"},
		{"options-keyword", with(`{"type":"string"}`, `{"type":"string","pattern":"a"}`), "5.3"},
		{"env-star", with(`"KID_*"`, `"*"`), "5.3"},
		{"scaffold-climbs", says("scaffold", `{"files":[{"path":"../a","text":""}]}`), "9.16"},
		{"scaffold-git", says("scaffold", `{"files":[{"path":".git/hooks/x","text":""}]}`), "9.16"},
		{"scaffold-twice", says("scaffold", `{"files":[{"path":"a","text":""},{"path":"a","text":""}]}`), "9.16"},
		{"versions-without", with(`"protocol_version":1,`, `"protocol_version":1,"protocol_versions":[2],`), "5.1"},
		{"forgets-cancelled", on("install", func(*kid, question) {}), "7.1 9.6"},
	}
}

// leave ends a plugin. os.Exit would sleep for a second under the race detector, whose
// settings do not reach a plugin.
func leave() { syscall.Exit(0) }
