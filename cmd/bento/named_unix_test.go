//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func namedPipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// stalled returns a full pipe, which is open for reading but not read.
func stalled(t *testing.T) string {
	t.Helper()
	name := namedPipe(t)
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Write(func(fd uintptr) bool {
		for err := error(nil); err == nil; {
			_, err = syscall.Write(int(fd), make([]byte, 4096))
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReadNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 4<<40); err != nil { // sparse; a read of the whole file would need all memory
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"/dev/zero": "a device", dir: "a directory", large: "larger than 64 MiB", filepath.Join(dir, "none"): "no such file",
	} {
		if data, err := readNamed(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d bytes, %v; want %s", name, len(data), err, want)
		}
	}
	if data, err := readNamed(t.Context(), namedPipe(t)); len(data) > 0 || err != nil {
		t.Errorf("a pipe that nobody writes to: %q, %v", data, err)
	}
	name := namedPipe(t)
	end, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	if _, err := end.WriteString("{"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readNamed(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe whose writer goes on for ever: %v", err)
	}
}

func TestOpenNamed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openNamed(ctx, namedPipe(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := openNamed(t.Context(), namedPipe(t)); err == nil || !strings.Contains(err.Error(), "without a reader") {
		t.Errorf("without a reader: %v", err)
	}
	if _, err := openNamed(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "a directory") {
		t.Errorf("a directory: %v", err)
	}
}

// TestReportToStalledPipe: an interrupt ends the write to a pipe whose reader does not read.
func TestReportToStalledPipe(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	name := stalled(t)
	go func() { done <- replaceFile(ctx, name, []byte("report")) }()
	cancel()
	if err := <-done; err == nil {
		t.Error("it was written")
	}
	s := &session{process: process{err: new(bytes.Buffer)}}
	s.flags.events = name
	told, err := s.newReporting(ctx)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return
	}
	told.close()
}

func TestReportToPipe(t *testing.T) {
	t.Parallel()
	name := namedPipe(t)
	r, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := replaceFile(t.Context(), name, []byte("report")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if n, err := r.Read(buf); string(buf[:n]) != "report" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
	link := filepath.Join(t.TempDir(), "link")
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := replaceFile(t.Context(), link, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(target); string(data) != "x" || err != nil {
		t.Errorf("behind a link: %q, %v", data, err)
	}
}
