package adapter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/testrun"
)

// These are faults that a review of a similar tool found, by their numbers in the review. Each test shows
// that bento does not have one. The tests of whole commands are scripts of cmd/bento.

// failing starts one plugin and returns its failure: that of the start, or of one question.
func failing(t *testing.T, n Numbers, id, question string) (*adapters.Failure, *Set) {
	t.Helper()
	set := start(t, Options{Numbers: n}, install(t, t.TempDir(), id))
	err := failureOf(set, id)
	if question != "" {
		err = ask(set.Adapters()[0].(*Process), question, "/dish")
	}
	var f *adapters.Failure
	if !errors.As(err, &f) {
		t.Fatalf("%s: %v, want a failure", id, err)
	}
	return f, set
}

// C2: bento allocates memory for the bytes that arrive, not for the announced length.
func TestFaultC2AnnouncedLengths(t *testing.T) {
	for _, id := range []string{"huge-length", "one-byte-too-long", "half-body-of-16-mib"} {
		var before, after runtime.MemStats
		n := short()
		n.Handshake = time.Second
		runtime.ReadMemStats(&before)
		failing(t, n, id, "")
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
			t.Errorf("%s: %d bytes were allocated for a body that never came", id, grown)
		}
	}
}

// C3: a plugin that does not read fails at its deadline, and does not hang bento.
func TestFaultC3StalledInput(t *testing.T) {
	t.Parallel()
	n := short()
	n.Query = time.Second
	began := time.Now()
	f, set := failing(t, n, "stops-reading", "lint")
	if f.Code != adapters.Timeout || !strings.Contains(f.Message, "timed out after 1s: no answer to parseDiagnostics") {
		t.Errorf("got %v", f)
	}
	set.Close()
	if d := time.Since(began); d > limit {
		t.Errorf("after %v", d)
	}
}

// C4: a plugin that hangs on the toolchain of one dish fails that question only. Another plugin answers
// meanwhile. (Scripts: plugin_toolchain.)
func TestFaultC4WedgedToolchain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := start(t, Options{Numbers: short()}, install(t, dir, "hangs"), install(t, dir, "good"))
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan error, 1)
	go func() {
		_, err := set.Adapters()[0].RequiredToolchain(ctx, "/dish")
		stuck <- err
	}()
	if found, err := set.Adapters()[1].Detect(t.Context(), "/dish"); !found || err != nil {
		t.Errorf("the other one: %v, %v", found, err)
	}
	cancel()
	if err := <-stuck; err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	n := short()
	n.Query = time.Second
	f, set := failing(t, n, "hangs", "toolchain")
	if f.Code != adapters.Timeout || f.Call != "requiredToolchain" || f.Dir != "/dish" || set.Failures()["hangs"] == nil {
		t.Errorf("got %+v", f)
	}
}

// C8: a child that keeps a plugin's pipes open ends with the plugin, and does not hang bento.
func TestFaultC8Grandchildren(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := start(t, Options{Numbers: short()}, install(t, dir, "leaves-a-holder"), install(t, dir, "leaves-a-session"))
	for _, a := range set.Adapters() {
		_ = a.Install(t.Context(), adapters.InstallRequest{DishDir: "/dish"}, nil)
	}
	set.Close()
	if left := testrun.LeftIn(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// C9: after a bad frame the process is gone, the status is failed, and later calls fail at once. A plugin
// that only exited is started again.
func TestFaultC9BadFrame(t *testing.T) {
	dir := t.TempDir()
	set := start(t, Options{Numbers: short()}, install(t, dir, "breaks-a-frame"), install(t, dir, "answers-and-exits"))
	broken, exits := set.Adapters()[0], set.Adapters()[1]
	if _, err := broken.Detect(t.Context(), "/a"); err == nil {
		t.Error("a bad frame is an answer")
	}
	named := func(process string) bool { return strings.Contains(process, dir+"/bento-adapter-breaks-a-frame") }
	if left := testrun.LeftIn(dir); slices.ContainsFunc(left, named) || len(left) == 0 {
		t.Errorf("left: %v", left)
	}
	began := time.Now()
	var f *adapters.Failure
	if _, err := broken.Detect(t.Context(), "/b"); !errors.As(err, &f) || !strings.HasPrefix(f.Message, "it is not used since") {
		t.Errorf("the next call: %v", err)
	}
	if d := time.Since(began); d > limit {
		t.Errorf("the next call took %v", d)
	}
	if s := set.Status()[0]; s.Status != Failed || s.Code != adapters.MalformedResponse {
		t.Errorf("status %+v", s)
	}
	for i := range 2 {
		if found, err := exits.Detect(t.Context(), "/"+strconv.Itoa(i)); !found || err != nil {
			t.Errorf("one that exits after each answer: %v, %v", found, err)
		}
	}
}

// C11: messages are classified as JSON-RPC requires, and an error keeps its data. (Logs
// outside of an install: scripts, plugin_logs. Exit statuses: plugin_hooks.)
func TestFaultC11Messages(t *testing.T) {
	for _, id := range []string{"asks-back", "fraction-id", "extra-keys", "answers-twice", "unknown-notification"} {
		set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), id))
		if found, err := set.Adapters()[0].Detect(t.Context(), "/dish"); !found || err != nil {
			t.Errorf("%s: %v, %v", id, found, err)
		}
	}
	for id, message := range map[string]string{"string-id": `the response has the id "2", the request had 2`, "null-id-error": "error -32700: what?"} {
		if f, _ := failing(t, short(), id, "detect"); f.Message != message {
			t.Errorf("%s: got %q, want %q", id, f.Message, message)
		}
	}
	if f, _ := failing(t, short(), "error-toolchain", "toolchain"); f.Data != `{"file":"zig.toml","reason":"line 3"}` {
		t.Errorf("data %q", f.Data)
	}
}

// C12: quoted bytes of a plugin may be cut anywhere. The cut does not panic, and the message stays valid
// UTF-8.
func TestFaultC12Previews(t *testing.T) {
	for n := range 8 {
		f, _ := failing(t, short(), fmt.Sprintf("umlauts-%d", n), "")
		if f.Code != adapters.MalformedResponse || !utf8.ValidString(f.Error()) || len(f.Error()) > 1000 {
			t.Errorf("%d: %q", n, f)
		}
	}
}

// C14: as many questions are in flight as a plugin allows, and bento asks plugins at the same time.
// (TestAdditions: a question during an install. TestStartsAtOnce: handshakes.)
func TestFaultC14OneAtATime(t *testing.T) {
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "extends"))
	a := set.Adapters()[0]
	answered := make(chan error, 1)
	go func() {
		_, err := a.Detect(t.Context(), "/w/app") // the plugin answers only after it has received the install
		answered <- err
	}()
	if err := errors.Join(a.Install(t.Context(), adapters.InstallRequest{DishDir: "/w/app"}, nil), <-answered); err != nil {
		t.Error(err)
	}
}

// C15: no plugin receives tokens of bento or credentials. (Scripts: plugin_env.)
func TestFaultC15Environment(t *testing.T) {
	env := adapters.NewEnviron([]string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=s", "BENTO_CACHE_TOKEN=s", "GITHUB_TOKEN=s"})
	set := start(t, Options{Numbers: short(), Env: env}, install(t, t.TempDir(), "env"))
	if got, err := set.Adapters()[0].ToolchainFingerprint(context.Background(), "/"); got != "PATH=/bin" || err != nil {
		t.Errorf("it sees %q, %v", got, err)
	}
}

// C16: tests exist for malformed frames, oversized ones, stalled input, the ladder of signals, the reuse
// of dead plugins, and more.
func TestFaultC16Coverage(t *testing.T) {
	ids := make(map[string]bool)
	for _, b := range behaviours() {
		if ids[b.id] {
			t.Errorf("there are two behaviours %q", b.id)
		}
		ids[b.id] = true
	}
	if len(ids) < 40 {
		t.Errorf("%d behaviours, want 40", len(ids))
	}
	for _, id := range []string{"garbage-first", "one-byte-too-long", "stops-reading", "ignores-everything", "exits-always", "leaves-a-session"} {
		if !ids[id] {
			t.Errorf("there is no behaviour %q", id)
		}
	}
}

// TestEveryFaultHasATest checks that a test names each fault C1 to C16, here or in a script.
func TestEveryFaultHasATest(t *testing.T) {
	var all strings.Builder
	for _, dir := range []string{".", "../host", "../../discovery", "../../cmd/bento/testdata/script"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), "_test.go") || strings.HasSuffix(e.Name(), ".txtar") {
				data, err := os.ReadFile(dir + "/" + e.Name())
				if err != nil {
					t.Fatal(err)
				}
				all.Write(data)
			}
		}
	}
	for i := range 16 {
		id := "C" + strconv.Itoa(i+1)
		if !regexp.MustCompile(`[( ]` + id + `[:,)]`).MatchString(all.String()) {
			t.Errorf("no test names %s", id)
		}
	}
}
