package ainb

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/host"
)

// forks is the thread that forks all children: it lives as long as this process.
var forks = goleak.IgnoreTopFunction("github.com/bentobuild/bento/internal/proc.(*family).adopt.func1")

// TestMain makes the test binary an extension too: run by the name of a behaviour, which begins with
// "kid-", it does what that extension does.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	if !strings.HasPrefix(name, "kid-") {
		goleak.VerifyTestMain(testrun.InMemory(testrun.Kids(m)), forks)
		return
	}
	never := make(chan struct{})
	k := &kid{in: bufio.NewReader(os.Stdin), out: os.Stdout, stderr: os.Stderr, term: never, killed: never}
	if len(os.Args) > 1 { // a grandchild
		k.linger()
	}
	behaviour(name)(k)
	// os.Exit would sleep for a second under the race detector, whose settings do not reach an
	// extension.
	syscall.Exit(k.status)
}

// kid is an extension that can misbehave in any way.
type kid struct {
	in           *bufio.Reader
	out, stderr  io.Writer
	term, killed <-chan struct{}
	status       int

	closeOut func()
}

// query is a message as a kid reads it.
type query struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	over bool
}

// read returns the next message; over is set at the end of the stream.
func (k *kid) read() query {
	length := 0
	for {
		line, err := k.in.ReadString('\n')
		if err != nil {
			return query{over: true}
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "" {
			break
		}
		length, _ = strconv.Atoi(strings.TrimSpace(value))
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(k.in, body); err != nil {
		return query{over: true}
	}
	var q query
	if err := json.Unmarshal(body, &q); err != nil {
		panic(err)
	}
	return q
}

func (k *kid) raw(text string) { io.WriteString(k.out, text) }

func (k *kid) send(body string) { k.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)) }

func (k *kid) result(q query, result string) {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result))
}

func (k *kid) fail(q query, code int, message string) {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, q.ID, code, message))
}

// tell sends a notification.
func (k *kid) tell(method, params string) {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// ask sends a request and returns its answer. It drops other messages that arrive before.
func (k *kid) ask(id, method, params string) query {
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	for {
		if q := k.read(); q.over || q.Method == "" && string(q.ID) == id {
			return q
		}
	}
}

func (k *kid) say(text string) { fmt.Fprintln(k.stderr, text) }

const identity = `{"name":"kid-x","version":"1.0.0"}`

// greet answers the handshake.
func (k *kid) greet() { k.result(k.read(), k.identity()) }

// identity returns the identity of the manifest. The process has the name of its extension.
func (k *kid) identity() string {
	if name := filepath.Base(os.Args[0]); strings.HasPrefix(name, "kid-") {
		return fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, name)
	}
	return identity
}

// answer answers one message correctly, and reports whether more may follow.
func (k *kid) answer(q query) bool {
	switch {
	case q.over:
		return false
	case q.Method == "plugin/shutdown":
		k.result(q, "{}")
		return false
	case q.ID == nil || q.Method == "":
		return true
	case q.Method == "plugin/init":
		k.result(q, k.identity())
	case q.Method == "plugin/render":
		k.result(q, `{"buffer":{"width":1,"height":1,"cells":[[{"x":0,"y":0},{"symbol":"k"}]]}}`)
	case q.Method == "plugin/cli_dispatch":
		k.result(q, `{"stdout":"aGVsbG8K","stderr":"","exit_code":3}`)
	case q.Method == "host/action/invoke":
		var p struct{ Payload json.RawMessage }
		_ = json.Unmarshal(q.Params, &p)
		k.result(q, fmt.Sprintf(`{"payload":%s}`, p.Payload))
	default:
		k.fail(q, -32601, "method not found: "+q.Method)
	}
	return true
}

// serve runs an extension that behaves.
func (k *kid) serve() {
	for k.answer(k.read()) {
	}
}

func (k *kid) hang() { <-k.killed }

// memory launches kids in memory: each launch runs the next function, and later ones repeat the last.
type memory struct {
	mu       sync.Mutex
	run      []func(k *kid)
	launched int
	alive    sync.WaitGroup
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.launched
}

func (m *memory) Launch(_ context.Context, stderr io.Writer) (*host.Stream, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.run) == 0 {
		return nil, errors.New("no such program")
	}
	run := m.run[min(m.launched, len(m.run)-1)]
	m.launched++
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	term, killed, exited := make(chan struct{}), make(chan struct{}), make(chan struct{})
	k := &kid{in: bufio.NewReader(inR), out: outW, stderr: stderr, term: term, killed: killed, closeOut: func() { outW.Close() }}
	m.alive.Go(func() {
		defer close(exited)
		run(k)
		outW.Close()
		inR.Close()
	})
	var once, twice sync.Once
	return &host.Stream{
		Stdin: inW, Stdout: outR, Exited: exited,
		End: func(kill bool) {
			if !kill {
				once.Do(func() { close(term) })
				return
			}
			twice.Do(func() { close(killed); outW.Close(); inR.Close() })
		},
		Wait: func() string { <-exited; return fmt.Sprintf("exit status %d", k.status) },
	}, nil
}

// rig is a host of extensions in memory, with its reports.
type rig struct {
	*Host
	m map[string]*memory

	mu        sync.Mutex
	lines     []string
	decisions []host.Decision
}

// kidManifest returns the manifest of a kid, with more members.
func kidManifest(t testing.TB, name, more string) *manifest.Manifest {
	t.Helper()
	text := fmt.Sprintf("[plugin]\nname = %q\nversion = \"1.0.0\"\nabi_version = 2\n%s", name, more)
	m, problems := manifest.Parse("manifest.toml", []byte(text))
	if m == nil {
		t.Fatal(problems)
	}
	return m
}

// all returns grants of everything that a manifest declares.
func all(m *manifest.Manifest) map[string]manifest.Grant {
	grants := make(map[string]manifest.Grant)
	for name := range m.Capabilities {
		grants[name] = manifest.Grant{All: true}
	}
	return grants
}

// member returns one extension of a rig.
func (r *rig) member(t testing.TB, name, more string, run ...func(k *kid)) Extension {
	m := kidManifest(t, name, more)
	r.m[name] = &memory{run: run}
	return Extension{Found: manifest.Found{Dir: "/x/" + name, Executable: "/x/" + name + "/" + name, Manifest: m}, Grants: all(m), Launcher: r.m[name], Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// newRig returns a host of one extension, kid-x.
func newRig(t testing.TB, more string, change func(*Options), run ...func(k *kid)) *rig {
	r := &rig{m: map[string]*memory{}}
	x := r.member(t, "kid-x", more, run...)
	r.start(t, func(o *Options) {
		o.Extensions = []Extension{x}
		if change != nil {
			change(o)
		}
	})
	return r
}

func (r *rig) start(t testing.TB, change func(*Options)) {
	t.Helper()
	o := Options{
		Log: func(l Line) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.lines = append(r.lines, strings.TrimSpace(l.Level+" "+l.Stream+" "+l.Message+" "+string(l.Fields)))
		},
		Audit: func(d host.Decision) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.decisions = append(r.decisions, d)
		},
	}
	change(&o)
	h, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = h
	t.Cleanup(func() {
		h.Close()
		for _, m := range r.m {
			m.alive.Wait()
		}
	})
}

// logged returns the lines of the log so far.
func (r *rig) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

// decided returns the decisions so far.
func (r *rig) decided() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, d := range r.decisions {
		list = append(list, fmt.Sprintf("%s %s %s: %s", d.Decision, d.Method, d.Permission, d.Reason))
	}
	return strings.Join(list, "\n")
}

// wake starts an extension.
func (r *rig) wake(t testing.TB, id string) {
	t.Helper()
	if err := r.Wake(context.Background(), id); err != nil {
		t.Fatal(err)
	}
}

// state returns the state of the only extension.
func (r *rig) state() host.State { return r.Statuses()[0].State }

// linger runs a grandchild that only SIGKILL ends.
func (k *kid) linger() {
	for {
		time.Sleep(time.Hour)
	}
}
