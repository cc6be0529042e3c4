//go:build failpoints

package killpoint

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// The environment variables of a bento to kill: the number of the point, counted from 1, and a log
// file that gets a line for each point reached.
const (
	atEnv  = "BENTO_CRASH_AT"
	logEnv = "BENTO_CRASH_LOG"
)

// points counts the points that this process has reached. It is global because points are
// everywhere.
var points struct {
	count atomic.Int64
	mu    sync.Mutex
}

// wanted reads the environment once.
var wanted = sync.OnceValues(func() (at int64, log string) {
	at, _ = strconv.ParseInt(os.Getenv(atEnv), 10, 64)
	return at, os.Getenv(logEnv)
})

// Point marks the place before a change that happens in one step.
func Point() {
	at, log := wanted()
	n := points.count.Add(1)
	if log != "" {
		note(log, n)
	}
	if n == at {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// Write calls write with p in two halves, with a point before each.
func Write(write func([]byte) (int, error), p []byte) (int, error) {
	half := len(p) / 2
	Point()
	n, err := write(p[:half])
	if err != nil || half == len(p) {
		return n, err
	}
	Point()
	m, err := write(p[half:])
	return n + m, err
}

// note adds a line to the log: the number and the place of the point.
func note(log string, n int64) {
	points.mu.Lock()
	defer points.mu.Unlock()
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%d %s\n", n, where())
}

// where returns the names of the calling functions, the innermost first.
func where() string {
	var pcs [12]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	var line bytes.Buffer
	for {
		f, more := frames.Next()
		if _, name, ours := strings.Cut(f.Function, "bentobuild/bento/"); ours {
			fmt.Fprintf(&line, " %s:%d", name, f.Line)
		}
		if !more {
			return line.String()
		}
	}
}
