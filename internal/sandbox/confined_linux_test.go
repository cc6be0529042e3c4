package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/sandbox/sandboxtest"
)

// The test binary is also the helper that Start runs, and the programs that are
// confined.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == Command {
		_ = Enter(os.Args[2:])
		os.Exit(126)
	}
	if len(os.Args) > 2 && os.Args[1] == RulesCommand {
		fmt.Fprintln(os.Stderr, EnterRules(os.Args[2:]))
		os.Exit(126)
	}
	if len(os.Args) > 2 && os.Args[1] == "nobody" {
		fmt.Println(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534), syscall.Exec(os.Args[2], os.Args[2:], os.Environ()))
		os.Exit(126)
	}
	if len(os.Args) > 2 && os.Args[1] == "probe" {
		probe(os.Args[2:])
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "without" {
		without(os.Args[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// needLandlock skips a test on a kernel with an older version of Landlock.
func needLandlock(t *testing.T, version int) {
	t.Helper()
	if got := Offered().Landlock; got < version {
		t.Skipf("this kernel has Landlock %d, not %d", got, version)
	}
}

func needSeccomp(t *testing.T) {
	t.Helper()
	if !Offered().Seccomp {
		t.Skip("this kernel has no seccomp filters")
	}
}

// probe is a confined program: it tries what its arguments say, "verb:path" or a
// verb, and prints a line of each: "ok" or why not.
func probe(args []string) {
	for _, arg := range args {
		verb, path, _ := strings.Cut(arg, ":")
		err := attempt(verb, path)
		result := "ok"
		if err != nil {
			result = err.Error()[strings.LastIndex(err.Error(), ":")+1:]
		}
		fmt.Printf("%s\n", result)
	}
}

func attempt(verb, path string) error {
	switch verb {
	case "read":
		_, err := os.ReadFile(path)
		return err
	case "list":
		_, err := os.ReadDir(path)
		return err
	case "write":
		return os.WriteFile(path, []byte("x"), 0o644)
	case "truncate":
		return os.Truncate(path, 0)
	case "remove":
		return os.Remove(path)
	case "rename":
		return os.Rename(path, path+".moved")
	case "link":
		return os.Link(path, filepath.Join(filepath.Dir(path), "scratch", "linked"))
	case "mkdir":
		return os.Mkdir(path, 0o755)
	case "run":
		return exec.Command(path).Run()
	case "device":
		return unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
	case "signal":
		pid, err := strconv.Atoi(path)
		if err != nil {
			return err
		}
		return syscall.Kill(pid, 0)
	case "ring":
		_, _, errno := unix.Syscall(ioUringSetup, 1, 0, 0)
		if errno == unix.EPERM {
			return errno
		}
		return nil // with these arguments it fails in another way, or is not there
	case "limit":
		pid, err := strconv.Atoi(path)
		if err != nil {
			return err
		}
		return unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &unix.Rlimit{})
	case "call": // with these arguments each fails in another way than EPERM
		nr, err := strconv.Atoi(path)
		if err != nil {
			return err
		}
		const none = ^uintptr(0)
		if _, _, errno := unix.RawSyscall6(uintptr(nr), none, none, none, none, none, none); errno == unix.EPERM {
			return errno
		}
		return nil
	case "descriptor":
		fd, err := strconv.Atoi(path)
		if err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte("x"))
		return err
	case "pair":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	case "again": // in a child, which is confined too
		out, err := exec.Command(os.Args[0], "probe", path).CombinedOutput()
		if result := strings.TrimSpace(string(out)); err == nil && result != "ok" {
			err = errors.New(result)
		}
		return err
	}
	return attemptSocket(verb, path)
}

func attemptSocket(family, path string) error {
	domain := map[string]int{"inet": unix.AF_INET, "inet6": unix.AF_INET6, "unix": unix.AF_UNIX, "netlink": unix.AF_NETLINK, "packet": unix.AF_PACKET}[family]
	if path == "" {
		_, err := unix.Socket(domain, unix.SOCK_DGRAM, 0)
		return err
	}
	conn, err := net.Dial("tcp", path)
	if err == nil {
		conn.Close()
	}
	return err
}

// expect runs the probes under p and compares.
func expect(t *testing.T, p Policy, want ...[2]string) {
	t.Helper()
	argv := []string{self(t), "probe"}
	for _, w := range want {
		argv = append(argv, w[0])
	}
	lines := strings.Split(strings.TrimSpace(run(t, withSelf(t, p), argv...)), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d results of %d probes: %q", len(lines), len(want), lines)
	}
	for i, w := range want {
		if got := strings.TrimSpace(lines[i]); got != w[1] {
			t.Errorf("%s: got %q, want %q", w[0], got, w[1])
		}
	}
}

const denied = "permission denied"

func TestFilesAreConfined(t *testing.T) {
	needLandlock(t, truncates)
	dir := t.TempDir()
	for _, name := range []string{"scratch", "seen", "hidden"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "file"), []byte("#!/bin/sh\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	at := func(verb, name string) string { return verb + ":" + filepath.Join(dir, name) }
	p := Policy{Read: []string{filepath.Join(dir, "seen"), filepath.Join(dir, "missing")}, Write: []string{filepath.Join(dir, "scratch")}}
	expect(t, p,
		[2]string{at("read", "seen/file"), "ok"}, [2]string{at("list", "seen"), "ok"}, [2]string{at("run", "seen/file"), "ok"},
		[2]string{at("write", "seen/file"), denied}, [2]string{at("truncate", "seen/file"), denied}, [2]string{at("remove", "seen/file"), denied},
		[2]string{at("rename", "seen/file"), denied}, [2]string{at("mkdir", "seen/new"), denied}, [2]string{at("write", "seen/new"), denied},
		[2]string{at("read", "hidden/file"), denied}, [2]string{at("list", "hidden"), denied}, [2]string{at("run", "hidden/file"), denied},
		[2]string{at("write", "hidden/file"), denied}, [2]string{at("truncate", "hidden/file"), denied}, [2]string{at("list", "."), denied},
		[2]string{at("write", "scratch/new"), "ok"}, [2]string{at("mkdir", "scratch/sub"), "ok"}, [2]string{at("write", "scratch/sub/new"), "ok"},
		[2]string{at("rename", "scratch/file"), "ok"}, [2]string{at("truncate", "scratch/new"), "ok"}, [2]string{at("remove", "scratch/new"), "ok"},
		[2]string{at("device", "scratch/null"), denied},
		[2]string{at("again:write", "seen/file"), denied}, [2]string{at("again:write", "scratch/other"), "ok"},
		[2]string{"write:/dev/null", "ok"}, [2]string{"read:/etc/hostname", "ok"}, [2]string{"run:/bin/true", "ok"},
	)
	if data, err := os.ReadFile(filepath.Join(dir, "hidden", "file")); err != nil || len(data) == 0 {
		t.Errorf("the hidden file: %q, %v", data, err)
	}
}

// A file that may not be read stays unreadable under another name.
func TestLinksLeadNowhere(t *testing.T) {
	needLandlock(t, 2)
	dir := t.TempDir()
	scratch := filepath.Join(dir, "scratch")
	if err := os.Mkdir(scratch, 0o777); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(scratch, "symlink")); err != nil {
		t.Fatal(err)
	}
	expect(t, Policy{Write: []string{scratch}},
		[2]string{"read:" + filepath.Join(scratch, "symlink"), denied},
		[2]string{"write:" + filepath.Join(scratch, "symlink"), denied},
		[2]string{"link:" + secret, linkDenied()},
	)
}

// linkDenied returns the error of link(2) for two directories with different rights.
func linkDenied() string { return unix.EXDEV.Error() }

// The environment and the process of bento itself are out of reach: otherwise a program can read
// another process of the same user like a file.
func TestOthersAreOutOfReach(t *testing.T) {
	needLandlock(t, 6)
	parent := strconv.Itoa(os.Getpid())
	expect(t, Policy{},
		[2]string{"read:/proc/" + parent + "/environ", denied},
		[2]string{"read:/proc/" + parent + "/mem", denied},
		[2]string{"signal:" + parent, "operation not permitted"},
	)
}

// A descriptor that bento has inherited stays with bento: through it a confined program could
// write a file that the policy forbids.
func TestInheritedDescriptorsStay(t *testing.T) {
	needLandlock(t, truncates)
	path := filepath.Join(t.TempDir(), "log")
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT, 0o666) // not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(high)
	const no = "bad file descriptor"
	expect(t, Policy{}, [2]string{"descriptor:" + strconv.Itoa(fd), no}, [2]string{"descriptor:" + strconv.Itoa(high), no})
	if data, err := os.ReadFile(path); err != nil || len(data) > 0 {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

func TestNetwork(t *testing.T) {
	needSeccomp(t)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	const no = "operation not permitted"
	to := "inet:" + server.Addr().String()
	expect(t, Policy{},
		[2]string{to, no}, [2]string{"inet", no}, [2]string{"inet6", no}, [2]string{"unix", no}, [2]string{"netlink", no}, [2]string{"packet", no},
		[2]string{"ring", no}, [2]string{"pair", "ok"}, [2]string{"again:inet", no},
	)
	expect(t, Policy{Network: true}, [2]string{to, "ok"}, [2]string{"inet", "ok"}, [2]string{"unix", "ok"}, [2]string{"ring", "ok"})
}

// What no file and no signal protects is out of reach as well, for an install too:
// another process's limits, shared memory, semaphores, message queues and key rings.
func TestNoCallReachesOthers(t *testing.T) {
	needSeccomp(t)
	const no = "operation not permitted"
	want := [][2]string{{"limit:0", "ok"}, {"limit:" + strconv.Itoa(os.Getpid()), no}, {"again:limit:" + strconv.Itoa(os.Getpid()), no}}
	for _, nr := range []int{
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	} {
		want = append(want, [2]string{"call:" + strconv.Itoa(nr), no})
	}
	expect(t, Policy{}, want...)
	expect(t, Policy{Network: true}, want...)
}

// A 32-bit program makes its calls in another way, and a call of an unknown way ends
// it. The filter is run here as the kernel does it.
func TestFilter(t *testing.T) {
	kinds := []abi{
		{arch: 1, sockets: []uint32{41, 425}, others: []uint32{29}, prlimit: 302, above: 1000},
		{arch: 2, sockets: []uint32{359, 102, 425}, others: []uint32{117}, prlimit: 340},
	}
	const (
		yes  = unix.SECCOMP_RET_ALLOW
		no   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		ends = unix.SECCOMP_RET_KILL_PROCESS
	)
	for _, c := range []struct{ arch, nr, argument, want, network uint32 }{
		{1, 0, 7, yes, yes}, {1, 41, 0, no, yes}, {1, 40, 7, yes, yes}, {1, 42, 7, yes, yes}, {1, 425, 0, no, yes}, {1, 359, 7, yes, yes},
		{1, 999, 7, yes, yes}, {1, 1000, 0, no, no}, {1, 1041, 0, no, no}, {1, 1 << 31, 0, no, no},
		{1, 29, 0, no, no}, {1, 302, 0, yes, yes}, {1, 302, 7, no, no}, {1, 340, 7, yes, yes}, {1, 117, 7, yes, yes},
		{2, 41, 7, yes, yes}, {2, 102, 0, no, yes}, {2, 359, 0, no, yes}, {2, 425, 0, no, yes}, {2, 1000, 7, yes, yes},
		{2, 117, 0, no, no}, {2, 340, 0, yes, yes}, {2, 340, 7, no, no}, {2, 302, 7, yes, yes},
		{3, 0, 0, ends, ends}, {3, 41, 0, ends, ends}, {0, 41, 0, ends, ends},
	} {
		data := map[uint32]uint32{offsetArch: c.arch, offsetNr: c.nr, offsetArgument: c.argument}
		for network, want := range map[bool]uint32{false: c.want, true: c.network} {
			if got := verdict(t, filter(kinds, network), data); got != want {
				t.Errorf("call %d(%d) of kind %d, network %t: %#x, want %#x", c.nr, c.argument, c.arch, network, got, want)
			}
		}
	}
}

// verdict runs a filter on one call.
func verdict(t *testing.T, program []unix.SockFilter, data map[uint32]uint32) uint32 {
	t.Helper()
	var a uint32
	for pc := 0; pc < len(program); pc++ {
		in := program[pc]
		var yes bool
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = data[in.K]
			continue
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			yes = a == in.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			yes = a >= in.K
		default:
			t.Fatalf("instruction %+v", in)
		}
		if yes {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

// A ruleset has only rights that the version knows: an older kernel refuses others.
func TestRuleset(t *testing.T) {
	for version, want := range map[int][3]uint64{
		1: {0x1fff, 0, 0}, 2: {0x3fff, 0, 0}, 3: {0x7fff, 0, 0}, 4: {0x7fff, 3, 0}, 5: {0xffff, 3, 0}, 6: {0xffff, 3, 3}, 7: {0xffff, 3, 3}, 99: {0xffff, 3, 3},
	} {
		attr := ruleset(version, false)
		if got := [3]uint64{attr.Handled_access_fs, attr.Handled_access_net, attr.Scoped}; got != want {
			t.Errorf("version %d: %#x, want %#x", version, got, want)
		}
		if net := ruleset(version, true).Handled_access_net; net != 0 {
			t.Errorf("version %d denies %#x of a network that is allowed", version, net)
		}
	}
}

// without prints what the kernel offers if it does not know a call.
func without(call string) {
	err := sandboxtest.Without(call)
	fmt.Println(Offered().Lacks(), err)
}

// A kernel that lacks something is seen to lack it.
func TestOfferedByLesserKernels(t *testing.T) {
	needSeccomp(t)
	for call, want := range map[string]string{"landlock": "no Landlock", "seccomp": "no seccomp filters"} {
		out, err := exec.Command(self(t), "without", call).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || !strings.HasSuffix(string(out), " <nil>\n") {
			t.Errorf("without %s: %v: %s, want %q", call, err, out, want)
		}
	}
}

// A program that is handed down as a descriptor is confined as well, and a script's
// interpreter can read it there, though it has no path that a policy could name.
func TestProgramFromADescriptor(t *testing.T) {
	needLandlock(t, 1)
	dir := t.TempDir()
	hidden := filepath.Join(dir, "hidden")
	if err := os.WriteFile(hidden, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.MemfdCreate("program", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	script := os.NewFile(uintptr(fd), "program")
	defer script.Close()
	if _, err := fmt.Fprintf(script, "#!/bin/sh\necho runs\ncat %s 2>/dev/null || echo denied\n", hidden); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	child, err := Start(proc.Spec{
		Argv: []string{filepath.Join(dir, "gone")}, Program: "/proc/self/fd/3", Files: []*os.File{script}, Env: os.Environ(), Stdout: &out,
	}, Policy{Read: append(System(), self(t))}, self(t))
	if err != nil {
		t.Fatal(err)
	}
	child.Wait(t.Context())
	if out.String() != "runs\ndenied\n" {
		t.Errorf("%q", out.String())
	}
}
