// Command bento plans and runs the tasks of a repository in several languages.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

func main() { os.Exit(bento()) }

// bento is the whole program but for its exit.
func bento() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A second signal ends bento at once; the kernel then ends its children.
	context.AfterFunc(ctx, stop)
	return execute(ctx, os.Args[1:], process{
		out: os.Stdout, err: os.Stderr, environ: adapters.NewEnviron(os.Environ()),
	})
}

// process is what the program was started with.
type process struct {
	out, err io.Writer
	environ  adapters.Environ
}

// execute runs one command line and gives its exit code.
func execute(ctx context.Context, args []string, p process) int {
	s := &session{process: p}
	root := newRoot(s)
	root.SetArgs(args)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetContext(ctx)
	err := root.Execute()
	if err != nil && s.command == "" { // it did not come as far as the command itself
		err = badUsage(root, args, err)
	}
	return s.exit(ctx, err)
}

// badUsage makes what cobra says of a command line a problem like any other.
func badUsage(root *cobra.Command, args []string, err error) error {
	var problems diagnostics.Problems
	if errors.As(err, &problems) {
		return err
	}
	hint := ""
	for _, arg := range args {
		if near := root.SuggestionsFor(arg); len(near) > 0 && strings.Contains(err.Error(), strconv.Quote(arg)) {
			hint = "did you mean \"" + strings.Join(near, "\" or \"") + "\"?"
		}
	}
	return usageError(err.Error(), hint)
}

// newRoot gives the command tree.
func newRoot(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:           "bento",
		Short:         "Plan and run the tasks of a repository in several languages",
		Example:       "  bento plan              # what would run, and why\n  bento run build test    # do it\n  bento build api         # one dish, its dependencies first",
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return s.check(cmd) },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError(err.Error(), "") })
	s.flags.add(root.PersistentFlags())
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "ask", Title: "Ask:"})
	root.AddCommand(runCommands(s)...)
	root.AddCommand(planCommand(s), whyCommand(s), graphCommand(s), pluginCommand(s), versionCommand(s), completionCommand())
	return root
}
