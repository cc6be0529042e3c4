package oneshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/host"
)

// Ample is a timeout that no test misses, however busy the machine is.
const Ample = 10 * time.Minute

// Install makes the test binary a tool with this id in dir.
func Install(t testing.TB, dir, id string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "bento-tool-"+id)
	if err := os.Symlink(testrun.Kid(t), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// options returns the options of a tool with the behaviour b.
func (b *Behaviour) options(path string) Options {
	o := Options{ID: b.ID, Argv: []string{path}, Capabilities: b.Granted, Timeout: Ample, Launch: Ample, Handshake: Ample, Teardown: Ample}
	if b.Short {
		o.Teardown = 200 * time.Millisecond
		switch {
		case b.code == adapters.Crashed:
		case b.Clause == "O3.1":
			o.Handshake = time.Second
		default:
			o.Timeout = time.Second
		}
	}
	return o
}

// TestMisbehave runs every behaviour (with -short a sample), eight at a time. Each must have its expected
// result, and leave no process.
func TestMisbehave(t *testing.T) {
	dir := t.TempDir()
	atOnce := make(chan struct{}, 8)
	var all sync.WaitGroup
	list := Behaviours()
	if testing.Short() {
		list = sampling.Of(t, len(list)/2, list)
	}
	for _, b := range list {
		path := Install(t, dir, b.ID)
		all.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			began := time.Now()
			defer func() { t.Logf("%-20s %6d ms", b.ID, time.Since(began).Milliseconds()) }()
			if err := b.misbehave(path); err != nil {
				t.Errorf("%s: %v", b.ID, err)
			}
		})
	}
	all.Wait()
	if left := testrun.LeftIn(dir); len(left) > 0 {
		t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
}

// misbehave calls the tool and returns an error if the result is not the expected one.
func (b *Behaviour) misbehave(path string) error {
	var audit host.Audit
	o := b.options(path)
	o.Audit = func(a host.Audit) { audit = a }
	tool, err := Open(o)
	if err != nil {
		return err
	}
	input := `{"paths":[]}`
	if b.large {
		input = `"` + strings.Repeat("x", 4<<20) + `"`
	}
	answer, err := tool.Call(context.Background(), adapters.ToolCall{Function: "check", Input: json.RawMessage(input), Root: "/src"})
	if err := b.compare(path, answer.Output, err); err != nil {
		return err
	}
	var f *adapters.Failure
	if errors.As(err, &f) && audit.Outcome != string(f.Code) || err == nil && audit.Outcome != "ok" {
		return fmt.Errorf("the audit says %q of %v", audit.Outcome, err)
	}
	if audit.Trailing < b.trailing || audit.Pid == 0 || audit.ID != b.ID || audit.Function != "check" {
		return fmt.Errorf("audit %+v, want %d trailing bytes", audit, b.trailing)
	}
	return nil
}

func (b *Behaviour) compare(path, output string, err error) error {
	var f *adapters.Failure
	var own *adapters.ToolError
	switch {
	case errors.As(err, &own):
		if string(b.code) != "error "+own.Code || own.Message != b.says || own.Tool != b.ID || own.Function != "check" {
			return fmt.Errorf("got %+v, want code %q", own, b.code)
		}
	case errors.As(err, &f):
		if !isOneOf(f.Code, b.code) || !strings.Contains(f.Message, b.says) {
			return fmt.Errorf("got %q %q, want %q %q", f.Code, f.Message, b.code, b.says)
		}
		if f.Path != path || f.Call != "check" || !f.Tool || f.Cause == nil || !strings.Contains(f.Hint, "bento tool ") {
			return fmt.Errorf("incomplete failure %+v", f)
		}
		if id := b.claims(); f.Adapter != id {
			return fmt.Errorf("the failure names %q, want %q", f.Adapter, id)
		}
	case err != nil || b.code != "":
		return fmt.Errorf("got error %v, want code %q", err, b.code)
	case !strings.Contains(output, b.says) || !json.Valid([]byte(output)):
		return fmt.Errorf("got %.100s, want %s", output, b.says)
	}
	return nil
}

// claims returns the id that a failure must name: that of the manifest, once the manifest is accepted.
func (b *Behaviour) claims() string {
	if b.ID == "other-id" {
		return "acme.other"
	}
	return b.ID
}

func isOneOf(code, want adapters.Code) bool {
	for w := range strings.SplitSeq(string(want), "|") {
		if string(code) == w {
			return true
		}
	}
	return false
}

// TestStderr: a failure has the end of stderr, and every line is logged.
func TestStderr(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	log := func(line string) { lines = append(lines, line) }
	for id, want := range map[string]int{"crash-in-words": 1, "floods-stderr": 1 << 18} {
		lines = nil
		tool, err := Open(Options{ID: id, Argv: []string{Install(t, dir, id)}, Timeout: Ample, Handshake: Ample, Teardown: Ample})
		if err != nil {
			t.Fatal(err)
		}
		_, err = tool.Call(t.Context(), adapters.ToolCall{Function: "check", Log: log})
		var f *adapters.Failure
		if errors.As(err, &f) && f.Stderr != "no module named x\n" {
			t.Errorf("%s: stderr %q", id, f.Stderr)
		}
		if len(lines) != want || lines[0] != "no module named x" && lines[want-1] != "warning: something" {
			t.Errorf("%s: %d lines, want %d: %.100q", id, len(lines), want, lines)
		}
	}
}
