//go:build wasip1

// The guest is a tool whose input says what it does, for the tests of the host.
package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

//go:wasmimport az az_log
func azLog(level int32, at unsafe.Pointer, n int32)

var (
	kept  [][]byte // memory whose address the host has
	calls int
)

//go:wasmexport az_alloc
func azAlloc(n int32) unsafe.Pointer {
	b := make([]byte, max(n, 1))
	kept = append(kept, b)
	return unsafe.Pointer(&b[0])
}

//go:wasmexport az_tool_execute
func azToolExecute(at unsafe.Pointer, n int32) int64 {
	text := string(unsafe.Slice((*byte)(at), n))
	calls++
	out, err := do(member(text, "input"), member(text, "workspace_root"))
	if err != nil {
		return give(out, err.Error())
	}
	return give(out, "")
}

func give(out, fault string) int64 {
	b := []byte(`{"privacy_boundary":"any","output":` + quote(out))
	if fault != "" {
		b = append(b, `,"error":`+quote(fault)...)
	}
	b = append(b, '}')
	kept = append(kept, b)
	return int64(uintptr(unsafe.Pointer(&b[0]))) | int64(len(b))<<32
}

// member returns a string of a JSON object. With the package encoding/json the module would be twice as
// large, and most of the tests' time is that of its compiler.
func member(object, name string) string {
	_, rest, _ := strings.Cut(object, `"`+name+`":"`)
	var b []byte
	for i := 0; i < len(rest) && rest[i] != '"'; i++ {
		if rest[i] != '\\' {
			b = append(b, rest[i])
			continue
		}
		i++
		switch c := rest[i]; c {
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, _ := strconv.ParseUint(rest[i+1:i+5], 16, 16)
			b = append(b, string(rune(r))...)
			i += 4
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// quote returns a text as JSON.
func quote(text string) string {
	b := []byte{'"'}
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

func do(input, root string) (string, error) {
	verb, rest, _ := strings.Cut(input, " ")
	switch verb {
	case "echo":
		return rest, nil
	case "root":
		return root, nil
	case "calls":
		return strconv.Itoa(calls), nil
	case "fail":
		return "", errors.New(rest)
	case "warn":
		return "done", errors.New(rest)
	case "log":
		azLog(2, unsafe.Pointer(unsafe.StringData(rest)), int32(len(rest)))
		os.Stderr.WriteString("to stderr\n")
		os.Stdout.WriteString("to stdout\n")
		return "", nil
	case "read":
		b, err := os.ReadFile(rest)
		return string(b), err
	case "descriptor": // reads from an open one
		n, err := strconv.Atoi(rest)
		if err != nil {
			return "", err
		}
		b := make([]byte, 64)
		if n, err = syscall.Read(n, b); err != nil {
			return "", err
		}
		return string(b[:n]), nil
	case "accept":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return "", err
		}
		if n, _, err = syscall.Accept(n); err != nil {
			return "", err
		}
		return strconv.Itoa(n), nil
	case "list":
		var names []string
		entries, err := os.ReadDir(rest)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " "), err
	case "write":
		name, text, _ := strings.Cut(rest, " ")
		return "", os.WriteFile(name, []byte(text), 0o644)
	case "tree":
		if err := os.MkdirAll(filepath.Join(rest, "a/b"), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(rest, "a/b/c"), []byte("first"), 0o644); err != nil {
			return "", err
		}
		if err := os.Rename(filepath.Join(rest, "a/b/c"), filepath.Join(rest, "d")); err != nil {
			return "", err
		}
		f, err := os.OpenFile(filepath.Join(rest, "d"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return "", err
		}
		if _, err := f.WriteString(" second"); err != nil {
			return "", err
		}
		if err := f.Close(); err != nil {
			return "", err
		}
		return "", os.RemoveAll(filepath.Join(rest, "a"))
	case "symlink":
		from, to, _ := strings.Cut(rest, " ")
		return "", os.Symlink(from, to)
	case "link":
		from, to, _ := strings.Cut(rest, " ")
		return "", os.Link(from, to)
	case "env":
		return strings.Join(os.Environ(), "\n"), nil
	case "args":
		return strings.Join(os.Args, "\n"), nil
	case "sleep":
		time.Sleep(time.Hour)
	case "panic":
		panic(rest)
	case "exit":
		os.Exit(3)
	case "spin":
		for n := 0; ; n++ {
			sink = n
		}
	case "grow":
		var all [][]byte
		for {
			all = append(all, make([]byte, 1<<20))
			sink = len(all)
		}
	}
	return "", errors.New("unknown verb " + strconv.Quote(verb))
}

var sink int

func main() {}
