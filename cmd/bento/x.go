package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/plugin/wire"
)

func xCommand(s *session) *cobra.Command {
	var within time.Duration
	cmd := &cobra.Command{
		Use: "x NAMESPACE [ARGS…]", GroupID: "ask",
		Short: "Run a command of an extension, or show its screen",
		Long: "Run a command of an extension, which starts for it. ARGS are passed on as they are: flags of\n" +
			"bento stand before NAMESPACE. The exit code is that of the command. For a panel of an extension\n" +
			"of SEP v1, ARGS are the action.\n\n" +
			"bento x NAMESPACE --screen shows the screen of the extension until Ctrl-C.",
		Example: "  bento x budget check --most 10m\n  bento x flaky --screen\n  bento --json x budget check",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("bento x requires the namespace of an extension", "bento ext list lists them")
			}
			return nil
		},
		ValidArgsFunction: once(s.namespaces),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && args[1] == "--screen" {
				return s.showScreen(cmd.Context(), args[0])
			}
			return s.callExtension(cmd.Context(), args[0], args[1:], within)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().DurationVar(&within, "timeout", 30*time.Second, "the timeout of the command")
	return cmd
}

// namespaces returns the namespaces of all extensions, for completion.
func (s *session) namespaces() (names []string) {
	all, _, err := s.extensions(context.Background())
	if err != nil {
		return nil
	}
	return all.Namespaces()
}

// serving returns the extension that serves a namespace, and may start, and a function that starts it.
func (s *session) serving(ctx context.Context, namespace string) (*kit.Extension, func() *kit.Companions, error) {
	all, _, err := s.extensions(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := all.Serving(namespace)
	return e, func() *kit.Companions { return all.Start(ctx, e, s.hearing()) }, err
}

// callExtension runs a command of an extension.
func (s *session) callExtension(ctx context.Context, namespace string, args []string, within time.Duration) error {
	e, open, err := s.serving(ctx, namespace)
	if err != nil {
		return err
	}
	set := open()
	defer set.Close()
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	out, err := set.Command(limited, namespace, args)
	if err != nil && ctx.Err() == nil {
		return s.commandFailed(e.ID, namespace, err)
	}
	if err != nil {
		return err
	}
	s.outcome = out.ExitCode
	if s.flags.json {
		return report.Write(s.out, report.NewCalled(report.Called{
			Extension: e.ID, Namespace: namespace, ExitCode: out.ExitCode, Stdout: string(out.Stdout), Stderr: string(out.Stderr),
		}))
	}
	// On a terminal, the output can only show text.
	return errors.Join(showText(s.err, s.columns != nil, out.Stderr), showText(s.out, s.terminal, out.Stdout))
}

func showText(w io.Writer, isTerminal bool, text []byte) error {
	if !isTerminal {
		_, err := w.Write(text)
		return err
	}
	safe := &terminal.Safe{W: w}
	_, err := safe.Write(text)
	return errors.Join(err, safe.Close())
}

// commandFailed returns the error of a command that has no result.
func (s *session) commandFailed(id, namespace string, err error) error {
	var answered *wire.RPCError
	if errors.As(err, &answered) {
		return diagnostics.Refuse("extension_error", "bento ext logs "+id, "the extension %s refused bento x %s: %s (code %d)", id, namespace, answered.Message, answered.Code)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &adapters.Failure{Code: adapters.Timeout, Adapter: id, Message: "timed out: no answer to bento x " + namespace, Hint: "use --timeout before the namespace"}
	}
	return err
}
