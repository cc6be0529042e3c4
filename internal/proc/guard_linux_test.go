package proc

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The guard signals no process that was given the number of a group that has ended.
func TestReusedGroups(t *testing.T) {
	began, ok := startOf(os.Getpid())
	if now := ticks(); !ok || began == 0 || began > now {
		t.Fatalf("this process began at %d (%v), and it is %d", began, ok, now)
	}
	for want, added := range map[bool]uint64{false: began, true: began - 10*ticksPerSecond} {
		if g := (group{id: os.Getpid(), added: uint32(added)}); g.isReused() != want {
			t.Errorf("added %d ticks before it began: reused %v, want %v", began-added, !want, want)
		}
	}
}

// A group that has ended is signalled once at most.
func TestEndedGroupsAreDropped(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	table, err := newGroups()
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	table.Add(cmd.Process.Pid)
	_, list := readGroups(int(table.File().Fd()))
	r := remains{of: os.Getpid(), groups: list}
	if len(list) != 1 || list[0].id != cmd.Process.Pid || !r.signal(0) {
		t.Fatalf("groups %v, want that of %d", list, cmd.Process.Pid)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if r.signal(unix.SIGTERM) || len(r.groups) != 0 {
		t.Errorf("groups %v after the end", r.groups)
	}
}

// A guard keeps the files of the last message open, even if it has not received the message yet when
// its parent dies.
func TestGuardHoldsFiles(t *testing.T) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	parent := os.NewFile(uintptr(ends[1]), "parent")
	readers := make([]*os.File, 2)
	for i := range readers {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		readers[i] = r
		if err := pass(parent, []*os.File{w}); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	parent.Close()
	held := holdUntilEnd(ends[0])
	unix.Close(ends[0])
	if n, err := readers[0].Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the first file: %d, %v, want it closed", n, err)
	}
	if len(held) != 1 {
		t.Fatalf("%d files are held, want the last one", len(held))
	}
	if _, err := unix.Write(held[0], []byte{7}); err != nil {
		t.Error(err)
	}
	unix.Close(held[0])
	got := make([]byte, 1)
	if n, err := readers[1].Read(got); n != 1 || got[0] != 7 {
		t.Errorf("the last file: %d %v %v", n, got, err)
	}
}
