package testrun

import (
	"os"
	"testing"
)

// The parent of the process that runs the test is the process of the other tests, which has run it once.
func TestAlone(t *testing.T) {
	mark := os.Getenv("BENTO_TEST_ALONE_MARK")
	if mark == "" {
		mark = t.TempDir() + "/ran"
		t.Setenv("BENTO_TEST_ALONE_MARK", mark)
	}
	if !Alone(t) {
		if text, err := os.ReadFile(mark); err != nil || string(text) != "ran" {
			t.Errorf("%q, %v", text, err)
		}
		return
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran twice")
	}
	if err := os.WriteFile(mark, []byte("ran"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAloneSkips(t *testing.T) {
	if Alone(t) {
		t.Skip("the reason")
	}
	t.Error("the skip of the other process was lost")
}
