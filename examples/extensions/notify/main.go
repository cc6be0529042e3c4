// Command notify is an extension that posts the end of a run to a webhook, and shows it on the
// desktop. It needs SEP v1, which has messages for the user.
//
// Its settings are variables: NOTIFY_WEBHOOK is the address, NOTIFY_DESKTOP=1 calls notify-send.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/extension"
)

type notifier struct {
	last time.Time // of a message
}

// pause is the least time between two messages: runs that end within it are those of a machine, not of a
// person, and bento takes 20 requests a second.
const pause = 100 * time.Millisecond

func (*notifier) Info() extension.Info {
	return extension.Info{Name: "notify", ID: "bento.notify", Version: "1.0.0"}
}

// finished is what a notifier reads of run.finished.
type finished struct {
	Workspace   string
	Interrupted bool
	Failed      []string
	Flaky       []string
	Summary     struct {
		Tasks, Hits, Built int
		DurationMS         int64 `json:"duration_ms"`
	}
}

func (n *notifier) Event(ctx context.Context, c *extension.Client, e extension.Event) error {
	if e.Topic != "run.finished" || time.Since(n.last) < pause {
		return nil
	}
	n.last = time.Now()
	var run finished
	if err := json.Unmarshal(e.Data, &run); err != nil {
		return err
	}
	level, text := summary(&run)
	err := errors.Join(post(ctx, os.Getenv("NOTIFY_WEBHOOK"), text), desktop(ctx, text))
	if err != nil {
		level, text = "warning", "the notice was not delivered: "+err.Error()
	}
	return errors.Join(err, c.Toast(ctx, level, text))
}

// summary returns the message about a run, and its level.
func summary(run *finished) (level, text string) {
	s := run.Summary
	took := time.Duration(s.DurationMS) * time.Millisecond
	switch {
	case run.Interrupted:
		return "warning", "the run was interrupted"
	case len(run.Failed) > 0:
		return "error", fmt.Sprintf("%d of %d tasks failed in %v: %s", len(run.Failed), s.Tasks, took, strings.Join(run.Failed, ", "))
	case len(run.Flaky) > 0:
		return "warning", fmt.Sprintf("%d tasks are done in %v; flaky: %s", s.Tasks, took, strings.Join(run.Flaky, ", "))
	}
	return "success", fmt.Sprintf("%d tasks are done in %v, %d of them from the cache", s.Tasks, took, s.Hits)
}

// post sends a text as {"text": …}, which chat programs take.
func post(ctx context.Context, url, text string) error {
	if url == "" {
		return nil
	}
	body, err := json.Marshal(map[string]string{"text": "bento: " + text})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond) // bento ends soon
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the webhook answered %s", answer.Status)
	}
	return nil
}

func desktop(ctx context.Context, text string) error {
	if os.Getenv("NOTIFY_DESKTOP") != "1" {
		return nil
	}
	return exec.CommandContext(ctx, "notify-send", "bento", text).Run()
}

func main() { extension.Main(&notifier{}) }
