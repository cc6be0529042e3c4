package companion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/plugin/sep"
)

// TestMessages: the findings and results of tasks become messages, and the code owners become contacts.
func TestMessages(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "docs", "CODEOWNERS"), []byte("* @web\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := newFeed(root)
	task := &plan.Task{Dish: &dish.Dish{Name: "web"}, Name: "build"}
	message(f, run.TaskStarted{Task: task})
	message(f, run.TaskFinished{Result: &run.Result{
		Task: task, Outcome: run.Failed, Message: "exited with status 1",
		Diagnostics: slices.Repeat([]diagnostics.Diagnostic{{File: "web/a.ts", Line: 3, Col: 1, Severity: diagnostics.Error, Message: "no"}}, maxMessages+2),
	}})
	page, err := f.Messages(t.Context(), sep.MessageQuery{Limit: 200})
	if err != nil || len(page.Messages) != maxMessages+2 {
		t.Fatalf("%d messages, %v", len(page.Messages), err)
	}
	var said []string
	for _, m := range append(page.Messages[:1:1], page.Messages[maxMessages:]...) {
		said = append(said, m.Conversation+" | "+m.Content)
	}
	want := []string{"web:build | error: web/a.ts:3:1: no", "web:build | 2 more findings", "web:build | web:build: failed: exited with status 1"}
	if !slices.Equal(said, want) {
		t.Errorf("got %q, want %q", said, want)
	}
	contacts, err := f.Contacts(t.Context(), sep.ContactQuery{Limit: 10})
	if err != nil || len(contacts.Contacts) != 1 || contacts.Contacts[0].ID != "@web" {
		t.Errorf("got %+v, %v", contacts, err)
	}
}

// TestOwnersStayInside: bento does not read code owners behind a link out of the workspace.
func TestOwnersStayInside(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("* @secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "CODEOWNERS")); err != nil {
		t.Fatal(err)
	}
	if got := owners(root); len(got) > 0 {
		t.Errorf("got %s", strings.Join(got, " "))
	}
}
