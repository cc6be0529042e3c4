// Package probe starts the tools of languages: to ask for their version, and to install. Adapters
// start processes only through this package.
//
// Without leave a tool is started outside the project: in the root of the file system, with an
// environment that loads no code and fetches nothing, and with the version of the project's files as
// a checked word. If that is impossible because the repository itself chooses the program, the error
// is *adapters.KnownAtRun, and only a run asks the tool. One table lists all questions.
package probe

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/bounds"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/proc"
)

// The limits of a question to a tool. A Java tool may take seconds to start.
const (
	timeout = 60 * time.Second
	limit   = 1 << 20 // bytes of output
)

// neutral is the directory of the asked tools. Tools read configuration there and above; only root
// can write to the root of the file system.
const neutral = "/"

// Asker asks the tools of the machine for a workspace. It is safe for concurrent use.
type Asker struct {
	env    adapters.Environ
	from   snapshot.Source
	area   *bounds.Area // directories that the repository controls
	memory *Memory
}

// New returns an Asker for the workspace that from reads. env is the whole environment of the
// adapter's tasks.
func New(from snapshot.Source, env adapters.Environ) *Asker {
	return &Asker{env: env, from: from, area: bounds.Of(from.Root()), memory: new(Memory)}
}

// Versions returns the fingerprint of a toolchain, which is made of the versions that its tools print. An adapter
// that embeds it has the methods that return the fingerprint before a run and in it.
type Versions func(ctx context.Context, at At) (string, error)

// ToolchainFingerprint implements adapters.Adapter.
func (v Versions) ToolchainFingerprint(ctx context.Context, dir string) (string, error) {
	return v(ctx, At{Dir: dir})
}

// ToolchainAtRun implements adapters.LateTeller.
func (v Versions) ToolchainAtRun(ctx context.Context, req adapters.RunRequest) (string, error) {
	return v(ctx, At{Dir: req.Dir, Leave: req.Leave()})
}

// Sharing returns a with the answers of other Askers.
func (a *Asker) Sharing(memory *Memory) *Asker {
	a.memory = memory
	return a
}

// At names a tool and the directory that it is asked about.
type At struct {
	Dir  string // directory of the tasks that start the tool, absolute
	Path string // path of the tool on PATH, absolute
	// Word is the version that the project requires, for questions with an argument, and Set the
	// same in variables.
	Word string
	Set  map[string]string
	// Own reports whether Word is from the user's own environment: then it may also be a path.
	Own bool
	// Leave allows starting the tool in Dir as a task would, with only the user's Own values.
	Leave adapters.Leave
}

// Of returns at for another tool.
func (at At) Of(path string) At {
	at.Path = path
	return at
}

// Output is the output of a tool.
type Output struct{ Out, Err string }

// Ask asks a tool. It returns an *adapters.MissingTool when a version manager lacks the tool, a
// *Refusal when the tool fails, and an *adapters.KnownAtRun when the repository chooses the tool.
func (a *Asker) Ask(ctx context.Context, q Question, at At) (Output, error) {
	return a.ask(ctx, table()[q], at)
}

// AskDeclared is Ask for the command that a plugin declares (adapters.Manifest.Exec). It looks for
// the tool on PATH. The error of a missing one has no hint.
func (a *Asker) AskDeclared(ctx context.Context, argv []string, at At) (Output, error) {
	if err := adapters.CheckExec(argv); err != nil {
		return Output{}, err
	}
	path, err := a.env.LookPath(argv[0])
	if err != nil {
		return Output{}, err
	}
	return a.ask(ctx, line{args: argv[1:]}, at.Of(path))
}

// DeclaredBasis returns everything that the answer of AskDeclared depends on in every directory: the
// same basis means the same answer. It is "" for a missing tool, a shim of a version manager and a
// tool of the workspace. It starts no process.
func (a *Asker) DeclaredBasis(argv []string) string {
	b := NewBasis(a.env)
	path, err := b.Tool(argv[0])
	if err != nil || a.area.Reached(path) || filepath.Base(filepath.Dir(path)) == "shims" || a.area.Steers(a.env) != "" {
		return ""
	}
	return b.String()
}

func (a *Asker) ask(ctx context.Context, l line, at At) (Output, error) {
	if at.Leave.Given() {
		spec := proc.Spec{Argv: append([]string{at.Path}, l.args...), Dir: at.Dir, Env: a.env, Timeout: timeout}
		if at.Own && at.Word != "" {
			spec.Argv = append(spec.Argv, at.Word)
		}
		return output(ctx, spec, at)
	}
	if why := a.area.Steers(a.env); why != "" {
		return Output{}, &adapters.KnownAtRun{Why: why}
	}
	t, err := a.Resolve(at.Path, at.Dir)
	if err != nil {
		return Output{}, err
	}
	if l.settings["RUSTUP_TOOLCHAIN"] != nil {
		if err := a.linked(cmp.Or(at.Set["RUSTUP_TOOLCHAIN"], a.env.Get("RUSTUP_TOOLCHAIN"))); err != nil {
			return Output{}, err
		}
	}
	env, err := a.environ(t, l, at.Dir)
	if err != nil {
		return Output{}, err
	}
	spec := proc.Spec{Argv: append([]string{t.Path}, l.args...), Dir: neutral, Env: env, Timeout: timeout}
	if err := a.handOver(l, at, &spec); err != nil {
		return Output{}, err
	}
	return a.memory.ask(ctx, a.from, spec, at)
}

// handOver adds the required version, after checking that it is one.
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
	if at.Own && (!strings.Contains(at.Word, "/") || filepath.IsAbs(at.Word) && !a.area.Reached(at.Word)) {
		return nil
	}
	return plain(l.word, at.Word, at)
}

// plain returns an error for a value that p does not match.
func plain(p *pattern.Pattern, value string, at At) error {
	if p != nil && len(value) <= maxWord && p.MatchString(value) {
		return nil
	}
	return &adapters.KnownAtRun{Why: fmt.Sprintf("%.100q is no plain version for %s", value, filepath.Base(at.Path))}
}

func output(ctx context.Context, spec proc.Spec, at At) (Output, error) {
	out, errOut, res, err := proc.Output(ctx, spec, limit)
	result := Output{Out: clean(out), Err: clean(errOut)}
	switch {
	case err != nil:
		return result, err
	case res.Canceled:
		return result, context.Cause(ctx)
	case res.ExitCode == 126 || res.ExitCode == 127:
		// The shim of a version manager lacks the version.
		return result, &adapters.MissingTool{Tool: filepath.Base(at.Path), Hint: lastLine(cmpOr(result.Err, result.Out))}
	case res.ExitCode != 0:
		argv := append([]string{filepath.Base(at.Path)}, spec.Argv[1:]...)
		return result, &Refusal{Command: strings.Join(argv, " "), Dir: at.Dir, ExitStatus: res.ExitCode, Stderr: strings.TrimSpace(result.Err)}
	}
	return result, nil
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

// Refusal is the error of a tool that failed to answer.
type Refusal struct {
	Command    string
	Dir        string // of the dish
	ExitStatus int
	Stderr     string // its stderr
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%q for %q exited with status %d: %s", r.Command, r.Dir, r.ExitStatus, lastLine(r.Stderr))
}

// From returns the output from the line that starts with a word, and reports whether there is one:
// shims and runtimes print warnings first.
func (s Output) From(word string) (text string, ok bool) {
	all := "\n" + s.Out
	i := strings.Index(all, "\n"+word)
	if i < 0 {
		return "", false
	}
	return strings.TrimSpace(all[i:]), true
}

// Line returns the rest of the first line that starts with a word, and reports whether there is
// one.
func (s Output) Line(word string) (rest string, ok bool) {
	text, ok := s.From(word)
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, strings.TrimSpace(word))), ok
}
