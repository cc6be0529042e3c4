package companion

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/report"
	plugin "github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/sep"
)

// sidecar is one extension of SEP v1.
type sidecar struct {
	*sep.Extension
	e      *Extension
	places Places
	topics []string
	wait   time.Duration
	count  func(sep.Counters)
}

// openSEP opens an extension of SEP v1, which starts at once or with its first event.
func (s *Set) openSEP(ctx context.Context, e *Extension) (host, error) {
	j := s.journal(e.ID)
	x, err := sep.Start(ctx, sep.Options{
		Manifest: e.SEP, Dir: e.Dir, Version: s.o.Version, Env: s.free(), Set: s.variables(e), Lazy: !e.Eager, Provider: s.feed,
		Entry: e.entry(), Check: s.before(e), Earlier: e.earlier(),
		Log:   &plugin.Lines{Max: maxLine, To: func(line string) { j.Log("info", line) }},
		Toast: func(t sep.Toast) { s.toast(e.ID, string(t.Level), t.Message) },
		Audit: func(d sep.Decision) {
			j.Decide(report.ExtensionDecision{Time: d.Time, Method: d.Method, Permission: d.Permission, Decision: d.Decision, Reason: d.Reason})
		},
		Failed: func(st sep.Status) { s.failed(e.ID, st.State == sep.Quarantined, st.Failure) },
	})
	if err != nil {
		return nil, err
	}
	topics := x.Terms().Events
	if !e.Settings.Output {
		topics = slices.DeleteFunc(slices.Clone(topics), func(t string) bool { return t == report.TopicTaskOutput })
	}
	return &sidecar{x, e, s.o.Places, topics, e.Settings.Wait, j.Count}, nil
}

func (x *sidecar) wants(topic string) bool { return slices.Contains(x.topics, topic) }

func (x *sidecar) publish(topic string, payload json.RawMessage) {
	x.Event(context.Background(), topic, payload)
}

// command invokes the action of a panel. In the contract, an action has no response.
func (x *sidecar) command(ctx context.Context, namespace string, args []string) (Output, error) {
	panel := strings.TrimPrefix(namespace, x.e.ID+":")
	if err := x.AwaitPanel(ctx, panel); err != nil {
		return Output{}, err
	}
	if err := x.Invoke(ctx, panel, strings.Join(args, " ")); err != nil {
		return Output{}, err
	}
	x.Drain(ctx)
	if f := x.Status().Failure; f != nil {
		return Output{}, f
	}
	return Output{Stdout: fmt.Appendf(nil, "%s: the action was sent to %s\n", namespace, x.e.ID)}, nil
}

func (x *sidecar) finish(ctx context.Context) {
	x.Finish(ctx, x.wait)
	x.count(x.Status().Counters)
	x.places.remember(x.e, x.Panels())
}
