package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// uiDish has tasks that print, and wait until a file gate exists.
const uiDish = `language = "none"
[tasks.build]
run = "echo 'built \u001b[31mred\u001b[0m'; while test ! -e ../gate; do sleep 0.05; done; echo made > out"
outputs = ["out"]
[tasks.test]
run = "echo tested; exit 3"
depends_on = ["build"]
[tasks.serve]
run = "echo serving; exec sleep 600"
persistent = true
`

// servedPage is a `bento ui` that a test talks to.
type servedPage struct {
	t           *testing.T
	root        string
	env         []string
	cmd         *exec.Cmd
	base, token string
	stderr      bytes.Buffer
}

func serveUI(t *testing.T, args ...string) *servedPage {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, "bento.toml", "")
	write(t, root, "a/dish.toml", uiDish)
	return serveIn(t, root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(t.TempDir(), "cache")), args...)
}

func serveIn(t *testing.T, root string, env []string, args ...string) *servedPage {
	t.Helper()
	p := &servedPage{t: t, root: root, env: env}
	p.cmd = p.bento(append([]string{"ui", "--json"}, args...)...)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	var doc servedUI
	if err := json.NewDecoder(out).Decode(&doc); err != nil {
		t.Fatalf("the document: %v\n%s", err, p.stderr.String())
	}
	if doc.Schema != "bento.ui/1" || doc.Workspace != root {
		t.Errorf("the document %+v", doc)
	}
	p.base, p.token, _ = strings.Cut(doc.URL, "#")
	return p
}

func (p *servedPage) bento(args ...string) *exec.Cmd {
	cmd := exec.Command(builtBento(p.t), args...)
	cmd.Dir, cmd.Env = p.root, p.env
	return cmd
}

func (p *servedPage) ask(path string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.base+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func (p *servedPage) text(path string) string {
	p.t.Helper()
	data, err := io.ReadAll(p.ask(path).Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// until reads a stream until a line contains all texts.
func (p *servedPage) until(r *bufio.Reader, texts ...string) {
	p.t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			p.t.Fatalf("the stream ends before %q: %v\n%s", texts, err, p.stderr.String())
		}
		found := true
		for _, text := range texts {
			found = found && strings.Contains(line, text)
		}
		if found {
			return
		}
	}
}

// TestUI: the page of a workspace shows the run of another process, its logs, the evaluation after it, and a watch.
func TestUI(t *testing.T) {
	t.Parallel()
	p := serveUI(t)
	stream := bufio.NewReader(p.ask("events").Body)
	p.until(stream, `"ready":true,"busy":false`)
	if data := p.text("data"); !strings.Contains(data, `"status":"cache_miss"`) || strings.Contains(data, `"status":"cache_hit"`) {
		t.Errorf("before the run: %s", data)
	}
	run := p.bento("run", "a:test")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	p.until(stream, `"command":"bento run a:test"`, `"id":"a:build","outcome":"running"`)
	for p.text("log?task=a:build") != "built red\n" { // the log of a task that is running
	}
	write(t, p.root, "gate", "")
	p.until(stream, `"id":"a:test","outcome":"failed"`)
	_ = run.Wait() // a:test fails
	p.until(stream, `"ready":true,"busy":false`)
	for !strings.Contains(p.text("data"), `"command":"bento run a:test"`) { // until the document of the run is stored, too
		p.until(stream, `"ready":true,"busy":false`)
	}
	data := p.text("data")
	for _, want := range []string{`"status":"cache_hit"`, `"status":"failed","why":"exit status 3"`} {
		if !strings.Contains(data, want) {
			t.Errorf("after the run the page lacks %s: %s", want, data)
		}
	}
	if got := p.text("log?task=a:test"); got != "tested\n" {
		t.Errorf("the log of the failure: %q", got)
	}
	if err := os.RemoveAll(filepath.Join(p.root, ".bento", "logs")); err != nil {
		t.Fatal(err)
	}
	other := serveIn(t, p.root, p.env) // it knows of no execution: the log of the hit is in the cache
	other.until(bufio.NewReader(other.ask("events").Body), `"ready":true`)
	if got := other.text("log?task=a:build"); got != "built red\n" {
		t.Errorf("the log of a hit: %q", got)
	}
	watch := p.bento("watch", "a:serve")
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	defer watch.Wait() //nolint:errcheck // it is interrupted
	defer watch.Process.Signal(syscall.SIGTERM)
	p.until(stream, `"command":"bento watch a:serve"`, `"id":"a:serve","outcome":"running"`)
}

// TestUIEnds: Ctrl-C ends bento ui, though a page is open, without a word more than it has printed.
func TestUIEnds(t *testing.T) {
	t.Parallel()
	p := serveUI(t)
	stream := bufio.NewReader(p.ask("events").Body)
	p.until(stream, `"ready":true`)
	before := time.Now()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stream); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ends with %v", err)
	}
	err := p.cmd.Wait()
	var exited *exec.ExitError
	if !errors.As(err, &exited) || exited.ExitCode() != exitInterrupted || p.stderr.Len() > 0 {
		t.Errorf("bento ui ends with %v and prints %q", err, p.stderr.String())
	}
	t.Logf("it took %v", time.Since(before))
}

// TestUIPort: a port that is in use, or is none, is an error of the line; a free one is taken.
func TestUIPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	root := t.TempDir()
	write(t, root, "bento.toml", "")
	p := &servedPage{t: t, root: root, env: os.Environ()}
	for _, bad := range []string{port, "-1", "65536"} {
		out, err := p.bento("ui", "--port", bad).CombinedOutput()
		var exited *exec.ExitError
		if !errors.As(err, &exited) || exited.ExitCode() != exitInput || !bytes.Contains(out, []byte("port "+bad)) {
			t.Errorf("--port %s: %v\n%s", bad, err, out)
		}
	}
	l.Close()
	served := serveUI(t, "--port", port)
	if u, err := url.Parse(served.base); err != nil || u.Port() != port || u.Hostname() != "127.0.0.1" {
		t.Errorf("the address %s, want the port %s", served.base, port)
	}
}

// TestUIBroken: a workspace that cannot be evaluated is reported in the page, and mended there, too.
func TestUIBroken(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "bento.toml", "[[[")
	p := serveIn(t, root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(t.TempDir(), "cache")))
	stream := bufio.NewReader(p.ask("events").Body)
	p.until(stream, `"ready":false`, `"problem":`, "bento.toml")
	write(t, root, "bento.toml", "")
	write(t, root, "a/dish.toml", uiDish)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"refresh", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	p.until(stream, `"ready":true`)
}
