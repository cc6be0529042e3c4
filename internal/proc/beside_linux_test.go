package proc

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestBeside: the end of a child leaves daemons alone that this process has not started by Start.
func TestBeside(t *testing.T) {
	p, err := Start(Spec{Argv: []string{"/bin/sleep", "1000"}, Beside: true})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/bin/sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	daemon, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Wait4(daemon, nil, 0, nil)
	defer syscall.Kill(daemon, syscall.SIGKILL)
	p.Kill()
	p.Wait(t.Context())
	if process, zombie, ok := statProcess(daemon); !ok || zombie {
		t.Errorf("the daemon is gone: %+v", process)
	}
}
