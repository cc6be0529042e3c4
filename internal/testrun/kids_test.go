package testrun

import (
	"debug/buildinfo"
	"os"
	"runtime/debug"
	"slices"
	"testing"
)

// A child has no race detector, and Run removes its program.
func TestKid(t *testing.T) {
	path := Kid(t)
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Errorf("%s has the race detector", path)
	}
	if self, _ := os.Executable(); path != self {
		Kids(&parallel{}).Run()
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
