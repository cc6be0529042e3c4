// Command bento plans and runs the tasks of a repository in several languages.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/container"
	"github.com/bentobuild/bento/internal/observe"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/sandbox"
)

func main() {
	deepen(false)
	os.Exit(bento())
}

// bento runs the whole program and returns its exit code.
func bento() int { return bentoWith(nil) }

// bentoWith is bento with other adapters in place of the built-in ones; nil for these.
func bentoWith(builtin func(snapshot.Options) []adapters.Adapter) int {
	if len(os.Args) == 2 && os.Args[1] == guardCommand {
		proc.Watch(os.Stdin)
		return exitOK
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		_ = sandbox.Enter(os.Args[2:]) // it returns only on failure, which the parent reports
		return exitFault
	}
	if len(os.Args) > 1 && os.Args[1] == observe.Command {
		_ = observe.Enter(os.Args[2:]) // likewise
		return exitFault
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.RulesCommand {
		fmt.Fprintln(os.Stderr, "bento:", sandbox.EnterRules(os.Args[2:])) // it returns only on failure
		return exitUnrun
	}
	if len(os.Args) > 1 && os.Args[1] == container.SweepCommand {
		container.SweepBy(os.Args[2:], os.Environ())
		return exitOK
	}
	log.SetOutput(io.Discard) // net/http writes there what servers do wrong; bento reports it itself
	args, keyed := os.Args[1:], false
	if len(args) > 0 && args[0] == keyedCommand {
		args, keyed = args[1:], true
	}
	heap := collectLate()
	ctx, stop := interruptible()
	defer stop()
	// If bento catches SIGPIPE, a broken pipe is an error of the write; else it ends bento.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pipes := newPipes(cancel)
	code := execute(ctx, args, process{
		out: &pipes.out, err: &pipes.err, pipes: pipes, environ: adapters.NewEnviron(os.Environ()),
		terminal: term.IsTerminal(int(os.Stdout.Fd())), columns: columns(os.Stderr),
		files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, keyed: keyed, heap: heap, builtin: builtin,
	})
	proc.Dismiss()
	return pipes.judge(code)
}

// interruptible returns a context that ends with the first signal of endings; its cause is
// proc.ErrInterrupt for Ctrl-C. The second signal kills the children at once, and the third one ends
// bento: the kernel then ends what is left.
func interruptible() (ctx context.Context, stop func()) {
	now, hurry := context.WithCancel(context.Background())
	ctx, cancel := context.WithCancelCause(proc.Hurried(context.Background(), now))
	signals, over := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, endings()...)
	var hearing sync.WaitGroup
	hearing.Go(func() {
		for n := 0; n < 2; n++ {
			select {
			case sig := <-signals:
				if n > 0 {
					signal.Stop(signals)
					hurry()
				} else if sig == os.Interrupt {
					cancel(proc.ErrInterrupt)
				} else {
					cancel(context.Canceled)
				}
			case <-over:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		hearing.Wait()
		hurry()
		cancel(nil)
	}
}

// endings returns the signals that end a run. Under nohup, SIGHUP is none of them.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// guardCommand is the command by which bento starts the guard, a process that ends its
// tasks when bento is killed.
const guardCommand = "__guard"

// executable returns the path of this program.
var executable = sync.OnceValues(os.Executable)

// guard starts the guard on its first call. The guard keeps the files of hold open until every task
// has ended; later files replace them. Without the guard the kernel ends the tasks if bento is killed,
// but not their descendants.
func guard(hold []*os.File) {
	if path, err := executable(); err == nil {
		_ = proc.Guard(path, hold, os.Args[0], guardCommand)
	}
}

// process has the files and the environment of the program.
type process struct {
	out, err io.Writer
	pipes    *pipes // the pipes of out and err, nil if they are other writers
	environ  adapters.Environ
	terminal bool                                      // out is a terminal
	columns  func() int                                // the width of the terminal err, nil if err is no terminal
	files    [3]*os.File                               // stdin, stdout and stderr, each nil if missing
	heap     *collector                                // nil if it may not be changed
	within   string                                    // the only workspace that commands may use, "" for any
	brief    bool                                      // the documents of runs have only what needs a reader
	builtin  func(snapshot.Options) []adapters.Adapter // nil for the adapters of bento, others in tests
	keyed    bool                                      // the process may change the mode of the terminal: its parent restores it
}

// columns returns a function for the width of the terminal f, nil if f is no terminal.
func columns(f *os.File) func() int {
	if !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return 80
	}
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, p process) int {
	s := &session{process: p, style: report.Style{Columns: p.columns}, line: strings.Join(append([]string{"bento"}, args...), " ")}
	defer s.end()
	s.flags.json = asksForJSON(args) // even if the line is invalid
	root := newRoot(s, named(args))
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		s.complete(root)
	}
	root.SetArgs(args)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetContext(ctx)
	err := root.Execute()
	if err == nil && s.unknown != nil { // cobra prints help for any words before --help
		return s.exit(ctx, s.unknown)
	}
	if err != nil && s.command == "" { // the line failed before the command ran
		err = s.badUsage(newRoot(&session{process: p}, ""), err) // the tree of another session: a new tree resets the flags
	}
	return s.exit(ctx, err)
}

func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Print the help of a command", GroupID: "other",
		Annotations: traits{Reads: true}.annotations(),
		Example:     "  bento help run",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				for about.HasParent() && len(rest) == 0 {
					about = about.Parent()
				}
				return usageError(fmt.Sprintf("unknown command %q", strings.Join(args, " ")), nearCommands(about, append(rest, args...)[0]))
			}
			if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
				return writeHelpDoc(cmd.OutOrStdout(), about)
			}
			return about.Help()
		},
	}
}

// newRoot returns the command tree, with the command called only, or with all if that is "".
func newRoot(s *session, only string) *cobra.Command {
	root := &cobra.Command{
		Use:           "bento",
		Annotations:   traits{Reads: true}.annotations(),
		Short:         "Plan and run the tasks of a repository in several languages",
		Example:       "  bento plan              # what would run, and why\n  bento run build test    # run tasks by name\n  bento build api         # one dish, its dependencies first",
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if yes, _ := cmd.Flags().GetBool("version"); yes {
				return s.printVersion()
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return s.check(cmd) },
	}
	root.SetFlagErrorFunc(badFlag)
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if rest := cmd.Flags().Args(); cmd.HasSubCommands() && len(rest) > 0 {
			s.unknown = usageError(fmt.Sprintf("unknown command %q", strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "bento")+" "+rest[0])), nearCommands(cmd, rest[0]))
			return
		}
		if s.flags.json {
			_ = writeHelpDoc(cmd.OutOrStdout(), cmd) // there is no other stream for the error
			return
		}
		writeHelp(cmd.OutOrStdout(), cmd)
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error { writeUsage(cmd.OutOrStderr(), cmd); return nil })
	s.flags.add(root.PersistentFlags())
	root.Flags().BoolP("version", "V", false, "print the version")
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "ask", Title: "Inspect:"},
		&cobra.Group{ID: "setup", Title: "Set up and maintain:"}, &cobra.Group{ID: "other", Title: "Other:"})
	s.addCommands(root, only)
	root.SetHelpCommandGroupID("other")
	return root
}
