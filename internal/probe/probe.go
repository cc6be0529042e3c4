// Package probe starts the tools of languages: to ask them which version they are, and
// to install. An adapter has no other way to start a process.
//
// A tool that is asked without leave is started outside the project: in the root of the
// file system, with an environment that loads no code and fetches nothing, and with the
// choice that the project's version files make handed over as a checked word. Where
// that cannot be done, because the repository itself chooses the program, the error is
// *adapters.KnownAtRun, and only a run asks. What may be asked is in one table.
package probe

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/proc"
)

// The bounds of a question to a tool. One of Java takes seconds to start.
const (
	timeout = 60 * time.Second
	limit   = 1 << 20 // bytes of an answer
)

// neutral is where tools are asked. They look for their configuration there and above
// it; in the root of the file system only root can have put any.
const neutral = "/"

// Asker asks tools of the machine for a workspace. It is safe for concurrent use.
type Asker struct {
	env  adapters.Environ
	from adapters.Source
	root bounds
}

// New returns an Asker for the workspace that from reads. env is the whole environment
// that tasks of the adapter see.
func New(from adapters.Source, env adapters.Environ) *Asker {
	return &Asker{env: env, from: from, root: newBounds(from.Root())}
}

// At says which tool is asked, and for which directory.
type At struct {
	Dir  string // whose tasks would start the tool, absolute
	Path string // of the tool as it was found on PATH, absolute
	// Word is what the project asks for, where the question takes it as an argument, and
	// Set what it asks for in variables.
	Word string
	Set  map[string]string
	// Own says that Word is of the user's own environment: it may also be a path.
	Own bool
	// Leave has the tool asked in Dir as a task would start it, without what is not the
	// user's Own.
	Leave adapters.Leave
}

// Of returns at for another tool.
func (at At) Of(path string) At {
	at.Path = path
	return at
}

// Said is what a tool printed.
type Said struct{ Out, Err string }

// Ask asks a tool. A tool that a version manager lacks is an *adapters.MissingTool, one
// that ends badly a *Refusal, one that the repository chooses an *adapters.KnownAtRun.
func (a *Asker) Ask(ctx context.Context, q Question, at At) (Said, error) {
	l := table()[q]
	if at.Leave.Given() {
		spec := proc.Spec{Argv: append([]string{at.Path}, l.args...), Dir: at.Dir, Env: a.env, Timeout: timeout}
		if at.Own && at.Word != "" {
			spec.Argv = append(spec.Argv, at.Word)
		}
		return output(ctx, spec, at)
	}
	if err := a.settled(); err != nil {
		return Said{}, err
	}
	t, err := a.Resolve(at.Path, at.Dir)
	if err != nil {
		return Said{}, err
	}
	env, err := a.environ(t, l.starts, at.Dir)
	if err != nil {
		return Said{}, err
	}
	spec := proc.Spec{Argv: append([]string{t.Path}, l.args...), Dir: neutral, Env: env, Timeout: timeout}
	if err := a.handOver(l, at, &spec); err != nil {
		return Said{}, err
	}
	return output(ctx, spec, at)
}

// handOver adds what the project asks for, if it is nothing but that.
func (a *Asker) handOver(l line, at At, spec *proc.Spec) error {
	for name, value := range at.Set {
		if err := plain(l.settings[name], value, at); err != nil {
			return err
		}
	}
	spec.Env = adapters.Environ(spec.Env).With(at.Set)
	if at.Word == "" {
		return nil
	}
	spec.Argv = append(spec.Argv, at.Word)
	if at.Own && (!strings.Contains(at.Word, "/") || filepath.IsAbs(at.Word) && !a.root.reached(at.Word)) {
		return nil
	}
	return plain(l.word, at.Word, at)
}

// plain refuses a value that p does not match.
func plain(p *pattern.Pattern, value string, at At) error {
	if p != nil && len(value) <= maxWord && p.MatchString(value) {
		return nil
	}
	return &adapters.KnownAtRun{Why: fmt.Sprintf("%.100q is no plain version for %s", value, filepath.Base(at.Path))}
}

func output(ctx context.Context, spec proc.Spec, at At) (Said, error) {
	out, errOut, res, err := proc.Output(ctx, spec, limit)
	said := Said{Out: clean(out), Err: clean(errOut)}
	switch {
	case err != nil:
		return said, err
	case res.Canceled:
		return said, context.Cause(ctx)
	case res.ExitCode == 126 || res.ExitCode == 127:
		// The shim of a version manager has no such version.
		return said, &adapters.MissingTool{Tool: filepath.Base(at.Path), Hint: lastLine(cmpOr(said.Err, said.Out))}
	case res.ExitCode != 0:
		argv := append([]string{filepath.Base(at.Path)}, spec.Argv[1:]...)
		return said, &Refusal{Command: strings.Join(argv, " "), Dir: at.Dir, ExitStatus: res.ExitCode, Said: strings.TrimSpace(said.Err)}
	}
	return said, nil
}

func clean(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

func cmpOr(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return a
	}
	return b
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Refusal is the error of a tool that was asked and did not answer.
type Refusal struct {
	Command    string
	Dir        string // whose tool it is
	ExitStatus int
	Said       string // on stderr
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%q for %q exited with status %d: %s", r.Command, r.Dir, r.ExitStatus, lastLine(r.Said))
}

// From returns what was printed from the line on that begins with a word, and whether
// there is one: shims and runtimes print warnings in front.
func (s Said) From(word string) (text string, ok bool) {
	all := "\n" + s.Out
	i := strings.Index(all, "\n"+word)
	if i < 0 {
		return "", false
	}
	return strings.TrimSpace(all[i:]), true
}

// Line returns the rest of the first line that begins with a word, and whether there
// is one.
func (s Said) Line(word string) (rest string, ok bool) {
	text, ok := s.From(word)
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, strings.TrimSpace(word))), ok
}
