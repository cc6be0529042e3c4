package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// history is what is known of tasks, by id.
type history map[string]*row

// row is what is known of one task.
type row struct {
	Task   string `json:"task"`
	Runs   int    `json:"runs"` // that executed it
	Flaky  int    `json:"flaky"`
	Failed string `json:"failed,omitempty"` // the key of its last failure
}

// finished is what is read of task.finished.
type finished struct {
	Task    string
	Outcome string
	Key     *string
	Flaky   bool
}

// note notes the end of a task, and reports whether that changes anything.
func (h history) note(end *finished) bool {
	if end.Outcome != "built" && end.Outcome != "failed" {
		return false
	}
	r := h[end.Task]
	if r == nil {
		r = &row{Task: end.Task}
		h[end.Task] = r
	}
	r.Runs++
	key := ""
	if end.Key != nil {
		key = *end.Key
	}
	switch {
	case end.Outcome == "failed":
		r.Failed = key
	case end.Flaky, key != "" && key == r.Failed:
		r.Flaky++
		r.Failed = ""
	}
	return true
}

// flaky returns the tasks that were flaky, the worst first.
func (h history) flaky() []*row {
	var rows []*row
	for _, r := range h {
		if r.Flaky > 0 {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int {
		if a.Flaky != b.Flaky {
			return b.Flaky - a.Flaky
		}
		return strings.Compare(a.Task, b.Task)
	})
	return rows
}

// file is where the history is kept: in the directory that bento makes for the extension.
func file() string { return filepath.Join(os.Getenv("BENTO_EXTENSION_DATA"), "history.json") }

func load() (history, error) {
	h := history{}
	data, err := os.ReadFile(file())
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	return h, json.Unmarshal(data, &h)
}

func (h history) save() error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.%d", file(), os.Getpid())
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, file())
}
