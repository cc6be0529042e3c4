package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/docs"
	"github.com/bentobuild/bento/internal/mcp"
	"github.com/bentobuild/bento/internal/report"
)

func mcpCommand(s *session) *cobra.Command {
	var allow []string
	calls := s.process // with the whole PATH, which a command that only looks does not have
	cmd := &cobra.Command{
		Use: "mcp", GroupID: "other",
		Annotations: traits{Reads: true, Unless: "allow"}.annotations(),
		Short:       "Serve this workspace to a coding agent",
		Long:        "Serve this workspace to a coding agent by the Model Context Protocol over stdin and\nstdout, until stdin ends. The tools print the documents of the commands of the same\nname. They only look, unless --allow run adds the tool run.",
		Example:     "  bento mcp\n  bento mcp -C /src/shop --allow run",
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if i := slices.IndexFunc(allow, func(name string) bool { return name != "run" }); i >= 0 {
				return usageError(fmt.Sprintf("--allow %q is not known", allow[i]), "expected run")
			}
			return s.serveAgent(cmd.Context(), calls, len(allow) > 0)
		},
	}
	cmd.Flags().Var(repeated{&allow}, "allow", "also serve the tool `NAME`, which executes tasks: run")
	return cmd
}

// serveAgent serves the workspace to the client on stdin and stdout. Calls run in this process, without its
// files: neither a command nor a task reads or writes the stream of the protocol.
func (s *session) serveAgent(ctx context.Context, calls process, runs bool) error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	in := s.files[0]
	if in == nil {
		return usageError("bento mcp requires stdin, which is closed", "let an agent start it")
	}
	calls.within, calls.pipes, calls.terminal, calls.columns, calls.files = root, nil, false, nil, [3]*os.File{}
	server := mcp.Server{
		Version:      version(),
		Instructions: "bento plans, caches and runs the tasks of the workspace " + root + ". Call plan before a run: it says which tasks are hits and why others are not. A task is named dish:task.",
		Resources:    agentResources(),
	}
	for _, t := range agentTools() {
		if t.Changes && !runs {
			t.Refusal = diagnostics.Refuse("usage", "a user allows it: bento mcp --allow run", "this server executes no task")
		}
		t.Call = func(ctx context.Context, args mcp.Args, progress func(string)) mcp.Answer {
			calls := calls
			calls.brief = !args.On("details")
			return calls.answer(ctx, t.lines(args), progress)
		}
		server.Tools = append(server.Tools, t.Tool)
	}
	return server.Serve(ctx, in, s.out)
}

// answer executes command lines until one fails, and returns what they have printed.
func (p process) answer(ctx context.Context, lines [][]string, progress func(string)) (a mcp.Answer) {
	for _, line := range lines {
		said := &sayer{say: progress}
		text := &mcp.Text{Last: !asksForJSON(line)} // a log, whose end matters
		p.out, p.err = text, said
		code := execute(ctx, line, p)
		a.Texts, a.Failed = append(a.Texts, text), code != exitOK
		if a.Failed {
			break
		}
	}
	return a
}

// sayer calls a function with each line that is written to it.
type sayer struct {
	say  func(line string)
	line []byte
}

// maxSaid bounds the kept part of a line, in bytes.
const maxSaid = 1 << 10

func (w *sayer) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		w.line = append(w.line, line[:min(len(line), maxSaid-len(w.line))]...)
		if !whole {
			return n, nil
		}
		if text := strings.TrimSpace(string(w.line)); text != "" {
			w.say(report.PrintableLine(text))
		}
		w.line, p = w.line[:0], rest
	}
}

// agentTool is a tool with the command lines that it executes.
type agentTool struct {
	mcp.Tool
	lines func(mcp.Args) [][]string
}

// Arguments that several tools have.
var (
	targetsArg = mcp.Arg{Name: "targets", Kind: mcp.Names, About: "dishes: names of dishes or bentos, paths inside of the workspace, or globs; without them every dish"}
	tasksArg   = mcp.Arg{Name: "tasks", Kind: mcp.Names, About: "tasks: dish:task, or a name such as test for the task in every selected dish; a lifecycle task is build, check, lint or test"}
	dishesArg  = mcp.Arg{Name: "dishes", Kind: mcp.Names, About: "only these dishes, by name"}
	pathsArg   = mcp.Arg{Name: "paths", Kind: mcp.Names, Required: true, About: "paths inside of the workspace; they may be missing"}
	sinceArg   = mcp.Arg{Name: "since", Kind: mcp.Name, About: "a revision of git: only tasks that changes since the merge base concern"}
)

// agentTools lists the tools. Each executes the command of its name, in the way that an agent needs.
func agentTools() []agentTool {
	one := func(line ...string) [][]string { return [][]string{line} }
	return []agentTool{
		{mcp.Tool{
			Name: "plan", About: "Which tasks would run, hit or miss, with the reason. Without tasks: what bento ci would run. Executes no task.",
			Args: []mcp.Arg{tasksArg, targetsArg, dishesArg, sinceArg}, Narrow: "Name fewer tasks or targets, or use since.",
		}, func(a mcp.Args) [][]string {
			return one(slices.Concat([]string{"plan", "--json"}, selected(a), a.List("targets"), a.List("tasks"))...)
		}},
		{mcp.Tool{
			Name: "why", About: "The ingredients of a task's key, and what changed since its last successful run: why it is no cache hit.",
			Args:   []mcp.Arg{{Name: "task", Kind: mcp.Name, Required: true, About: "dish:task, or the first digits of a key"}, {Name: "diff", Kind: mcp.Name, About: "a key to compare with instead of the last successful run"}},
			Narrow: "The member changes comes early; the plan names the reason in one line.",
		}, func(a mcp.Args) [][]string {
			return one(slices.Concat([]string{"why", "--json"}, flagOf("diff", a.Text("diff")), []string{a.Text("task")})...)
		}},
		{mcp.Tool{Name: "last", About: "The report of the last run: outcomes, durations, failures and their output.", Narrow: "findings has only the findings, and logs one log."},
			func(mcp.Args) [][]string { return one("last", "--json") }},
		{mcp.Tool{Name: "findings", About: "What compilers, linters and tests have reported in the last run: file, line, message, by task.", Narrow: "Run fewer tasks, or read the log of one."},
			func(mcp.Args) [][]string { return one("last", "--findings", "--json") }},
		{mcp.Tool{
			Name: "logs", About: "The log of the last execution of a task: its path, then its text.", Narrow: "The path has the whole log.",
			Args: []mcp.Arg{{Name: "task", Kind: mcp.Name, Required: true, About: "dish:task"}},
		}, func(a mcp.Args) [][]string {
			return [][]string{{"logs", "--json", a.Text("task")}, {"logs", a.Text("task")}}
		}},
		{mcp.Tool{Name: "graph", About: "The dependencies between dishes and between tasks.", Args: []mcp.Arg{targetsArg}, Narrow: "Name fewer targets."},
			func(a mcp.Args) [][]string { return one(append([]string{"graph", "--json"}, a.List("targets")...)...) }},
		{mcp.Tool{
			Name: "explain", About: "The meaning of a code that bento prints, its cause, and what to do. Without a code: all of them.", Narrow: "Name a code.",
			Args: []mcp.Arg{{Name: "code", Kind: mcp.Name, About: "a code such as toolchain_mismatch, or the number of a clause of a protocol"}},
		}, func(a mcp.Args) [][]string { return one(append([]string{"explain", "--json"}, a.List("code")...)...) }},
		{mcp.Tool{Name: "doctor", About: "Checks of the tools, versions and settings that bento and the dishes require.", Narrow: "Mend the first failures, and call it again."},
			func(mcp.Args) [][]string { return one("doctor", "--json") }},
		{mcp.Tool{Name: "dishes", About: "The dishes (projects) of the workspace, with their languages and tasks.", Args: []mcp.Arg{targetsArg}, Narrow: "Name fewer targets."},
			func(a mcp.Args) [][]string { return one(append([]string{"dishes", "--json"}, a.List("targets")...)...) }},
		{mcp.Tool{Name: "tasks", About: "The tasks of dishes, with their commands.", Args: []mcp.Arg{targetsArg}, Narrow: "Name fewer targets."},
			func(a mcp.Args) [][]string { return one(append([]string{"tasks", "--json"}, a.List("targets")...)...) }},
		queryTool(),
		{mcp.Tool{Name: "owners", About: "Who owns paths by CODEOWNERS, and the line that decides.", Args: []mcp.Arg{pathsArg}, Narrow: "Name fewer paths."},
			func(a mcp.Args) [][]string { return one(append([]string{"owners", "--json"}, a.List("paths")...)...) }},
		runTool(),
	}
}

func queryTool() agentTool {
	return agentTool{mcp.Tool{
		Name: "query", About: "What depends on dishes or a task (dependents), what they depend on (dependencies), the dishes that have paths (paths), the tags and their dishes (tags).",
		Args: []mcp.Arg{
			{Name: "what", Kind: mcp.Name, Required: true, About: "dependents, dependencies, paths or tags"},
			{Name: "of", Kind: mcp.Names, About: "one target or dish:task for dependents and dependencies, paths for paths, nothing for tags"},
		},
		Narrow: "Ask about one task, or fewer paths.",
	}, func(a mcp.Args) [][]string {
		return [][]string{append([]string{"query", a.Text("what"), "--json"}, a.List("of")...)}
	}}
}

func runTool() agentTool {
	return agentTool{mcp.Tool{
		Name: "run", Changes: true, Narrow: "Name fewer tasks or dishes; findings has only the findings.",
		About: "Execute tasks, their dependencies first; results come from the cache where nothing has changed. The answer is the summary of the run, with the tasks that failed or were skipped and what was found.",
		Args: []mcp.Arg{
			{Name: "tasks", Kind: mcp.Names, Required: true, About: tasksArg.About}, dishesArg, sinceArg,
			{Name: "keep_going", Kind: mcp.Switch, About: "after a failure continue with what does not depend on it"},
			{Name: "force", Kind: mcp.Switch, About: "take no result from the cache"},
			{Name: "details", Kind: mcp.Switch, About: "also list the tasks that did well, with their keys and durations"},
			{Name: "arguments", Kind: mcp.Words, About: "words appended to the command of the named tasks, such as -run TestName"},
		},
	}, func(a mcp.Args) [][]string {
		line := slices.Concat([]string{"run", "--json"}, selected(a), on("keep-going", a.On("keep_going")), on("force", a.On("force")), a.List("tasks"))
		if words := a.List("arguments"); len(words) > 0 {
			line = append(append(line, "--"), words...)
		}
		return [][]string{line}
	}}
}

// selected returns the flags of a selection.
func selected(a mcp.Args) []string {
	flags := flagOf("since", a.Text("since"))
	for _, name := range a.List("dishes") {
		flags = append(flags, flagOf("dish", name)...)
	}
	return flags
}

// flagOf returns a flag with its value as one word, nothing for "".
func flagOf(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--" + name + "=" + value}
}

// on returns a flag without a value if it is set.
func on(name string, set bool) []string {
	if !set {
		return nil
	}
	return []string{"--" + name}
}

// agentResources lists the pages of the documentation and the schemas of documents and files.
func agentResources() (list []mcp.Resource) {
	for _, p := range docs.Pages() {
		list = append(list, mcp.Resource{
			URI: "bento://docs/" + p.Name, Name: p.Name, Title: p.Title, MIME: "text/markdown",
			Read: func() (string, error) { return p.Text, nil },
		})
	}
	add := func(name, title string, schema func() map[string]any) {
		list = append(list, mcp.Resource{
			URI: "bento://schema/" + name, Name: name, Title: title, MIME: "application/schema+json",
			Read: func() (string, error) {
				var b bytes.Buffer
				err := report.Write(&b, schema())
				return b.String(), err
			},
		})
	}
	for _, p := range documents() {
		add(p.name, p.title, func() map[string]any { return p.schemaOf(false) })
	}
	for _, f := range configurationSchemas() {
		add(f.Name, f.Title, func() map[string]any { return f.Schema })
	}
	return list
}
