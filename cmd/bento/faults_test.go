package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// faults are the numbers of the faults of an older tool of this name, which bento must not have. The test that
// shows the absence of a fault names it. D5 and D6 are left out: they are faults of a remote cache. D11 is: a
// dish that moves has other keys. D12 is: each task keeps its own list of inputs.
var faults = []string{
	"A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "A10", "A11", "A12", "A13", "A14", "A15", "A16", "A17", "A18", "A19", "A20",
	"B7", "B8", "B21", "B28",
	"D1", "D2", "D3", "D4", "D7", "D8", "D9", "D10", "D11", "D12",
}

// TestFaultsAreNamed checks that each number is in a comment of a test.
func TestFaultsAreNamed(t *testing.T) {
	named := make(map[string]bool)
	number := regexp.MustCompile(`\b[A-F][0-9]{1,2}\b`)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") {
			return err
		}
		data, err := os.ReadFile(path)
		for line := range strings.Lines(string(data)) {
			if text := strings.TrimSpace(line); strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#") {
				for _, id := range number.FindAllString(text, -1) {
					named[id] = true
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range faults {
		if !named[id] {
			t.Errorf("no test names the fault %s", id)
		}
	}
}
