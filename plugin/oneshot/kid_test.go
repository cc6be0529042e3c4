package oneshot

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/internal/testrun"
)

// forks is the thread that forks all children: it lives as long as this process.
var forks = goleak.IgnoreTopFunction("github.com/bentobuild/bento/internal/proc.(*family).adopt.func1")

// TestMain makes the test binary a tool too: run by the name bento-tool-<id> it does what that behaviour
// does.
func TestMain(m *testing.M) {
	id, isTool := strings.CutPrefix(filepath.Base(os.Args[0]), "bento-tool-")
	if !isTool {
		goleak.VerifyTestMain(testrun.InMemory(testrun.Kids(m)), forks)
		return
	}
	k := &kid{id: id, in: bufio.NewReaderSize(os.Stdin, 1<<16), manifest: map[string]any{
		"plugin_id": id, "plugin_version": "1.0", "protocol_version": Protocol, "exposed_tools": []string{"check", "fix"},
	}}
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "grand-") {
		k.linger(os.Args[1])
	}
	for _, b := range Behaviours() {
		if b.ID == id {
			b.do(k)
		}
	}
	k.serve()
	leave(0)
}

// kid is a good tool, apart from the changes of a behaviour.
type kid struct {
	id       string
	in       *bufio.Reader
	manifest map[string]any
	eol      string // "": "\n"
}

// call is a request as a kid reads it.
type call struct {
	Type     string
	Version  string          `json:"protocol_version"`
	ID       string          `json:"request_id"`
	Function string          `json:"tool_name"`
	Context  map[string]any  `json:"context"`
	Input    json.RawMessage `json:"input"`

	text string
}

// read returns the next line, and exits at the end of the stream.
func (k *kid) read() (c call) {
	text, err := k.in.ReadString('\n')
	if err != nil {
		leave(0)
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		leave(8)
	}
	c.text = text
	return c
}

func (k *kid) raw(text string) { os.Stdout.WriteString(text) }

func (k *kid) say(text string) {
	if k.eol == "" {
		k.eol = "\n"
	}
	k.raw(text + k.eol)
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// introduction returns the answer to the handshake.
func (k *kid) introduction() string {
	return encoded(map[string]any{"type": "handshake", "manifest": k.manifest})
}

// greet answers the handshake, and returns the request.
func (k *kid) greet() call {
	k.read()
	k.say(k.introduction())
	return k.read()
}

func (k *kid) ok(c call, output string) {
	k.say(fmt.Sprintf(`{"type":"response","request_id":%q,"status":"ok","output":%s}`, c.ID, output))
}

func (k *kid) fail(c call, code, message string) {
	k.say(fmt.Sprintf(`{"type":"response","request_id":%q,"status":"error","error":{"code":%q,"message":%s}}`, c.ID, code, encoded(message)))
}

// answer answers a request correctly.
func (k *kid) answer(c call) {
	switch {
	case c.Function != "check" && c.Function != "fix":
		k.fail(c, "not_found", "no such function")
	case !strings.HasPrefix(string(c.Input), "{"):
		k.fail(c, "invalid_input", "the input is not an object")
	default:
		k.ok(c, fmt.Sprintf(`{"bytes":%d}`, len(c.Input)))
	}
}

func (k *kid) serve() { k.answer(k.greet()) }

func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// spawn starts a grandchild that only SIGKILL ends: "grand-holder" keeps the pipes open, "grand-closed"
// closes them. With a session of its own it leaves the process group.
func (k *kid) spawn(kind string, ownSession bool) {
	cmd := exec.Command(os.Args[0], kind)
	ready, theirs, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: ownSession}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	theirs.Close()
	ready.Read(make([]byte, 1)) // until it ignores SIGTERM
}

func (k *kid) linger(kind string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	if kind == "grand-closed" {
		os.Stdin.Close()
		os.Stdout.Close()
		os.Stderr.Close()
	}
	os.NewFile(3, "ready").Close()
	hang()
}

func die() { syscall.Kill(os.Getpid(), syscall.SIGKILL); hang() }

// leave ends a tool. os.Exit would sleep for a second under the race detector, whose settings do
// not reach a tool.
func leave(status int) { syscall.Exit(status) }
