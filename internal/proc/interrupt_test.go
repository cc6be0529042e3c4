//go:build linux

package proc

import (
	"context"
	"strings"
	"testing"
	"time"
)

// interrupted runs a script until it has written a line, and then interrupts it as Ctrl-C does.
func interrupted(t *testing.T, script string, grace time.Duration) Result {
	t.Helper()
	s := shell(t, script)
	s.Grace = grace
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s.Stdout = writerFunc(func([]byte) { cancel(ErrInterrupt) })
	s.Stderr = s.Stdout
	res, _ := run(t, ctx, s)
	if !res.Canceled {
		t.Errorf("not canceled: %+v", res)
	}
	return res
}

func TestInterruptComesFirst(t *testing.T) {
	const loop = "; echo ready; while :; do sleep 0.01; done"
	for name, c := range map[string]struct {
		script string
		grace  time.Duration
		code   int
		killed bool
	}{
		"handled":      {"trap 'exit 7' INT; trap 'exit 8' TERM" + loop, time.Minute, 7, false},
		"not handled":  {"echo ready; exec sleep 1000", time.Minute, 130, false},
		"ignored":      {"trap '' INT; trap 'exit 8' TERM" + loop, 100 * time.Millisecond, 8, false},
		"both ignored": {"trap '' INT TERM" + loop, 100 * time.Millisecond, 137, true},
		// A job of a shell ignores SIGINT: it gets SIGTERM once the shell has exited, without the grace.
		"a job":                 {"sleep 1000 & trap 'exit 7' INT; echo ready; wait", time.Minute, 7, false},
		"a job of its own":      {"setsid sleep 1000 & trap 'exit 7' INT; echo ready; wait", time.Minute, 7, false},
		"a job that ignores it": {"trap 'exit 7' INT; (trap '' TERM; echo ready; sleep 1000; sleep 1000) & wait", 300 * time.Millisecond, 7, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if res := interrupted(t, c.script, c.grace); res.ExitCode != c.code || res.Killed != c.killed {
				t.Errorf("%+v", res)
			}
		})
	}
}

// A process outside of the group gets SIGINT from its own leader, and must not get it twice.
func TestInterruptReachesTheGroupOnly(t *testing.T) {
	var out strings.Builder
	s := shell(t, `trap 'exit 7' INT; setsid sh -c 'trap "echo INT" INT; trap "exit 0" TERM; echo up; while :; do sleep 0.01; done' & wait`)
	s.Grace = time.Minute
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s.Stdout = writerFunc(func(p []byte) { out.Write(p); cancel(ErrInterrupt) })
	if res, _ := run(t, ctx, s); res.ExitCode != 7 || out.String() != "up\n" {
		t.Errorf("%+v, printed %q", res, out.String())
	}
}

func TestOtherEndsSendNoInterrupt(t *testing.T) {
	s := shell(t, "trap 'exit 7' INT; trap 'exit 8' TERM; echo ready; while :; do sleep 0.01; done")
	s.Grace = time.Minute
	if res, _ := run(t, until(t, &s), s); res.ExitCode != 8 {
		t.Errorf("%+v", res)
	}
}

// A second Ctrl-C kills at once.
func TestHurryCutsTheGrace(t *testing.T) {
	s := shell(t, "trap 'echo INT' INT; trap '' TERM; echo ready; while :; do sleep 0.01; done")
	s.Grace = 10 * time.Minute
	now, hurry := context.WithCancel(t.Context())
	defer hurry()
	ctx, cancel := context.WithCancelCause(Hurried(t.Context(), now))
	defer cancel(nil)
	s.Stdout = writerFunc(func(p []byte) {
		if strings.Contains(string(p), "INT") {
			hurry()
		}
		cancel(ErrInterrupt)
	})
	res, _ := run(t, ctx, s)
	if res.ExitCode != 137 || !res.Killed || !IsHurried(ctx) || res.Duration > s.Grace {
		t.Errorf("%+v", res)
	}
}
