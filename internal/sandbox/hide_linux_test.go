package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// needMounts skips a test if no mount namespace can be made.
func needMounts(t *testing.T) {
	t.Helper()
	flags := "-m"
	if os.Geteuid() != 0 {
		flags = "-Um"
	}
	if err := exec.Command("unshare", flags, "true").Run(); err != nil {
		t.Skipf("no mount namespace can be made: %v", err)
	}
}

// A hidden directory is empty and cannot be changed, except for writable paths in it. Directories
// around it can be changed. Outside of the sandbox it is unchanged.
func TestHidden(t *testing.T) {
	needLandlock(t, truncates)
	needMounts(t)
	root := t.TempDir()
	own := filepath.Join(root, "own")
	scratch := filepath.Join(own, "tmp", "scratch")
	if err := errors.Join(os.MkdirAll(scratch, 0o777), os.WriteFile(filepath.Join(own, "secret"), []byte("s"), 0o666)); err != nil {
		t.Fatal(err)
	}
	p := Policy{Read: []string{root}, Write: []string{root, scratch}, Hide: []string{own}}
	const gone, fixed = "no such file or directory", "read-only file system"
	expect(t, p,
		[2]string{"list:" + own, "ok"}, [2]string{"read:" + own + "/secret", gone},
		[2]string{"write:" + own + "/new", fixed}, [2]string{"mkdir:" + own + "/tmp/new", fixed}, [2]string{"again:write:" + own + "/new", fixed},
		[2]string{"rename:" + own, "device or resource busy"},
		[2]string{"write:" + scratch + "/made", "ok"}, [2]string{"read:" + scratch + "/made", "ok"}, [2]string{"write:" + root + "/made", "ok"},
	)
	for _, path := range []string{own + "/secret", scratch + "/made", root + "/made"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// Who is not root gets a user namespace for it, in which he stays who he is.
func TestHiddenFromAUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become a user; TestHidden is the same for a user")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("setpriv is not installed")
	}
	dir, err := os.MkdirTemp("", "hidden")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, temp := filepath.Join(dir, "test"), filepath.Join(dir, "tmp")
	data, err := os.ReadFile(self(t))
	if err := errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(program, data, 0o755), os.Mkdir(temp, 0o777), os.Chown(temp, 47110, 47110)); err != nil {
		t.Fatal(err)
	}
	if unix.Access(filepath.Dir(dir), unix.X_OK) != nil {
		t.Skip("users cannot reach the directory for temporary files")
	}
	cmd := exec.Command(setpriv, "--reuid=47110", "--regid=47110", "--clear-groups", program, "-test.v", "-test.run=^TestHidden$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v: %s", err, out)
	}
}
