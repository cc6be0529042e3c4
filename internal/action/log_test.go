package action

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/state"
)

// transcript collects what is replayed, "1:" or "2:" in front of each change of
// the stream.
type transcript struct {
	strings.Builder
	last Stream
}

func (tr *transcript) emit(s Stream, p []byte) {
	if s != tr.last {
		tr.WriteString("\n" + string('0'+rune(s)) + ":")
		tr.last = s
	}
	tr.Write(p)
}

func TestReplayKeepsOrderAndStreams(t *testing.T) {
	var live transcript
	l := CreateLog(state.Open(t.TempDir()), "x.log", LogOptions{Forward: live.emit})
	out, errs := l.Writer(Stdout), l.Writer(Stderr)
	for range 3 {
		out.Write([]byte("a"))
		out.Write([]byte("b"))
		errs.Write([]byte(strings.Repeat("e", 100_000)))
	}
	store, err := cache.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	digest, size, err := l.Store(store)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := store.Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, blob); err != nil || n != size || n < 300_006 {
		t.Errorf("the blob has %d bytes, %v; said %d", n, err, size)
	}
	blob.Close()
	l.Close()
	var file, stored transcript
	if err := l.Replay(file.emit); err != nil {
		t.Fatal(err)
	}
	if err := ReplayLog(store, digest, stored.emit); err != nil {
		t.Fatal(err)
	}
	if file.String() != live.String() || stored.String() != live.String() {
		t.Errorf("live, file and store differ: %d, %d, %d bytes", live.Len(), file.Len(), stored.Len())
	}
	if !strings.HasPrefix(live.String(), "\n1:ab\n2:eee") {
		t.Errorf("it starts with %.20q", live.String())
	}
}

func TestLogThatCannotBeWritten(t *testing.T) {
	var live transcript
	var failures []error
	l := CreateLog(state.Open(filepath.Join(t.TempDir(), "missing")), "x.log", LogOptions{
		Forward: live.emit, Failed: func(err error) { failures = append(failures, err) },
	})
	for _, text := range []string{"hel", "lo"} {
		if n, err := l.Writer(Stdout).Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("write gives %d, %v", n, err)
		}
	}
	if len(failures) != 1 {
		t.Errorf("failures: %v, want one", failures)
	}
	if live.String() != "\n1:hello" || l.Path() != "" || len(l.segments) != 0 {
		t.Errorf("live %q, path %q, segments %v", live.String(), l.Path(), l.segments)
	}
}

// An execution without output has no log, and no log of the last execution either.
func TestEmptyLog(t *testing.T) {
	dir := state.Open(t.TempDir())
	name := dir.Shown(LogDir + "/x.log")
	before, err := dir.Create(LogDir + "/x.log")
	if err != nil {
		t.Fatal(err)
	}
	before.Close()
	l := CreateLog(dir, "x.log", LogOptions{})
	defer l.Close()
	if d, _, err := l.Store(nil); d != (cache.Digest{}) || err != nil {
		t.Errorf("stored %v, %v", d, err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) || l.Path() != "" {
		t.Errorf("there is a file: %v, %q", err, l.Path())
	}
}

func FuzzStoredLog(f *testing.F) {
	f.Add([]byte(logMagic + "\x01\x01\x03abc"))
	f.Add([]byte(logMagic + "\x02\x01\x01a\x02\xff\xff\xff\xff\xff\xff\xff\xff\xffb"))
	f.Fuzz(func(t *testing.T, blob []byte) {
		br := bufio.NewReader(bytes.NewReader(blob))
		segments, err := readSegments(br)
		if err != nil {
			return
		}
		n := 0
		if err := replay(br, segments, func(_ Stream, p []byte) { n += len(p) }); err == nil && n > len(blob) {
			t.Errorf("%d bytes out of %d", n, len(blob))
		}
	})
}

// A linter that selects files by "**/*.test.*" looked at the log of a task named test.
func TestNoToolSelectsLogs(t *testing.T) {
	for _, names := range [][2]string{{"root", "test"}, {"app.test", "build"}, {"web", "test.unit"}, {"x", "spec"}} {
		name := LogName(names[0], names[1], names[0]+":"+names[1])
		for _, glob := range []string{"**/*.test.*", "**/*.spec.*", "**/*.test-*", "**/*_test.*", "**/*-test.*", "**/*.build.*", "**/*.unit.*"} {
			if hit, err := doublestar.Match(glob, ".bento/"+LogDir+"/"+name); hit || err != nil {
				t.Errorf("%s matches %s: %v", glob, name, err)
			}
		}
	}
	if LogName("a.b", "test", "a.b:test") == LogName("a_b", "test", "a_b:test") {
		t.Error("two tasks have one log")
	}
}
