package adapter

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/host"
)

// forks is the thread that forks all children: it lives as long as this process.
var forks = goleak.IgnoreTopFunction("github.com/bentobuild/bento/internal/proc.(*family).adopt.func1")

// TestMain makes the test binary a plugin too: run by the name bento-adapter-<id> it does what the child
// of that behaviour does.
func TestMain(m *testing.M) {
	confineSelf()
	id, isPlugin := strings.CutPrefix(filepath.Base(os.Args[0]), "bento-adapter-")
	if !isPlugin {
		goleak.VerifyTestMain(testrun.InMemory(testrun.Kids(testrun.Waiting(m))), forks)
		return
	}
	k := &kid{id: id, in: bufio.NewReader(os.Stdin)}
	if len(os.Args) > 1 { // a grandchild
		k.linger()
	}
	child(id)(k)
}

// digests remembers the digest of the test binary, which is the program of every plugin, for the whole
// run. It saves nothing.
var digests = sync.OnceValue(func() *host.Digests { return host.NewDigests(state.Open(os.DevNull)) })

// child returns what the plugin with this id does.
func child(id string) func(*kid) {
	for _, b := range behaviours() {
		if b.id == id {
			return b.child
		}
	}
	for _, kids := range []func(string) func(*kid){lazyKid, closingKid, confinedKid, keptKid} {
		if known := kids(id); known != nil {
			return known
		}
	}
	return others(id)
}

// kid is a plugin that can misbehave in any way.
type kid struct {
	id string
	in *bufio.Reader
}

// query is a request as a kid reads it.
type query struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params map[string]any  `json:"params"`
}

// read returns the next request, and exits at the end of the stream.
func (k *kid) read() query {
	length := 0
	for {
		line, err := k.in.ReadString('\n')
		if err != nil {
			leave()
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "" {
			break
		}
		length, _ = strconv.Atoi(strings.TrimSpace(value))
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(k.in, body); err != nil {
		leave()
	}
	var q query
	if err := json.Unmarshal(body, &q); err != nil {
		panic(err)
	}
	return q
}

func (k *kid) raw(text string) { os.Stdout.WriteString(text) }

func (k *kid) send(body string) { k.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)) }

func (k *kid) result(q query, result string) {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result))
}

func (k *kid) fail(q query, failure string) {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, q.ID, failure))
}

func (k *kid) log(level, message string) {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/log","params":{"level":%q,"stream":"stdout","message":%q}}`, level, message))
}

// manifest returns a good manifest, with more members before its own.
func (k *kid) manifest(more string) string {
	return fmt.Sprintf(`{%s"protocol_version":1,"adapter_id":%q,"display_name":"kid","fingerprint_files":["kid.toml"],"default_tasks":[{"name":"build","run":"true"}]}`, more, k.id)
}

const everything = `"capabilities":{"detect":true,"required_toolchain":true,"resolved_toolchain_fingerprint":true,"install":true,"tasks":true,"links":true,"install_scope":true},` +
	`"diagnostic_hooks":{"lint":{"rerun":{"kind":"append_args","args":["--json"]},"parser":"plugin"}},`

// greet answers the handshake with a manifest that offers everything.
func (k *kid) greet() { k.result(k.read(), k.manifest(everything)) }

// answer answers one request correctly.
func (k *kid) answer(q query) {
	switch q.Method {
	case "initialize":
		k.result(q, k.manifest(everything))
	case "detect":
		k.result(q, `{"matches":true}`)
	case "parseDiagnostics":
		k.result(q, `{"diagnostics":[]}`)
	case "shutdown":
		k.result(q, "null")
		leave()
	default:
		k.result(q, "null")
	}
}

// serve runs a plugin that behaves.
func (k *kid) serve() {
	for {
		k.answer(k.read())
	}
}

func (k *kid) hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// deafToTerm makes the process ignore SIGTERM.
func (k *kid) deafToTerm() { signal.Ignore(syscall.SIGTERM) }

// linger runs a grandchild that only SIGKILL ends.
func (k *kid) linger() {
	k.lingers(os.Args[1])
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	if os.Args[1] == "closed" {
		os.Stdin.Close()
		os.Stdout.Close()
		os.Stderr.Close()
	}
	k.hang()
}

// spawn starts a grandchild: "holder" keeps the pipes open, "closed" closes them. With a session of its
// own it leaves the process group.
func (k *kid) spawn(kind string, ownSession bool) {
	cmd := exec.Command(os.Args[0], kind)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: ownSession}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// leave ends a plugin. os.Exit would sleep for a second under the race detector, whose
// settings do not reach a plugin.
func leave() { syscall.Exit(0) }
