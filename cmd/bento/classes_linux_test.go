package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

// TestMachineClasses: two systems with the same tools and the same keys share no native result: one has the C library of this
// machine, one has musl and says that it is Alpine. Machines of one system do. The systems are roots of this one, with its /usr.
func TestMachineClasses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root alone changes the root directory")
	}
	adaptertest.Need(t, "cc", "musl-gcc", "unshare", "chroot")
	if out, err := exec.Command("unshare", "--mount", "--propagation", "private", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace can be made: %s", out)
	}
	t.Parallel()
	share := t.TempDir()
	systems := map[string]*systemRoot{"here": newSystem(t, share), "musl": newSystem(t, share)}
	systems["musl"].beAlpine()

	first := make(map[string]string) // the outputs
	keys := make(map[string]string)
	for _, name := range []string{"here", "musl"} {
		s := systems[name]
		done := s.build("first", "remote:rw")
		if done.Summary.Built != 1 || done.Summary.Remote.Hits != 0 || done.Summary.Remote.Sent != 1 {
			t.Errorf("%s: %+v, want one task built, sent, and nothing of the other system", name, done.Summary)
		}
		first[name], keys[name] = s.output("first"), done.key()
	}
	if keys["here"] != keys["musl"] || keys["here"] == "" {
		t.Errorf("keys %q, want the same", keys)
	}
	if first["here"] == first["musl"] || !strings.Contains(first["musl"], "ld-musl") || strings.Contains(first["here"], "ld-musl") {
		t.Errorf("programs of %d and %d bytes, want one for each C library", len(first["here"]), len(first["musl"]))
	}
	for _, name := range []string{"here", "musl"} {
		s := systems[name]
		done := s.build("second", "remote:r")
		if done.Summary.Built != 0 || done.Summary.Remote.Hits != 1 {
			t.Errorf("%s, a second machine: %+v, want a remote hit", name, done.Summary)
		}
		if got := s.output("second"); got != first[name] {
			t.Errorf("%s, a second machine: another program of %d bytes", name, len(got))
		}
		if out := s.sh("/clones/second/app/hello"); out != "hello\n" {
			t.Errorf("%s, a second machine: the program prints %q", name, out)
		}
	}
}

// systemRoot is a root directory with the /usr of this machine.
type systemRoot struct {
	*testing.T
	dir, share string
}

func newSystem(t *testing.T, share string) *systemRoot {
	t.Helper()
	s := &systemRoot{T: t, dir: t.TempDir(), share: share}
	for _, dir := range []string{"usr", "dev", "proc", "share", "tmp", "root", "etc", "clones", "opt/bin"} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		target, err := os.Readlink("/" + name)
		if err == nil {
			err = os.Symlink(target, filepath.Join(s.dir, name))
		}
		if err != nil && (name != "lib64" || !os.IsNotExist(err)) {
			t.Skipf("the system has no /usr for all: %v", err)
		}
	}
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		t.Skip(err)
	}
	s.write("etc/os-release", string(text))
	s.write("etc/passwd", "root:x:0:0::/root:/bin/sh\n")
	s.write("opt/bin/cc", "#!/bin/sh\nexec /usr/bin/gcc \"$@\"\n")
	bento, err := os.ReadFile(builtBento(t))
	if err != nil {
		t.Fatal(err)
	}
	s.write("opt/bin/bento", string(bento))
	return s
}

// beAlpine sets the C library to musl, with a shell that uses it, and the name to Alpine. Programs of /usr find their own
// C library still, as with Alpine's gcompat.
func (s *systemRoot) beAlpine() {
	s.Helper()
	loaders, _ := filepath.Glob("/lib/ld-musl-*.so.1")
	if len(loaders) == 0 {
		s.Skip("musl-gcc has no loader in /lib")
	}
	loader, err := os.ReadFile(loaders[0])
	if err != nil {
		s.Fatal(err)
	}
	for _, name := range []string{"bin", "lib"} {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			s.Fatal(err)
		}
	}
	s.write("lib/"+filepath.Base(loaders[0]), string(loader))
	more, _ := filepath.Glob("/usr/lib/*-linux-*")
	for _, dir := range append(more, "/usr/lib/gcc") {
		if err := os.Symlink(dir, filepath.Join(s.dir, "lib", filepath.Base(dir))); err != nil {
			s.Fatal(err)
		}
	}
	s.write("etc/os-release", "ID=alpine\nVERSION_ID=3.20.3\n")
	source := filepath.Join(s.TempDir(), "sh.c")
	write(s.T, filepath.Dir(source), "sh.c", "#include <unistd.h>\nint main(int n, char **argv) { execv(\"/usr/bin/sh\", argv); return 127; }\n")
	if err := os.Mkdir(filepath.Join(s.dir, "bin"), 0o755); err != nil {
		s.Fatal(err)
	}
	if out, err := exec.Command("musl-gcc", "-o", filepath.Join(s.dir, "bin/sh"), source).CombinedOutput(); err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	s.write("opt/bin/cc", "#!/bin/sh\ncase $1 in --version) exec /usr/bin/gcc --version; esac\nexec /usr/bin/musl-gcc \"$@\"\n")
}

func (s *systemRoot) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.Fatal(err)
	}
}

// sh runs a command with the root directory of the system, and returns what it prints.
func (s *systemRoot) sh(command string, env ...string) string {
	s.Helper()
	const enter = `set -e
mount --bind /usr "$0/usr"
mount --bind /dev "$0/dev"
mount -t proc proc "$0/proc"
mount --bind "$1" "$0/share"
exec chroot "$0" /bin/sh -c "$2"`
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", enter, s.dir, s.share, command)
	cmd.Env = append([]string{"PATH=/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TMPDIR=/tmp"}, env...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if strings.Contains(complaint.String(), "mount:") {
			s.Skipf("nothing can be mounted: %s", complaint.Bytes())
		}
		s.Fatalf("%s: %v\n%s%s", command, err, out.Bytes(), complaint.Bytes())
	}
	return out.String()
}

// builtOn is the document of a run.
type builtOn struct {
	Summary runSummary
	Bentos  []struct {
		Dishes []struct{ Tasks []struct{ Key string } }
	}
}

// key returns the key of its one task.
func (b *builtOn) key() string { return b.Bentos[0].Dishes[0].Tasks[0].Key }

// build builds a program in a clone of its own, which no machine has seen.
func (s *systemRoot) build(clone, mode string) (done builtOn) {
	s.Helper()
	at := "clones/" + clone + "/"
	// Each compiler looks for other files beside the source, so observed tasks have other keys: nothing here is observed.
	s.write(at+"bento.toml", "[defaults]\nobserve = \"never\"\n[cache]\nremote = \"file:///share\"\nremote_trust = \"server\"\n")
	s.write(at+"app/hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n")
	s.write(at+"app/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"cc -o hello hello.c\"\ninputs = [\"hello.c\"]\noutputs = [\"hello\"]\nrace = false\n")
	out := s.sh("cd /clones/"+clone+" && bento run build --json --cache "+mode, "BENTO_REMOTE=file:///share", "BENTO_CACHE_DIR=/clones/"+clone+".cache", "CI=true")
	if err := json.Unmarshal([]byte(out), &done); err != nil || len(done.Bentos) != 1 {
		s.Fatalf("%s: %v", out, err)
	}
	return done
}

// output returns the program.
func (s *systemRoot) output(clone string) string {
	s.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "clones", clone, "app/hello"))
	if err != nil {
		s.Fatal(err)
	}
	return string(data)
}
