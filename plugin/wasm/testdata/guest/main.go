//go:build wasip1

// The guest is a tool whose input says what it does, for the tests of the host.
package main

import (
	"encoding/json"
	"fmt"
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
	kept  [][]byte // what the host holds an address of
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
	var in struct {
		Input string `json:"input"`
		Root  string `json:"workspace_root"`
	}
	if err := json.Unmarshal(unsafe.Slice((*byte)(at), n), &in); err != nil {
		return give("", err.Error())
	}
	calls++
	out, err := do(in.Input, in.Root)
	if err != nil {
		return give(out, err.Error())
	}
	return give(out, "")
}

func give(out, fault string) int64 {
	answer := map[string]any{"output": out, "privacy_boundary": "any"}
	if fault != "" {
		answer["error"] = fault
	}
	b, _ := json.Marshal(answer)
	kept = append(kept, b)
	return int64(uintptr(unsafe.Pointer(&b[0]))) | int64(len(b))<<32
}

func do(input, root string) (string, error) {
	verb, rest, _ := strings.Cut(input, " ")
	switch verb {
	case "echo":
		return rest, nil
	case "root":
		return root, nil
	case "calls":
		return fmt.Sprint(calls), nil
	case "fail":
		return "", fmt.Errorf("%s", rest)
	case "warn":
		return "done", fmt.Errorf("%s", rest)
	case "log":
		azLog(2, unsafe.Pointer(unsafe.StringData(rest)), int32(len(rest)))
		fmt.Fprintln(os.Stderr, "to stderr")
		fmt.Println("to stdout")
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
		return fmt.Sprint(n), nil
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
	return "", fmt.Errorf("unknown verb %q", verb)
}

var sink int

func main() {}
