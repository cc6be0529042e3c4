package ainb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/host"
)

// behaviour returns what the extension with this name does.
func behaviour(name string) func(*kid) {
	for _, b := range misbehaviours() {
		if b.name == name {
			return b.run
		}
	}
	return (*kid).serve
}

// ample is a timeout that no test misses, however busy the machine is.
const ample = 10 * time.Minute

// numbers returns the numbers of the test: short pauses and shutdown times, and ample timeouts except the
// one that the extension misses on purpose.
func (b *misbehaviour) numbers() host.Numbers {
	n := host.Extension()
	n.Handshake, n.Wire.Send, n.Window = ample, ample, ample
	n.Respawn = []time.Duration{ample}
	n.Shutdown, n.Term, n.Drain = 300*time.Millisecond, 300*time.Millisecond, ample
	if b.eager {
		n.Respawn = []time.Duration{0}
	}
	switch {
	case b.large:
		n.Wire.Send = time.Second
	case b.hurry && b.code == adapters.HandshakeFailed:
		n.Handshake = time.Second
	}
	if b.code == adapters.MalformedResponse || strings.Contains(b.name, "fork") || strings.Contains(b.name, "closes-stdout") || strings.Contains(b.name, "without-reading") || b.large {
		n.Drain = 300 * time.Millisecond
	}
	return n
}

// install makes the test binary an extension.
func (b *misbehaviour) install(t *testing.T, dir string) Extension {
	t.Helper()
	at := filepath.Join(dir, b.name)
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testrun.Kid(t), filepath.Join(at, b.name)); err != nil {
		t.Fatal(err)
	}
	m := kidManifest(t, b.name, b.more)
	e := Extension{Found: manifest.Found{Dir: at, Executable: filepath.Join(at, b.name), Manifest: m}, Eager: b.eager, Env: []string{"PATH=" + os.Getenv("PATH")}, Grants: all(m)}
	return e
}

// TestMisbehave runs every extension that does something wrong. Each must have its expected result, and
// leave no process.
func TestMisbehave(t *testing.T) {
	t.Parallel()
	if n := len(misbehaviours()); n < 35 {
		t.Errorf("%d extensions that misbehave, want 35 or more", n)
	}
	atOnce := make(chan struct{}, 12) // they mostly wait
	var all sync.WaitGroup
	for _, b := range misbehaviours() {
		if b.name == largePayloads {
			continue
		}
		all.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			t.Run(b.name, func(t *testing.T) { b.test(t) })
		})
	}
	all.Wait()
}

const largePayloads = "kid-large-payloads"

// TestLargePayloads is TestMisbehave for messages of 96 MiB, which take a minute with the race detector.
func TestLargePayloads(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends 96 MiB")
	}
	t.Parallel()
	all := misbehaviours()
	all[slices.IndexFunc(all, func(b misbehaviour) bool { return b.name == largePayloads })].test(t)
}

func (b *misbehaviour) test(t *testing.T) {
	dir := t.TempDir()
	r := &rig{m: map[string]*memory{}}
	reached := make(chan struct{}, 100)
	r.start(t, func(o *Options) {
		o.Extensions = []Extension{b.install(t, dir)}
		o.Numbers = b.numbers()
		o.Home = "/x"
		o.Getenv = os.Getenv
		o.Changed = func(_ string, s host.State, _ *adapters.Failure) {
			if s == b.state {
				reached <- struct{}{}
			}
		}
	})
	text := ""
	if !b.eager {
		text = b.call(t, r)
	}
	if b.state != "" {
		<-reached
	}
	st := r.Statuses()[0]
	want := b.state
	if want == "" {
		want = host.Ready
	}
	if st.State != want && b.name != "kid-removes-itself" {
		t.Errorf("the state is %s, want %s", st.State, want)
	}
	r.Close()
	text += fmt.Sprint(st.Failure) + "\n" + r.logged() + "\n" + r.decided()
	if !strings.Contains(text, b.says) {
		t.Errorf("want %q in\n%.2000s", b.says, text)
	}
	if left := testrun.LeftIn(dir); left != nil {
		t.Errorf("left: %q", left)
	}
}

// call runs a command, and returns its error as text.
func (b *misbehaviour) call(t *testing.T, r *rig) string {
	c := Command{Namespace: "x", Within: ample}
	if b.large {
		c.Argv = []string{strings.Repeat("x", 4<<20)}
	}
	if b.code == adapters.Timeout && b.hurry && !b.large {
		c.Within = time.Second
	}
	out, err := r.Command(context.Background(), b.name, c)
	var f *adapters.Failure
	switch {
	case b.code == "" && (err != nil || string(out.Stdout) != "hello\n"):
		t.Errorf("got %v, %v, want an answer", out, err)
	case b.code != "" && (!errors.As(err, &f) || f.Code != b.code):
		t.Errorf("got %v, want a failure with the code %s", err, b.code)
	}
	if b.spares {
		if _, err := r.Command(context.Background(), b.name, Command{Within: ample}); err != nil {
			t.Errorf("the second command: %v", err)
		}
	}
	return fmt.Sprint(err) + "\n"
}
