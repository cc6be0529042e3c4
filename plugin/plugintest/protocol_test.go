package plugintest

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

const (
	repository = "../.."
	page       = repository + "/docs/PROTOCOL.md"
)

// clause is one of docs/PROTOCOL.md.
type clause struct {
	number, binds, level string
	tests                []string // "plugin/wire: TestFoo/part"
}

var (
	clauseLine = regexp.MustCompile(`(?m)^\*\*(\d+\.\d+)\*\* \((plugin|bento), (MUST|SHOULD)\) (.*)$`)
	// appendixLine is a line of the appendix: the number of a clause, and its tests.
	appendixLine = regexp.MustCompile(`(?m)^\| (\d+\.\d+) \| (.*) \|$`)
	testName     = regexp.MustCompile("`([a-z/]+: (?:Test|Fuzz)\\w+(?:/[\\w-]+)?)`")
)

func clauses(t *testing.T) (list []clause) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	behind := make(map[string]string) // by the number of the clause
	for _, m := range appendixLine.FindAllStringSubmatch(string(text), -1) {
		behind[m[1]] = m[2]
	}
	for _, m := range clauseLine.FindAllStringSubmatch(string(text), -1) {
		c := clause{number: m[1], binds: m[2], level: m[3]}
		for _, name := range testName.FindAllStringSubmatch(m[4]+behind[c.number], -1) {
			c.tests = append(c.tests, name[1])
		}
		list = append(list, c)
	}
	if n := strings.Count(string(text), "\n**"); n != len(list) {
		t.Errorf("%d of %d clauses can be read", len(list), n)
	}
	return list
}

// TestClausesHaveTests: every clause names a test. A test of internal/archtest checks for all pages that
// the named tests exist.
func TestClausesHaveTests(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range clauses(t) {
		if seen[c.number] {
			t.Errorf("there are two clauses %s", c.number)
		}
		seen[c.number] = true
		if len(c.tests) == 0 {
			t.Errorf("clause %s names no test", c.number)
		}
	}
}

// TestAxesAreClauses: the axes of the suite are exactly the clauses that bind plugins, at the same level
// and in the same order.
func TestAxesAreClauses(t *testing.T) {
	var doc, suite []string
	for _, c := range clauses(t) {
		if c.binds == "plugin" {
			doc = append(doc, c.number+" "+c.level)
		}
	}
	for _, a := range emptySuite().axes() {
		suite = append(suite, a.clause+" "+string(a.level))
	}
	if diff := cmp.Diff(doc, suite); diff != "" {
		t.Errorf("docs/PROTOCOL.md and the suite differ (-page +suite):\n%s", diff)
	}
}

// TestExamplesOfThePage: the answers on the page are valid.
func TestExamplesOfThePage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	byMember := map[string]string{
		"tasks": wire.MethodTasks, "links": wire.MethodLinks, "dir": wire.MethodInstallScope, "commands": wire.MethodInstall, "tool": wire.MethodToolchain,
		"fingerprint": wire.MethodResolved, "diagnostics": wire.MethodDiagnostics,
	}
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile("Example: `([^`]*)`").FindAllStringSubmatch(string(text), -1) {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(m[1]), &members); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
		for member, method := range byMember {
			if members[member] == nil {
				continue
			}
			seen[method] = true
			if err := answer.Check(method, []byte(m[1])); err != nil {
				t.Errorf("%s: %s: %v", method, m[1], err)
			}
			if strangers := answer.Unknown(method, []byte(m[1])); len(strangers) > 0 {
				t.Errorf("%s: %s: unknown members %v", method, m[1], strangers)
			}
		}
	}
	if len(seen) != len(byMember) {
		t.Errorf("examples of %v, want one of each in %v", seen, byMember)
	}
}

// TestMembersOfThePage: the tables of section 9 have every member of an answer.
func TestMembersOfThePage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## 9.")
	section, _, _ = strings.Cut(section, "**9.1**")
	for _, m := range answer.Messages() {
		if m.Method == wire.MethodInitialize {
			continue // the other members are in section 5
		}
		defs, _ := m.Schema()["$defs"].(map[string]any)
		for _, name := range membersOf(defs["result"]) {
			if !strings.Contains(section, "`"+name+"`") && !strings.Contains(section, "."+name+"`") && !strings.Contains(section, `"`+name+`"`) {
				t.Errorf("section 9 lacks the member %s of %s", name, m.Method)
			}
		}
	}
}

// membersOf returns the names of all members in a schema of an addition.
func membersOf(schema any) (names []string) {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for name, inner := range properties {
		if name != "matches" { // section 6
			names = append(append(names, name), membersOf(inner)...)
		}
	}
	if s["items"] != nil {
		names = append(names, membersOf(s["items"])...)
	}
	return names
}

// TestWorkedExchange: the pipes carry the exchange of the page, byte for byte.
func TestWorkedExchange(t *testing.T) {
	need(t, "python3")
	said, answered := exchange(t)
	path, err := filepath.Abs(repository + "/examples/bento-adapter-noop/python/bento-adapter-noop")
	if err != nil {
		t.Fatal(err)
	}
	command := &host.Command{Argv: []string{path}, Env: adapters.NewEnviron(os.Environ()).Strict()}
	stream, err := command.Launch(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	in, out := &recorder{ReadCloser: stream.Stdout}, &written{w: stream.Stdin}
	client := wire.NewPeer(wire.NewConn(in, out, wire.Limits{}), wire.PeerOptions{})
	for _, frame := range said {
		if err := askAs(client, frame); err != nil {
			t.Errorf("%s: %v", frame, err)
		}
	}
	<-client.Done()
	client.Close()
	stream.Wait()
	if diff := cmp.Diff(strings.Join(said, ""), string(out.kept)); diff != "" {
		t.Errorf("bento writes something else (-page +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Join(answered, ""), string(in.kept)); diff != "" {
		t.Errorf("the plugin writes something else (-page +got):\n%s", diff)
	}
}

// recorder keeps the bytes that are read through it.
type recorder struct {
	io.ReadCloser
	kept []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.kept = append(r.kept, p[:n]...)
	return n, err
}

// exchange returns the frames of the page.
func exchange(t *testing.T) (said, answered []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		frame := strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\r\n`, "\r\n")
		if body, ok := strings.CutPrefix(frame, "> Content-"); ok {
			said = append(said, "Content-"+body)
		} else if body, ok := strings.CutPrefix(frame, "< Content-"); ok {
			answered = append(answered, "Content-"+body)
		}
	}
	if len(said) == 0 {
		t.Fatalf("%s has no exchange", page)
	}
	return said, answered
}

// askAs sends the request of a frame.
func askAs(client *wire.Peer, frame string) error {
	_, body, _ := strings.Cut(frame, "\r\n\r\n")
	var q struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal([]byte(body), &q); err != nil {
		return err
	}
	var params any
	if q.Params != nil {
		params = q.Params
	}
	call, err := client.Ask(q.Method, params)
	if err != nil {
		return err
	}
	select {
	case <-call.Answered():
		return nil
	case <-client.Done():
		return client.Err()
	}
}

// written records the bytes that are written through it.
type written struct {
	w    io.WriteCloser
	kept []byte
}

func (w *written) Write(p []byte) (int, error) {
	w.kept = append(w.kept, p...)
	return w.w.Write(p)
}

func (w *written) Close() error { return w.w.Close() }
