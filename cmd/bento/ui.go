package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/page"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/ui"
)

func uiCommand(s *session) *cobra.Command {
	sel, port := selection{}, 0
	cmd := &cobra.Command{
		Use: "ui [TARGET…]", GroupID: "ask",
		Annotations: traits{Reads: true}.annotations(),
		Short:       "Serve a page of this workspace that shows runs as they happen",
		Long:        "Serve a page of this workspace to browsers of this machine, until Ctrl-C: the dishes,\ntheir tasks and logs, and what runs of any bento do in this workspace. The printed\naddress has a token that is valid until the end; without it the page shows nothing.",
		Example:     "  bento ui\n  bento ui services/ --port 8090",
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.Targets = args
			if port < 0 || port > 65535 {
				return usageError(fmt.Sprintf("--port %d is no port", port), "the number is between 1 and 65535; without --port bento takes any free one")
			}
			return s.serveUI(cmd.Context(), sel, port)
		},
	}
	addSelection(cmd, &sel)
	cmd.Flags().IntVar(&port, "port", 0, "listen on the port `N` (default: any free one)")
	return cmd
}

// servedUI is the document of `bento ui`, printed when it answers.
type servedUI struct {
	Schema    string `json:"schema"`
	Workspace string `json:"workspace"` // absolute
	URL       string `json:"url"`       // with the token
}

// serveUI serves the page until ctx is done.
func (s *session) serveUI(ctx context.Context, sel selection, port int) error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	logs := taskLogs{state: state.Open(root)}
	if err := logs.state.Check(ctx); err != nil {
		return err
	}
	if logs.disk, err = s.disk(nil); err != nil {
		return err
	}
	server := ui.Server{
		State: logs.state, Log: logs.read,
		Load: func(ctx context.Context) (page.Data, error) { return s.loadPage(ctx, root, sel) },
	}
	l, url, err := server.Listen(port)
	switch {
	case errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES):
		return usageError(fmt.Sprintf("port %d cannot be used: %v", port, err), "name another one, or leave out --port")
	case err != nil:
		return err
	}
	if err := s.sayServed(servedUI{report.Schema("ui"), root, url}); err != nil {
		return errors.Join(err, l.Close())
	}
	return server.Serve(ctx, l)
}

func (s *session) sayServed(doc servedUI) error {
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	_, err := fmt.Fprintln(s.out, doc.URL)
	fmt.Fprintln(s.err, "bento: open this address in a browser of this machine; Ctrl-C ends it")
	return err
}

// loadPage evaluates the workspace at root in a session of its own, as a command of its own would. The error has what
// such a command prints.
func (s *session) loadPage(ctx context.Context, root string, sel selection) (page.Data, error) {
	var printed bytes.Buffer
	p := s.process
	p.within, p.pipes, p.terminal, p.columns, p.files, p.out, p.err = root, nil, false, nil, [3]*os.File{}, io.Discard, io.Discard
	one := &session{process: p, flags: s.flags, command: s.command, line: s.line}
	defer one.end()
	sel.Targets, sel.Exclude = append([]string{}, sel.Targets...), append([]string{}, sel.Exclude...) // a plan changes them
	data, err := one.evaluatedPage(ctx, sel)
	if err != nil && ctx.Err() == nil {
		report.WriteError(&printed, one.style, err)
		return data, errors.New(strings.TrimSpace(printed.String()))
	}
	return data, err
}

func (s *session) evaluatedPage(ctx context.Context, sel selection) (page.Data, error) {
	w, err := s.open(ctx, nil)
	if err != nil {
		return page.Data{}, err
	}
	defer w.close()
	p, err := s.plan(ctx, w, sel)
	if err != nil {
		return page.Data{}, err
	}
	return s.pageOf(ctx, w, p)
}

// mostServedLog is the maximal size in bytes of the end of a log that the page shows.
const mostServedLog = 64 << 10

// taskLogs finds the logs of tasks.
type taskLogs struct {
	state *state.Dir
	disk  *cache.Disk
}

// read returns the end of the log of a task for a page.
func (l taskLogs) read(ctx context.Context, t ui.Task, executed bool) (string, error) {
	end, cut := &lastBytes{most: mostServedLog}, ""
	if executed || !l.replay(ctx, t.Key, end) {
		name := action.LogDir + "/" + action.LogName(t.Dish, t.Name, t.Place)
		f, err := l.state.OpenFile(name)
		if errors.Is(err, os.ErrNotExist) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		defer f.Close()
		if fi, err := f.Stat(); err == nil && fi.Size() > mostServedLog {
			_, _ = f.Seek(-mostServedLog, io.SeekEnd) // else it is read from the start
			cut = "… the start is left out: " + l.state.Shown(name) + "\n"
		}
		if _, err := io.Copy(end, heeding(ctx, f)); err != nil {
			return "", err
		}
	}
	if end.cut && cut == "" {
		cut = "… the start is left out\n"
	}
	return cut + report.Printable(diagnostics.Unescaped(strings.ToValidUTF8(string(end.buf), "�"))), nil
}

// replay writes the log of a result in the cache, and reports whether there is the result.
func (l taskLogs) replay(ctx context.Context, hex string, w io.Writer) bool {
	k, err := cache.ParseKey(hex)
	if err != nil {
		return false
	}
	record, err := l.disk.Lookup(k)
	if err != nil {
		return false
	}
	if record.Log == (cache.Digest{}) {
		return true
	}
	return action.ReplayLog(record.With(l.disk), record.Log, func(_ action.Stream, p []byte) {
		if ctx.Err() == nil {
			_, _ = w.Write(p) // never fails
		}
	}) == nil
}

// lastBytes keeps the last bytes that are written to it.
type lastBytes struct {
	most int
	buf  []byte
	cut  bool
}

func (b *lastBytes) Write(p []byte) (int, error) {
	b.buf = append(b.buf, p...)
	if over := len(b.buf) - b.most; over > 0 {
		b.buf, b.cut = append(b.buf[:0], b.buf[over:]...), true
	}
	return len(p), nil
}
