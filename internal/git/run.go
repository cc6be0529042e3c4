package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/bounds"
	"github.com/bentobuild/bento/internal/proc"
)

const (
	maxOutput = 1 << 30 // bytes
	timeout   = 2 * time.Minute
)

// A query is a command line of git, without its operands.
type query []string

// All command lines of git that bento runs. Each only reads, starts no other program and connects
// to no remote. Operands are commit ids or a checked ref.
func (q queries) commit() query { return query{"rev-parse", "--verify", "--quiet"} }

func (q queries) shallow() query { return query{"rev-parse", "--is-shallow-repository"} }

func (q queries) mergeBase() query { return query{"merge-base"} }

func (q queries) filters() query {
	return query{"config", "-z", "--name-only", "--get-regexp", `^filter\.`}
}

func (q queries) tracked() query { return query{"ls-files", "-s", "-z"} }

func (q queries) hidden() query { return query{"ls-files", "-s", "-v", "-z"} }

func (q queries) untracked() query { return query{"ls-files", "--others", "--exclude-standard", "-z"} }

// changed also lists files of which only the stat differs. It enters no submodule: git would start
// another git there, without these settings.
func (q queries) changed() query {
	return query{"diff-index", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"}
}

// queries is the table of the queries.
type queries struct{}

// settings override the configuration of the repository, so that git starts no program that it
// names.
func settings() []string {
	return []string{
		"core.fsmonitor=false",
		"core.hooksPath=" + os.DevNull,
		"core.excludesFile=" + os.DevNull, // the user's file must not change what is built
		"core.pager=cat",
		"core.sshCommand=false",
		"core.gitProxy=false",
		"core.askPass=false",
		"core.editor=false",
		"core.alternateRefsCommand=false",
		"credential.helper=",
		"diff.external=",
		"gpg.program=false",
		"protocol.allow=never",
		"safe.bareRepository=explicit", // top is a work tree or nothing
		"submodule.recurse=false",
	}
}

// Error is a failed git command.
type Error struct {
	Args     []string
	ExitCode int
	Stderr   string // end of its stderr
}

func (e *Error) Error() string {
	msg := fmt.Sprintf("git %s: exit %d", strings.Join(e.Args, " "), e.ExitCode)
	if e.Stderr != "" {
		msg += ": " + e.Stderr
	}
	return msg
}

// An Error wraps ErrOwner when git refuses the repository because another user owns it.
var ErrOwner = errors.New("another user owns the repository, and git refuses to read it")

// Unwrap returns ErrOwner when git's message says so.
func (e *Error) Unwrap() error {
	if strings.Contains(e.Stderr, "dubious ownership") {
		return ErrOwner
	}
	return nil
}

// run returns the output of a query. It runs in the top level, whatever GIT_* variables the user
// has set. Further settings are "name=value".
func (r *Repo) run(ctx context.Context, q query, operands []string, further ...string) ([]byte, error) {
	path, err := Find(r.top)
	if err == nil {
		err = r.ready()
	}
	if err != nil {
		return nil, err
	}
	argv := []string{path, "--no-optional-locks", "--no-pager"}
	for _, s := range append(settings(), further...) {
		argv = append(argv, "-c", s)
	}
	args := append(q[:len(q):len(q)], operands...)
	out, stderr, res, err := proc.Output(ctx, proc.Spec{
		Argv: append(argv, args...), Dir: r.top, Env: environ(os.Environ(), r.top), Timeout: timeout,
	}, maxOutput)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if res.TimedOut {
		return nil, fmt.Errorf("git %s: timed out after %v", strings.Join(args, " "), timeout)
	}
	if res.ExitCode != 0 {
		return nil, &Error{Args: args, ExitCode: res.ExitCode, Stderr: string(bytes.TrimSpace(stderr))}
	}
	return out, nil
}

// ErrMissing says that bento needs git and git is not installed.
var ErrMissing = errors.New("git is required and not installed")

// Find returns the absolute path of the git that is started for the work tree or workspace at top.
// It skips programs that the repository controls, and returns ErrMissing when no other is left.
func Find(top string) (string, error) {
	path, err := bounds.Of(top).LookPath(os.Getenv("PATH"), "git")
	if err != nil {
		return "", ErrMissing
	}
	return path, nil
}

// environ returns the environment for git: without variables that lead git to another repository,
// to programs and libraries of this one, or to a prompt, and with a fixed work tree and language.
func environ(all []string, top string) []string {
	env := []string{
		"LC_ALL=C", "GIT_WORK_TREE=" + top, "GIT_CEILING_DIRECTORIES=" + filepath.Dir(top), "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_ASKPASS=false", "GIT_SSH_COMMAND=false",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", // missing objects are not fetched
	}
	for _, kv := range bounds.Of(top).Outside(all) {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") && name != "LC_ALL" {
			env = append(env, kv)
		}
	}
	return env
}

// maxFilters is the largest number of filters in the configuration of a repository.
const maxFilters = 500

// noFilters returns the settings that turn off every filter in the configuration, so that git
// compares unfiltered bytes.
func (r *Repo) noFilters(ctx context.Context) ([]string, error) {
	keys, err := r.list(ctx, queries{}.filters(), nil)
	var failed *Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return nil, nil // no filter is configured
	}
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	var off []string
	for _, key := range keys {
		name, last := "", strings.LastIndexByte(key, '.')
		if first := len("filter."); last > first {
			name = key[first:last]
		}
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		if strings.Contains(name, "=") || len(seen) > maxFilters {
			return nil, fmt.Errorf("git filter %q of %s: required a name without = and at most %d filters, else bento cannot turn it off", name, r.top, maxFilters)
		}
		for _, s := range []string{"clean=", "smudge=", "process=", "required=false"} {
			off = append(off, "filter."+name+"."+s)
		}
	}
	return off, nil
}
