package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/plan"
)

// TaskList is the document of `bento tasks`.
type TaskList struct {
	Schema  string    `json:"schema"`
	Entries []TaskRow `json:"entries"`
}

// TaskRow is a task.
type TaskRow struct {
	ID          string   `json:"id"` // "dish:task"
	Dish        string   `json:"dish"`
	Name        string   `json:"name"`
	Run         string   `json:"run"`
	Description string   `json:"description,omitempty"`
	Group       string   `json:"group,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
	Confirm     string   `json:"confirm,omitempty"` // the question before it runs
	Persistent  bool     `json:"persistent,omitempty"`
	Interactive bool     `json:"interactive,omitempty"`
}

// NewTaskRow describes a task.
func NewTaskRow(t *plan.Task) TaskRow {
	row := TaskRow{ID: t.ID(), Dish: t.Dish.Name, Name: t.Name, Run: t.Run, Persistent: t.Persistent, Interactive: t.Interactive}
	if t.About != nil {
		row.Description, row.Group, row.Confirm = t.About.Description, t.About.Group, t.About.Confirm
		for _, alias := range t.About.Aliases {
			row.Aliases = append(row.Aliases, alias.Text)
		}
	}
	return row
}

// WriteTaskList prints the tasks for people: those without a group, then each group below its name. commands also
// prints the commands of tasks with a description.
func WriteTaskList(w io.Writer, style Style, doc TaskList, commands bool) {
	if len(doc.Entries) == 0 {
		fmt.Fprintln(w, "no tasks")
	}
	groups := []string{""}
	for _, t := range doc.Entries {
		if !slices.Contains(groups, t.Group) {
			groups = append(groups, t.Group)
		}
	}
	for _, group := range groups {
		if group != "" {
			fmt.Fprintf(w, "\n[%s]\n", PrintableLine(group))
		}
		for _, t := range doc.Entries {
			if t.Group == group {
				t.write(w, style, commands)
			}
		}
	}
}

// write prints a task: its description, or its command if it has none.
func (t TaskRow) write(w io.Writer, style Style, commands bool) {
	command, _, _ := strings.Cut(strings.TrimSpace(t.Run), "\n")
	text, _, _ := strings.Cut(t.Description, "\n")
	if text == "" {
		text, commands = command, false
	}
	line := style.Bold(fmt.Sprintf("%-20s", PrintableLine(t.ID))) + "  " + PrintableLine(text)
	for _, note := range t.notes() {
		line += style.Dim("  (" + PrintableLine(note) + ")")
	}
	fmt.Fprintln(w, line)
	if commands {
		fmt.Fprintf(w, "%-20s  %s\n", "", style.Dim(PrintableLine(command)))
	}
}

// notes returns what a list says of a task in brackets.
func (t TaskRow) notes() (list []string) {
	if len(t.Aliases) > 0 {
		list = append(list, "also "+strings.Join(t.Aliases, ", "))
	}
	if t.Confirm != "" {
		list = append(list, "asks first")
	}
	switch {
	case t.Persistent:
		list = append(list, "persistent")
	case t.Interactive:
		list = append(list, "interactive")
	}
	return list
}
