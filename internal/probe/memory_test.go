package probe

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
)

// blank is a view without files.
type blank struct{ snapshot.View }

// TestMemory: while the snapshot is valid, a tool is started once for each command line and
// environment, and its refusal names the directory of the question.
func TestMemory(t *testing.T) {
	base := t.TempDir()
	tool, starts := base+"/usr/uv", base+"/starts"
	write(t, tool, "#!/bin/sh\necho x >> "+starts+"\necho no \"$@\" >&2\nexit 3\n")
	write(t, base+"/ws/x", "")
	env := adapters.NewEnviron([]string{"PATH=" + base + "/usr:/usr/bin:/bin"})
	view := new(snapshot.Snapshot)
	view.Hold(blank{})
	from := snapshot.Options{Clone: clone.At(base + "/ws"), Snapshot: view}.Source()
	said := new(Memory)
	ask := func(env adapters.Environ, dir, word string, want int) {
		t.Helper()
		_, err := New(from, env).Sharing(said).Ask(t.Context(), UVPython, At{Dir: dir, Path: tool, Word: word})
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Dir != dir || !strings.Contains(refusal.Stderr, word) {
			t.Errorf("%s: %v", dir, err)
		}
		log, err := os.ReadFile(starts)
		if got := strings.Count(string(log), "x"); got != want || err != nil {
			t.Errorf("%s: %d starts, want %d (%v)", dir, got, want, err)
		}
	}
	ask(env, base+"/ws/a", "3.12", 1)
	ask(env, base+"/ws/b", "3.12", 1)
	ask(env, base+"/ws/b", "3.13", 2)
	ask(env.With(map[string]string{"LANG": "C"}), base+"/ws/b", "3.13", 3)
	view.Changed() // such as by an install
	ask(env, base+"/ws/a", "3.12", 4)
}
