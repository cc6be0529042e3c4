//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMemoryOfTheMachine: the memory of this machine limits the tasks that run at once. Two tasks that need six
// tenths of it each run one after another; two that need four tenths each run at once.
func TestMemoryOfTheMachine(t *testing.T) {
	t.Parallel()
	bin := builtBento(t)
	needTool(t, "sh")
	kib := machineMemory() >> 10
	if kib == 0 {
		t.Fatal("the memory of this machine is unknown")
	}
	root := t.TempDir()
	write(t, root, "bento.toml", "")
	// Each task keeps the lock until the other has had the time to try.
	const alone = "touch ../tried.%s; mkdir ../lock || exit 1; i=0; while [ ! -e ../tried.%s ] && [ $i -lt 30 ]; do sleep 0.01; i=$((i + 1)); done; rmdir ../lock"
	const text = "language = \"none\"\n[tasks.alone]\nrun = %q\nmemory = \"%dKiB\"\n[tasks.together]\nrun = %q\nmemory = \"%dKiB\"\ntimeout = \"2m\"\n"
	write(t, root, "a/dish.toml", fmt.Sprintf(text, fmt.Sprintf(alone, "a", "b"), kib*6/10, "echo x > ../ab; read x < ../ba", kib*4/10))
	write(t, root, "b/dish.toml", fmt.Sprintf(text, fmt.Sprintf(alone, "b", "a"), kib*6/10, "read x < ../ab; echo x > ../ba", kib*4/10))
	for _, name := range []string{"ab", "ba"} {
		if err := unix.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, task := range []string{"alone", "together"} {
		cmd := exec.Command(bin, "run", task, "-j", "8")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, "cache"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("bento run %s: %v\n%s", task, err, out)
		}
	}
}
