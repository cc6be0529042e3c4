package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/trace"
	"github.com/bentobuild/bento/plugin/wire"
)

func pluginInfoCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "info ID|PATH", Example: "  bento plugin info zig", Short: "Start one plugin and show its manifest",
		Annotations: traits{Reads: true}.annotations(),
		Args:        exactly(1, "bento plugin info requires the id or the path of one plugin"),
		RunE:        func(cmd *cobra.Command, args []string) error { return s.pluginInfo(cmd.Context(), args[0]) },
	}
}

// pluginInfo prints the manifest of a plugin, and its answers to all requests that need no directory.
func (s *session) pluginInfo(ctx context.Context, target string) error {
	t := &listener{}
	return s.withPlugin(adapter.WithTrace(ctx, t.hear), target, func(p *adapter.Process, st adapter.Status) error {
		fingerprint, err := p.ToolchainFingerprint(ctx, "")
		var missing *adapters.MissingTool
		if err != nil && !errors.As(err, &missing) {
			return err
		}
		doc := report.NewPluginInfo(pluginRow(st), p.Manifest())
		doc.Fingerprint = fingerprint
		if missing != nil {
			doc.Message = missing.Error()
		}
		doc.Asked = t.asked()
		return show(s, doc, report.WritePluginInfo)
	})
}

// listener keeps the messages to and from one plugin.
type listener struct {
	mu    sync.Mutex
	lines []trace.Line
}

func (t *listener) hear(f adapter.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, trace.NewLine(f.ID, f.Time, 0, f.Sent, f.Body))
}

func (t *listener) asked() []report.PluginAnswer {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := []report.PluginAnswer{}
	for _, e := range trace.Exchanges(t.lines) {
		a := report.PluginAnswer{Method: e.Method, Params: e.Params, Result: e.Result, DurationMS: float64(e.Took.Microseconds()) / 1000}
		if e.Error != nil {
			a.Error = &report.PluginError{Code: e.Error.Code, Message: e.Error.Message, Data: e.Error.Data}
		}
		list = append(list, a)
	}
	return list
}

func pluginCallCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "call ID|PATH METHOD [JSON]", Short: "Send one request and print the result",
		Example: `  bento plugin call noop detect '{"dir":"/abs/path"}'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 || len(args) > 3 {
				return usageError("bento plugin call requires a plugin, a method and optional params", "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var params json.RawMessage
			if len(args) > 2 {
				if params = json.RawMessage(args[2]); !json.Valid(params) {
					return usageError(fmt.Sprintf("the params %.200q are no JSON", args[2]), `write for example '{"dir":"/abs/path"}'`)
				}
			}
			return s.pluginCall(cmd.Context(), args[0], args[1], params)
		},
	}
}

// pluginCall sends a request unchanged. The result is the answer of the plugin; if bento would refuse the
// answer elsewhere, pluginCall warns. A returned error is an error of bento, not of the plugin.
func (s *session) pluginCall(ctx context.Context, target, method string, params json.RawMessage) error {
	return s.withPlugin(ctx, target, func(p *adapter.Process, st adapter.Status) error {
		began := time.Now()
		result, err := p.Ask(ctx, method, params, s.showLog)
		doc := report.NewPluginCall(st.ID, method, time.Since(began))
		var rpc *wire.RPCError
		switch {
		case errors.As(err, &rpc):
			doc.Error = &report.PluginError{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data}
			s.outcome = exitFault
		case err != nil:
			return err
		default:
			doc.Result = result
			if err := answer.Check(method, result); err != nil {
				doc.Wrong = err.Error()
				s.warn(string(adapters.MalformedResponse), fmt.Sprintf("plugin %s: %s: result: %v", st.ID, method, err), "")
			}
		}
		return s.writeCall(doc)
	})
}

func (s *session) writeCall(doc report.PluginCall) error {
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	if doc.Error != nil {
		report.WriteError(s.err, s.style, fmt.Errorf("%s: error %d: %s %s", doc.Method, doc.Error.Code, doc.Error.Message, doc.Error.Data))
		return nil
	}
	var text bytes.Buffer
	if err := json.Indent(&text, doc.Result, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.out, report.Printable(wire.Plain(text.String())))
	return err
}
