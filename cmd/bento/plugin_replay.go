package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/plugin/plugintest"
)

// pluginReplay are the flags of `bento plugin replay`.
type pluginReplay struct {
	within time.Duration
	paths  []string
}

func pluginReplayCommand(s *session) *cobra.Command {
	var f pluginReplay
	cmd := &cobra.Command{
		Use: "replay FILE PATH|ID", Short: "Send a plugin the requests of a trace, and compare its answers",
		Long: "Send a plugin the requests of a file that bento plugin trace -o wrote, and compare its answers with\n" +
			"those of the file. The exit code is 1 if one differs: the first difference of each is printed, with the\n" +
			"line of the request. bento sends no install and no add. Directories are those of the trace; --map\n" +
			"replaces them.",
		Example: "  bento plugin trace -o frames.ndjson -- plan\n  bento plugin replay frames.ndjson ./bento-adapter-zig\n" +
			"  bento plugin replay frames.ndjson zig --map /home/ann/shop=/home/bob/shop",
		Args: exactly(2, "bento plugin replay requires the file of a trace, and the path or the id of one plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.pluginReplay(cmd.Context(), args[0], args[1], f)
		},
	}
	cmd.Flags().DurationVar(&f.within, "within", 30*time.Second, "the `TIME` within which each request must be answered")
	cmd.Flags().StringArrayVar(&f.paths, "map", nil, "replace the text OLD of the trace, such as a directory, by NEW: `OLD=NEW`")
	return cmd
}

func (s *session) pluginReplay(ctx context.Context, file, target string, f pluginReplay) error {
	replace := make(map[string]string)
	for _, m := range f.paths {
		old, now, ok := strings.Cut(m, "=")
		if !ok || old == "" {
			return usageError(fmt.Sprintf("--map %q has no OLD=NEW", m), "write for example --map /home/ann/shop=/home/bob/shop")
		}
		replace[old] = now
	}
	text, err := readNamed(ctx, file)
	if err != nil {
		return usageError(fmt.Sprintf("%q cannot be read: %v", file, err), "bento plugin trace -o FILE -- COMMAND writes one")
	}
	p, err := s.pluginNamed(ctx, target)
	if err != nil {
		return err
	}
	r, err := plugintest.RunReplay(ctx, p.Path, s.suiteOptions(p, f.within), bytes.NewReader(text),
		plugintest.ReplayOptions{ID: p.ID, Replace: replace, Name: file})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return usageError(fmt.Sprintf("%q: %v", file, err), "bento plugin trace -o FILE -- COMMAND writes one")
	}
	return s.writeTests(ctx, r)
}
