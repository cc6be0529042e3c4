package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/trace"
	"github.com/bentobuild/bento/plugin/wire"
)

func pluginTraceCommand(s *session) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "trace [-o FILE] -- COMMAND…", Short: "Run a command of bento and record every frame of its plugins",
		Long: "Run a command of bento and write every frame of its plugins to stderr, or with -o to a file\n" +
			"as one JSON object a line: time, ms since the start, id, sent (by bento) and body. Of plugin test\n" +
			"the id has the clause too.",
		Example: "  bento plugin trace -- plan\n  bento plugin trace -o frames.ndjson -- run build",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "bento" {
				args = args[1:]
			}
			if len(args) == 0 {
				return usageError("bento plugin trace requires a command of bento", "run for example: bento plugin trace -- plan")
			}
			return s.pluginTrace(cmd.Context(), file, args)
		},
	}
	cmd.Flags().StringVarP(&file, "out", "o", "", "write the frames to `FILE`")
	return cmd
}

// pluginTrace runs the command with a tracer. Its exit code is the command's.
func (s *session) pluginTrace(ctx context.Context, file string, args []string) error {
	t := &tracer{began: time.Now(), write: writeFrame, w: s.err}
	if file != "" {
		f, err := openNamed(ctx, file)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return usageError(fmt.Sprintf("--out %q cannot be written: %v", file, err), "name a writable file with -o")
		}
		defer f.Close()
		t.write, t.w = writeFrameLine, f
	}
	if s.flags.dir != "" {
		args = append([]string{"-C", s.flags.dir}, args...)
	}
	s.outcome = execute(adapter.WithTrace(ctx, t.frame), args, s.process)
	if t.err != nil {
		return fmt.Errorf("the frames cannot be written: %w", t.err)
	}
	return nil
}

// tracer writes frames, one at a time.
type tracer struct {
	began time.Time
	write func(io.Writer, trace.Line) error

	mu  sync.Mutex
	w   io.Writer
	err error // the first error
}

func (t *tracer) frame(f adapter.Frame) {
	line := trace.NewLine(f.ID, f.Time, f.Time.Sub(t.began), f.Sent, f.Body)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.write(t.w, line); err != nil && t.err == nil {
		t.err = err
	}
}

func writeFrameLine(w io.Writer, l trace.Line) error { return l.Write(w) }

// writeFrame writes a frame for people, with the body indented.
func writeFrame(w io.Writer, l trace.Line) error {
	direction := "<"
	if l.Sent {
		direction = ">"
	}
	text := l.Text
	if text == "" {
		var body bytes.Buffer
		if err := json.Indent(&body, l.Body, "", "  "); err != nil {
			return err
		}
		text = body.String()
	}
	_, err := fmt.Fprintf(w, "bento: %9.3f ms %s %s %s\n", l.MS, l.ID, direction, report.Printable(wire.Plain(text)))
	return err
}
