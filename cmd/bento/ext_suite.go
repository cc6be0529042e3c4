package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/plugin/plugintest"
)

func extTestCommand(s *session) *cobra.Command {
	var within time.Duration
	cmd := &cobra.Command{
		Use: "test PATH|ID", Short: "Test an extension against its contract, clause by clause",
		Long: "Test the extension of a directory, or of the workspace, against its contract, clause by\n" +
			"clause. It has every permission that its manifest asks for. The exit code is 1 if a MUST\n" +
			"fails. Every test starts the extension again. -v prints what it writes to stderr.",
		Example: "  bento ext test ./counter\n  bento ext test acme.notify --json",
		Args:    exactly(1, "bento ext test requires the path of a directory, or the id of an extension"),
		RunE:    func(cmd *cobra.Command, args []string) error { return s.extTest(cmd.Context(), args[0], within) },
	}
	cmd.Flags().DurationVar(&within, "within", 5*time.Second, "the `TIME` within which each request must be answered")
	return cmd
}

// extTest runs the suite of an extension's contract.
func (s *session) extTest(ctx context.Context, target string, within time.Duration) error {
	if err := s.checkFiles(); err != nil {
		return err
	}
	e, root, err := s.extensionAt(ctx, target)
	if err != nil {
		return err
	}
	data, err := os.MkdirTemp("", "bento-ext-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	more := e.OwnVariables(data)
	env := s.host().PluginEnv(root).Strict(e.Settings.Env...).With(e.Settings.SetEnv)
	set := plugintest.Setup{Env: env, Within: within}
	if s.flags.verbose {
		set.Stderr = s.err
	}
	var r *plugintest.Report
	if e.SEP != nil {
		r, err = plugintest.RunSEP(ctx, plugintest.SEPOptions{Setup: set, Manifest: e.SEP, Dir: e.Dir, Set: more})
	} else {
		set.Env = env.With(more)
		r, err = plugintest.RunAinb(ctx, e.Dir, plugintest.AinbOptions{Setup: set, Config: e.Config()})
	}
	if err != nil {
		return err
	}
	return s.writeTests(ctx, r)
}

// extensionAt returns the extension in a directory, or the extension with an id, if it may start.
func (s *session) extensionAt(ctx context.Context, target string) (e *kit.Extension, root string, err error) {
	root, cwd, err := s.root()
	if err != nil {
		root = cwd
	}
	if !strings.ContainsRune(target, filepath.Separator) && target != "." && target != ".." {
		if e, _, err = s.extensionNamed(ctx, target); err == nil {
			err = e.Unready()
		}
		return e, root, err
	}
	dir, err := filepath.Abs(target)
	if err == nil {
		e, err = kit.ReadExtension(dir)
	}
	return e, root, err
}
