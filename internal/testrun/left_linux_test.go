//go:build linux

package testrun

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A running process is found by its program and by its environment, and an ended one is
// not.
func TestLeft(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "sleep")
	if err := os.Symlink(sleep, link); err != nil {
		t.Fatal(err)
	}
	mark := "PROCTEST_MARK=" + dir
	cmd := exec.Command(link, "1000")
	cmd.Env = []string{mark}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	marked := func() []string {
		return Left("environ", func(env []byte) bool { return bytes.Contains(env, []byte(mark)) })
	}
	for _, found := range [][]string{LeftIn(dir), marked()} {
		if len(found) != 1 || !strings.HasSuffix(found[0], " "+link+" 1000 ") {
			t.Errorf("running: %q", found)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if found := append(LeftIn(dir), marked()...); len(found) > 0 {
		t.Errorf("ended: %q", found)
	}
}
