package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/bentobuild/bento/plugin/extension"
)

// TestSavesOncePerRun: the history is written at the end of a run that changes it, and only then.
func TestSavesOncePerRun(t *testing.T) {
	t.Setenv("BENTO_EXTENSION_DATA", t.TempDir())
	k := &tracker{tasks: history{}}
	hear := func(topic, data string) {
		t.Helper()
		if err := k.Event(t.Context(), nil, extension.Event{Topic: topic, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	hear("run.finished", "{}")
	for i := range 3 {
		hear("task.finished", fmt.Sprintf(`{"task": "d:%d", "outcome": "built", "flaky": true}`, i))
	}
	hear("task.finished", `{"task": "d:3", "outcome": "hit"}`)
	if _, err := os.Stat(file()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before the end of the run: %v", err)
	}
	hear("run.finished", "{}")
	if saved, err := load(); err != nil || len(saved.flaky()) != 3 {
		t.Fatalf("%v, %v", saved, err)
	}
}
