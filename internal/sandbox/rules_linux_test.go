package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc"
)

// confined runs a program confined to r, and returns what it prints.
func confined(t *testing.T, r Rules, shell []string, argv ...string) (string, int) {
	t.Helper()
	if why := Offered().LacksRules(r.Network); why != "" {
		t.Skip(why)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	spec, started, err := r.Confine(proc.Spec{Argv: argv, Dir: r.Root, Env: os.Environ(), Stdout: &out, Stderr: &out}, shell, self)
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.Start(spec)
	started()
	if err != nil {
		t.Fatal(err)
	}
	code := p.Wait(t.Context()).ExitCode
	return out.String(), code
}

func TestRules(t *testing.T) {
	around, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(around, "root")
	for _, name := range []string{"root/in", "root/dir/in", "root/other", "root/full/a", "root/full/old/b", "caches/c", "beside"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(around, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(around, name), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"back": "root", "root/link": "other", "root/out": "../beside"} {
		if err := os.Symlink(target, filepath.Join(around, link)); err != nil {
			t.Fatal(err)
		}
	}
	self := filepath.Join(root, "self") // where another user may execute it
	copied, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(self, copied, 0o777); err != nil {
		t.Fatal(err)
	}
	r := Rules{
		Root: root, Read: []string{root + "/in", root + "/dir", root + "/link", root + "/missing", self}, Full: []string{root + "/full"},
		Write: []string{around + "/caches", around, around + "/none"},
	}
	var probes, want []string
	for _, c := range [][2]string{
		{"read:in", "ok"}, {"read:dir/in", "ok"}, {"read:other", "denied"}, {"read:link", "denied"}, {"read:out", "ok"},
		{"read:missing", "none"}, {"list:.", "ok"}, {"list:full", "ok"},
		{"read:../beside", "ok"}, {"read:../back/other", "denied"}, {"read:../back/in", "ok"}, {"list:/", "ok"},
		{"write:in", "denied"}, {"write:new", "denied"}, {"write:../new", "denied"}, {"write:../beside", "denied"},
		{"write:full/a", "ok"}, {"write:full/new", "ok"}, {"read:full/new", "ok"}, {"remove:full/old/b", "ok"}, {"write:../caches/new", "ok"},
		{"remove:in", "denied"}, {"truncate:in", "denied"},
	} {
		if c[0] == "truncate:in" && Offered().Landlock < truncates {
			continue
		}
		verb, path, _ := strings.Cut(c[0], ":")
		if !filepath.IsAbs(path) {
			path = root + "/" + path
		}
		probes, want = append(probes, verb+":"+path), append(want, c[0]+" "+c[1])
	}
	for _, as := range []string{"", "nobody"} {
		t.Run(as, func(t *testing.T) {
			argv := append([]string{self, "probe"}, probes...)
			if as != "" {
				if os.Geteuid() != 0 {
					t.Skip("only root can become another user")
				}
				_ = os.Chmod(filepath.Dir(around), 0o755)
				if err := os.WriteFile(root+"/full/old/b", nil, 0o666); err != nil {
					t.Fatal(err)
				}
				_ = filepath.WalkDir(around, func(path string, _ fs.DirEntry, _ error) error { return os.Lchown(path, 65534, 65534) })
				argv = append([]string{self, "nobody"}, argv...)
			}
			printed, _ := confined(t, r, nil, argv...)
			got := strings.Split(strings.TrimSpace(printed), "\n")
			for i := range got {
				switch strings.TrimSpace(got[i]) {
				case "permission denied":
					got[i] = "denied"
				case "no such file or directory":
					got[i] = "none"
				}
				if i < len(want) {
					got[i] = strings.Fields(want[i])[0] + " " + got[i]
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestRulesWithoutNetwork(t *testing.T) {
	root := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	probes := []string{self, "probe", "inet", "inet6", "unix", "netlink"}
	printed, _ := confined(t, Rules{Root: root}, nil, probes...)
	if want := "operation not permitted\noperation not permitted\nok\nok\n"; printed != want {
		t.Errorf("without network: %q, want %q", printed, want)
	}
	printed, _ = confined(t, Rules{Root: root, Network: true}, nil, probes...)
	if strings.Contains(printed, "not permitted") {
		t.Errorf("with network: %q", printed)
	}
}

func TestLocalFilter(t *testing.T) {
	const notPermitted = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	for _, kind := range abis() {
		program := localFilter(abis())
		call := func(nr, family uint32) uint32 {
			return verdict(t, program, map[uint32]uint32{offsetArch: kind.arch, offsetNr: nr, offsetArgument: family})
		}
		for family, want := range map[uint32]uint32{unix.AF_UNIX: unix.SECCOMP_RET_ALLOW, unix.AF_NETLINK: unix.SECCOMP_RET_ALLOW, unix.AF_INET: notPermitted, unix.AF_INET6: notPermitted, unix.AF_PACKET: notPermitted, unix.AF_VSOCK: notPermitted} {
			if got := call(kind.sockets[0], family); got != want {
				t.Errorf("%#x: socket of family %d: %#x, want %#x", kind.arch, family, got, want)
			}
		}
		for _, nr := range kind.sockets[1:] {
			if got := call(nr, unix.AF_UNIX); got == unix.SECCOMP_RET_ALLOW {
				t.Errorf("%#x: call %d is allowed", kind.arch, nr)
			}
		}
		for nr := range uint32(600) {
			if got := call(nr, unix.AF_INET); got != unix.SECCOMP_RET_ALLOW && !slices.Contains(kind.sockets, nr) {
				t.Errorf("%#x: call %d: %#x", kind.arch, nr, got)
			}
		}
		if kind.above != 0 && call(kind.above+1, 0) != notPermitted {
			t.Errorf("%#x: the interface above is allowed", kind.arch)
		}
	}
}

// A program that the kernel cannot execute is left to the shell, and a missing one is named.
func TestRulesProgram(t *testing.T) {
	root := t.TempDir()
	script := filepath.Join(root, "script")
	if err := os.WriteFile(script, []byte("echo from the shell\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	if printed, _ := confined(t, Rules{Root: root, Read: []string{script}}, []string{"/bin/sh", script}, script); printed != "from the shell\n" {
		t.Errorf("printed %q", printed)
	}
	printed, code := confined(t, Rules{Root: root}, nil, filepath.Join(root, "none"))
	if code == 0 || !strings.Contains(printed, "none\" cannot be run: no such file") {
		t.Errorf("exit code %d, printed %q", code, printed)
	}
}

func TestLacksRules(t *testing.T) {
	for _, c := range []struct {
		offer   Offer
		network bool
		want    string
	}{
		{Offer{Landlock: 2, Seccomp: true}, false, ""},
		{Offer{Landlock: 7}, true, ""},
		{Offer{Landlock: 7}, false, "from the network"},
		{Offer{Landlock: 1, Seccomp: true}, false, "renaming"},
		{Offer{Seccomp: true}, false, "reading files"},
	} {
		if got := c.offer.LacksRules(c.network); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.offer, got, c.want)
		}
	}
}
