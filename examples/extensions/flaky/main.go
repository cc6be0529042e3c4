// Command flaky is an extension that remembers which tasks fail at times: those that failed at first
// and then did not, and those that failed and were built with one and the same key. It has a command
// and a screen.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/plugin/extension"
)

// tracker is the extension. Its methods never run at the same time.
type tracker struct {
	tasks    history
	changed  bool // since it was saved
	selected int
}

func (*tracker) Info() extension.Info {
	return extension.Info{Name: "flaky", Version: "1.0.0"}
}

// Start loads what earlier runs have left.
func (t *tracker) Start(context.Context, *extension.Client) (err error) {
	t.tasks, err = load()
	return err
}

// Event notes the end of a task. A run can end thousands, so the history is saved once, at its end.
func (t *tracker) Event(_ context.Context, _ *extension.Client, e extension.Event) error {
	switch e.Topic {
	case "task.finished":
		var end finished
		if err := json.Unmarshal(e.Data, &end); err != nil {
			return err
		}
		t.changed = t.tasks.note(&end) || t.changed
	case "run.finished":
		if t.changed {
			t.changed = false
			return t.tasks.save()
		}
	}
	return nil
}

// Command serves bento x flaky list, and clear.
func (t *tracker) Command(_ context.Context, _ *extension.Client, c extension.Command) (extension.Output, error) {
	switch strings.Join(c.Args, " ") {
	case "", "list":
		var b strings.Builder
		for _, row := range t.tasks.flaky() {
			fmt.Fprintf(&b, "%-30s %d of %d runs were flaky\n", row.Task, row.Flaky, row.Runs)
		}
		if b.Len() == 0 {
			b.WriteString("no task was flaky\n")
		}
		return extension.Output{Stdout: []byte(b.String())}, nil
	case "clear":
		t.tasks = history{}
		return extension.Output{Stdout: []byte("forgotten\n")}, t.tasks.save()
	}
	return extension.Output{Stderr: []byte("usage: bento x flaky [list | clear]\n"), ExitCode: 2}, nil
}

// Render draws the flaky tasks, the worst first.
func (t *tracker) Render(_ context.Context, _ *extension.Client, b *extension.Buffer) error {
	title := extension.Style{Modifier: bold}
	b.Text(1, 0, "flaky tasks", title)
	rows := t.tasks.flaky()
	t.selected = max(0, min(t.selected, len(rows)-1))
	for i, row := range rows {
		style := extension.Style{FG: &extension.Color{R: 220, G: 160, B: 60}}
		if i == t.selected {
			style.Modifier = reversed
		}
		b.Text(1, i+2, fmt.Sprintf("%-40s %3d of %3d  %s", row.Task, row.Flaky, row.Runs, bar(row)), style)
	}
	if len(rows) == 0 {
		b.Text(1, 2, "no task was flaky", extension.Style{})
	}
	b.Text(1, b.Height-1, "up and down select, d forgets a task, q ends", extension.Style{Modifier: dim})
	return nil
}

// The bits of a modifier that this screen uses.
const (
	bold     = 1
	dim      = 2
	reversed = 64
)

func bar(row *row) string { return strings.Repeat("#", max(1, 20*row.Flaky/max(1, row.Runs))) }

// Key moves the selection.
func (t *tracker) Key(_ context.Context, _ *extension.Client, k extension.Key) error {
	switch {
	case k.Code.Type == "down":
		t.selected++
	case k.Code.Type == "up":
		t.selected--
	case k.Code.Ch == "d":
		if rows := t.tasks.flaky(); t.selected < len(rows) {
			delete(t.tasks, rows[t.selected].Task)
			return t.tasks.save()
		}
	}
	return nil
}

// Mouse selects the task under a click.
func (t *tracker) Mouse(_ context.Context, _ *extension.Client, m extension.Mouse) error {
	if m.Kind.Type == "down" && m.Row >= 2 {
		t.selected = m.Row - 2
	}
	return nil
}

func main() { extension.Main(&tracker{}) }
