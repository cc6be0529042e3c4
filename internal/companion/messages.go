package companion

import (
	"fmt"

	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/plugin/sep"
)

// maxMessages is the maximal number of findings of one task that become messages.
const maxMessages = 100

// newFeed returns the messages and contacts of the workspace at root, for extensions of SEP v1.
func newFeed(root string) *sep.Feed {
	return sep.NewFeed(func() []string { return owners(root) })
}

// owners returns the code owners of the workspace at root. It ignores unreadable files.
func owners(root string) []string {
	for _, name := range []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"} {
		if data, err := content(root, name, 3<<20); err == nil {
			return sep.ParseOwners(data)
		}
	}
	return nil
}

// message adds the findings and the result of a task to the feed. The messages have no other output of the task.
func message(feed *sep.Feed, ev run.Event) {
	end, ok := ev.(run.TaskFinished)
	if !ok {
		return
	}
	r := end.Result
	task, at := r.Task.ID(), now()
	for i, d := range r.Diagnostics {
		if i == maxMessages {
			feed.Add(task, fmt.Sprintf("%d more findings", len(r.Diagnostics)-i), at)
			break
		}
		feed.Add(task, string(d.Severity)+": "+d.String(), at)
	}
	text := fmt.Sprintf("%s: %s", task, r.Outcome)
	if r.Message != "" {
		text += ": " + r.Message
	}
	feed.Add(task, text, at)
}
