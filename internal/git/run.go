package git

import (
	"bytes"
	"context"
	"errors"
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

// A query is a command line of git, without its operands.
type query []string

// All the command lines of git that bento runs. Each only reads, starts no other
// program and asks no remote. Operands are commit ids, or a ref that was checked.
func (q queries) commit() query { return query{"rev-parse", "--verify", "--quiet"} }

func (q queries) shallow() query { return query{"rev-parse", "--is-shallow-repository"} }

func (q queries) mergeBase() query { return query{"merge-base"} }

func (q queries) filters() query {
	return query{"config", "-z", "--name-only", "--get-regexp", `^filter\.`}
}

func (q queries) tracked() query { return query{"ls-files", "-s", "-z"} }

func (q queries) untracked() query { return query{"ls-files", "--others", "--exclude-standard", "-z"} }

// changed lists as changed what only has another stat, too. It enters no submodule:
// git would start another git there, to which the settings do not come through.
func (q queries) changed() query {
	return query{"diff-index", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"}
}

// queries is the table of the queries.
type queries struct{}

// settings are passed to git whatever the configuration of the repository says:
// nothing that it names is started.
func settings() []string {
	return []string{
		"core.fsmonitor=false",
		"core.hooksPath=" + os.DevNull,
		"core.excludesFile=" + os.DevNull, // the user's: with another one the same must be built
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

// ErrOwner is wrapped by an Error when git does not look into the repository because it
// belongs to somebody else.
var ErrOwner = errors.New("the repository belongs to somebody else, and git does not look into it")

// Unwrap returns ErrOwner where that is what git says.
func (e *Error) Unwrap() error {
	if strings.Contains(e.Stderr, "dubious ownership") {
		return ErrOwner
	}
	return nil
}

// run returns what a query prints. It runs in the top level, whatever GIT_* variables
// the user has set. Further settings are "name=value".
func (r *Repo) run(ctx context.Context, q query, operands []string, further ...string) ([]byte, error) {
	path, err := lookPath(r.top)
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

// ErrMissing says that git had to be asked and is not installed.
var ErrMissing = errors.New("git is needed and not installed")

// lookPath returns the absolute path of git. An entry of PATH that is relative, or that
// leads into the work tree at top, names what the repository chooses, and is passed over.
func lookPath(top string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) || isBelow(top, dir) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(dir, "git"))
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err != nil || isBelow(top, real) {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil && !isBelow(top, real) {
			return path, nil
		}
	}
	return "", ErrMissing
}

// isBelow reports whether a path lies in the directory top, as it is written. Nothing
// lies in the root of the file system, or in the user's home: what is there is not of a
// repository alone.
func isBelow(top, path string) bool {
	if home, err := os.UserHomeDir(); top == "/" || err == nil && top == home {
		return false
	}
	rel, err := filepath.Rel(top, path)
	return err == nil && filepath.IsLocal(rel)
}

// environ drops what would lead git to another repository, start a program or have it
// ask, and fixes the work tree and the language of messages.
func environ(all []string, top string) []string {
	env := []string{
		"LC_ALL=C", "GIT_WORK_TREE=" + top, "GIT_CEILING_DIRECTORIES=" + filepath.Dir(top), "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_ASKPASS=false", "GIT_SSH_COMMAND=false",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", // what is not here is not fetched
	}
	for _, kv := range all {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") && name != "LC_ALL" {
			env = append(env, kv)
		}
	}
	return env
}

// maxFilters bounds how many filters the configuration of a repository may name.
const maxFilters = 500

// noFilters returns the settings that turn off every filter that the configuration
// names, so that git compares the bytes of a file as they are.
func (r *Repo) noFilters(ctx context.Context) ([]string, error) {
	keys, err := r.list(ctx, queries{}.filters(), nil)
	var failed *Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return nil, nil // none is named
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
