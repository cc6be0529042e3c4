package ui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/feed"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report/page"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// hostile is a name that would break out of the page if it could.
const hostile = `</script><img src=x onerror="document.title='broken'">`

// served is a server that a test runs.
type served struct {
	*Server
	base, token string
	end         context.CancelFunc
	ended       chan error

	mu   sync.Mutex
	data page.Data
	fail error
}

// set changes the workspace.
func (s *served) set(change func(d *page.Data)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.data)
}

// serve serves a workspace of n dishes with a task each.
func serve(t *testing.T, n int) *served {
	t.Helper()
	s := &served{ended: make(chan error, 1), data: page.Data{Title: "bento: shop " + hostile}}
	for i := range n {
		name := fmt.Sprintf("dish-%05d", i)
		s.data.Dishes = append(s.data.Dishes, page.Dish{
			Name: name, Path: fmt.Sprintf("team-%02d/%s", i%40, name), Links: []page.Link{},
			Tasks: []page.Task{{Name: "build", Run: "make " + hostile, Status: "cache_miss", Why: hostile}},
		})
	}
	s.Server = &Server{
		State: state.Open(t.TempDir()),
		Load: func(context.Context) (page.Data, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.data, s.fail
		},
		Log: func(_ context.Context, t Task, executed bool) (string, error) {
			if t.Dish == "dish-00001" {
				return "", errors.New("the log is damaged")
			}
			return fmt.Sprintf("the log of %s:%s %v %s", t.Dish, t.Name, executed, hostile), nil
		},
	}
	l, address, err := s.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	s.base, s.token, _ = strings.Cut(address, "#")
	ctx, cancel := context.WithCancel(t.Context())
	s.end = cancel
	go func() { s.ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		<-s.ended
	})
	return s
}

// request is a request to the server with changes.
func (s *served) request(t *testing.T, path string, change func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if change != nil {
		change(r)
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// stream opens a stream, and returns its lines.
func (s *served) stream(t *testing.T) *bufio.Reader {
	t.Helper()
	answer := s.request(t, "events", nil)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the stream answers %s", answer.Status)
	}
	return bufio.NewReader(answer.Body)
}

// heard reads a stream until a line contains a text.
func heard(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ends before %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// ready waits for the first evaluation.
func (s *served) ready(t *testing.T) *bufio.Reader {
	t.Helper()
	r := s.stream(t)
	heard(t, r, `"ready":true`)
	return r
}

// TestRefused: no request from elsewhere gets an answer about the workspace, nor one without the token.
func TestRefused(t *testing.T) {
	s := serve(t, 3)
	s.ready(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	_, port, _ := net.SplitHostPort(s.host)
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"as the page asks", nil, 200},
		{"from the page", header("Origin", "http://"+s.host), 200},
		{"by the other name", host("localhost:" + port), 200},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"a wrong token", header("Authorization", "Bearer "+strings.Repeat("A", len(s.token))), 401},
		{"the start of the token", header("Authorization", "Bearer "+s.token[:len(s.token)-1]), 401},
		{"more than the token", header("Authorization", "Bearer "+s.token+"A"), 401},
		{"an empty token", header("Authorization", "Bearer "), 401},
		{"the token alone", header("Authorization", s.token), 401},
		{"another origin", header("Origin", "http://evil.example"), 403},
		{"no origin", header("Origin", "null"), 403},
		{"the origin of another port", header("Origin", "http://127.0.0.1:1"), 403},
		{"another site", header("Sec-Fetch-Site", "cross-site"), 403},
		{"another port of this site", header("Sec-Fetch-Site", "same-site"), 403},
		{"a name that resolves to this machine", host("evil.example:" + port), 421},
		{"the name without a port", host("127.0.0.1"), 421},
		{"another address", host("127.0.0.2:" + port), 421},
		{"an empty name", host(" "), 421},
		{"a log of no task", func(r *http.Request) { r.URL.Path, r.URL.RawQuery = "/log", "task=../../etc/passwd" }, 404},
		{"another path", func(r *http.Request) { r.URL.Path = "/etc/passwd" }, 404},
		{"another method", func(r *http.Request) { r.Method = http.MethodDelete }, 405},
		{"a preflight", func(r *http.Request) { r.Method = http.MethodOptions }, 405},
	} {
		answer := s.request(t, "data", c.change)
		body, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != c.want || c.want != 200 && strings.Contains(string(body), "dish-") {
			t.Errorf("%s: %s, want %d: %.100s", c.name, answer.Status, c.want, body)
		}
		for name := range answer.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: the answer has %s", c.name, name)
			}
		}
	}
}

// TestPageIsEmpty: the page itself, which needs no token, has nothing of the workspace, loads nothing, and is in no frame.
func TestPageIsEmpty(t *testing.T) {
	s := serve(t, 3)
	s.ready(t)
	answer := s.request(t, "", func(r *http.Request) { r.Header.Del("Authorization") })
	body, _ := io.ReadAll(answer.Body)
	text := string(body)
	if answer.StatusCode != 200 || strings.Contains(text, "dish-0") || strings.Contains(text, "shop") || strings.Contains(text, s.token) {
		t.Errorf("the page without a token: %s, %d bytes", answer.Status, len(text))
	}
	if policy := "default-src 'none'; connect-src 'self'; style-src 'sha256-"; !strings.Contains(text, policy) {
		t.Errorf("the page lacks the policy %q", policy)
	}
	for name, want := range map[string]string{
		"Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestTokens: each server has a token of its own, with at least 128 random bits.
func TestTokens(t *testing.T) {
	seen := make(map[string]bool)
	for range 20 {
		var s Server
		l, address, err := s.Listen(0)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		_, token, _ := strings.Cut(address, "#")
		if seen[token] || len(token) < 26 || !strings.HasPrefix(address, "http://127.0.0.1:") {
			t.Errorf("the address %s", address)
		}
		seen[token] = true
	}
}

// TestStreams: more pages than the bound are refused, and a page that ends makes room.
func TestStreams(t *testing.T) {
	s := serve(t, 1)
	var last *http.Response
	for range maxStreams {
		last = s.request(t, "events", nil)
		if last.StatusCode != 200 {
			t.Fatalf("a stream answers %s", last.Status)
		}
	}
	if answer := s.request(t, "events", nil); answer.StatusCode != 503 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("one stream too many: %s", answer.Status)
	}
	last.Body.Close()
	for {
		if answer := s.request(t, "events", nil); answer.StatusCode == 200 {
			break
		} else {
			answer.Body.Close()
		}
	}
}

// TestConnections: idle connections of others do not keep the page from being served for ever.
func TestConnections(t *testing.T) {
	s := serve(t, 1)
	for range maxConnections {
		c, err := net.Dial("tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+s.host+"\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(c); err != nil {
			t.Fatal(err)
		}
	}
	if answer := s.request(t, "", nil); answer.StatusCode != 200 {
		t.Errorf("after %d connections: %s", maxConnections, answer.Status)
	}
}

// TestEnds: the server ends at once with its context, though pages are open.
func TestEnds(t *testing.T) {
	s := serve(t, 1)
	streams := []*bufio.Reader{s.ready(t), s.ready(t)}
	idle, err := net.Dial("tcp", s.host)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	s.end()
	err = <-s.ended
	s.ended <- err
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Serve returns %v", err)
	}
	for _, r := range streams {
		if _, err := io.ReadAll(r); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a stream ends with %v", err)
		}
	}
	if _, err := net.Dial("tcp", s.host); err == nil {
		t.Error("the port is still open")
	}
}

// runOf reports a run of tasks of the dishes, and returns its Writer.
func (s *served) runOf(n int, command string) (*feed.Writer, *plan.Plan) {
	p := &plan.Plan{Workspace: &dish.Workspace{}}
	for i := range n {
		p.Tasks = append(p.Tasks, &plan.Task{Dish: &dish.Dish{Name: fmt.Sprintf("dish-%05d", i)}, Name: "build", Index: i})
	}
	w := new(feed.Writer)
	w.In(s.State, command)
	w.Report(run.Started{Plan: p, At: time.Now()})
	return w, p
}

// TestNews: a page hears of a run that is in progress when it is opened, of what changes, of its end, and of the evaluation
// that follows.
func TestNews(t *testing.T) {
	s := serve(t, 3)
	w, p := s.runOf(3, "bento build")
	w.Report(run.TaskStarted{Task: p.Tasks[0]})
	r := s.ready(t)
	heard(t, r, `"id":"dish-00000:build","outcome":"running"`)
	w.Report(run.TaskFinished{Result: &run.Result{Task: p.Tasks[0], Outcome: run.Built, Started: time.Now()}})
	heard(t, r, `"id":"dish-00000:build","outcome":"built"`)
	s.set(func(d *page.Data) { d.Title = "after" })
	w.Report(run.Finished{Report: &run.Report{}})
	heard(t, r, `"state":"ended"`)
	heard(t, r, `"ready":true,"busy":false`)
	body, _ := io.ReadAll(s.request(t, "data", nil).Body)
	if !strings.Contains(string(body), `"title":"after"`) {
		t.Errorf("the workspace was not evaluated after the run: %.200s", body)
	}
	s.mu.Lock()
	s.fail = errors.New("bento.toml: 3: broken")
	s.mu.Unlock()
	if answer := s.request(t, "refresh", func(r *http.Request) { r.Method = http.MethodPost }); answer.StatusCode != 202 {
		t.Errorf("refresh answers %s", answer.Status)
	}
	heard(t, r, `"problem":"bento.toml: 3: broken"`)
	if after, _ := io.ReadAll(s.request(t, "data", nil).Body); string(after) != string(body) {
		t.Error("the last good evaluation is lost")
	}
}

// TestDocumented: the pages have the bounds of the server.
func TestDocumented(t *testing.T) {
	for name, claims := range map[string][]string{
		"commands.md": {fmt.Sprintf("%d pages can be open at once", maxStreams), "`http://127.0.0.1:PORT/#TOKEN`", "`.bento/feeds`"},
		"security.md": {fmt.Sprintf("%d pages that follow runs, %d connections", maxStreams, maxConnections)},
	} {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, claim := range claims {
			if !strings.Contains(strings.Join(strings.Fields(string(data)), " "), claim) {
				t.Errorf("docs/%s lacks %q", name, claim)
			}
		}
	}
}
