package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/proc"
)

const (
	maxOutput = 1 << 30 // bytes
	timeout   = 2 * time.Minute
)

// Error is a git command that ended with an error.
type Error struct {
	Args     []string
	ExitCode int
	Stderr   string // its end
}

func (e *Error) Error() string {
	msg := fmt.Sprintf("git %s: exit %d", strings.Join(e.Args, " "), e.ExitCode)
	if e.Stderr != "" {
		msg += ": " + e.Stderr
	}
	return msg
}

// run gives what a git command prints. It runs in the top level, whatever GIT_*
// variables the user has set.
func (r *Repo) run(ctx context.Context, args ...string) ([]byte, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("git is needed and not installed: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	out, stderr, res, err := proc.Output(ctx, proc.Spec{
		Argv:    append([]string{path, "--no-optional-locks", "--no-pager"}, args...),
		Dir:     r.top,
		Env:     environ(os.Environ()),
		Timeout: timeout,
	}, maxOutput)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if res.TimedOut {
		return nil, fmt.Errorf("git %s: no end after %v", strings.Join(args, " "), timeout)
	}
	if res.ExitCode != 0 {
		return nil, &Error{Args: args, ExitCode: res.ExitCode, Stderr: string(bytes.TrimSpace(stderr))}
	}
	return out, nil
}

// environ drops what would lead git to another repository or have it ask, and
// fixes the language of its messages.
func environ(all []string) []string {
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0"}
	for _, kv := range all {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") && name != "LC_ALL" {
			env = append(env, kv)
		}
	}
	return env
}
