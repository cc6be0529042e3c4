package adapter

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/host"
)

// confinedKid returns the plugins of this file. They return the id of their process as a fingerprint, and
// an install writes it to a file in the dish.
func confinedKid(id string) func(*kid) {
	name, ok := strings.CutPrefix(id, "confined-")
	if !ok {
		return nil
	}
	pid := strconv.Itoa(os.Getpid())
	return func(k *kid) {
		for {
			q := k.read()
			if k.ruins(name, q.Method) {
				continue
			}
			switch q.Method {
			case "resolvedToolchainFingerprint":
				k.result(q, strconv.Quote(pid))
			case "install":
				if err := os.WriteFile(filepath.Join(q.Params["dish_dir"].(string), "pid"), []byte(pid), 0o644); err != nil {
					k.fail(q, fmt.Sprintf(`{"code":2003,"message":%q}`, err))
				} else if name == "fails" {
					k.fail(q, `{"code":2001,"message":"no","data":{"exit_status":1,"command":"make"}}`)
				} else if name == "exits" {
					os.Exit(4)
				} else {
					k.log("info", "installing")
					k.result(q, "null")
				}
			default:
				k.answer(q)
			}
		}
	}
}

// ruins reads the name of the plugin as "WHAT-METHOD", and does WHAT when METHOD is called.
func (k *kid) ruins(name, method string) bool {
	what, at, _ := strings.Cut(name, "-")
	if at != method {
		return false
	}
	switch what {
	case "hangs":
		k.hang()
	case "huge":
		k.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n", 1<<40))
		k.forever("x")
	case "bombs": // at most 100 forks, even if nothing bounds it; half of them in sessions of their own
		script := `trap "" TERM; i=0; while [ $i -lt 50 ]; do "$0" holder & setsid "$0" holder & i=$((i+1)); done`
		_ = exec.Command("/bin/sh", "-c", script, os.Args[0]).Run()
		k.hang()
	}
	return true
}

// A confined plugin that hangs, answers without end or forks without end, in detect or in an install,
// fails with its code. All processes that it has started end with it. The other plugins keep working.
func TestConfinedPluginsEndAlone(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]adapters.Code{
		"confined-hangs-detect": adapters.Timeout, "confined-huge-detect": adapters.MalformedResponse, "confined-bombs-detect": adapters.Timeout,
		"confined-hangs-install": adapters.Timeout, "confined-huge-install": adapters.MalformedResponse, "confined-bombs-install": adapters.Timeout,
		"confined-good": "ok",
	}
	boxes := make(map[string]*host.Sandbox)
	var late, others []adapters.Candidate
	for id, code := range want {
		boxes[id] = &host.Sandbox{Helper: self, Root: root, Scratch: filepath.Join(t.TempDir(), "scratch"), Read: []string{dir}, Tasks: 60}
		if c := install(t, dir, id); code == adapters.Timeout {
			late = append(late, c)
		} else {
			others = append(others, c)
		}
	}
	numbers := short()
	numbers.Query, numbers.Install = 3*time.Second, 3*time.Second
	impatient := start(t, Options{Numbers: numbers, Sandbox: boxes}, late...)
	set := start(t, Options{Numbers: short(), Sandbox: boxes}, others...)
	var asking sync.WaitGroup
	for _, a := range append(impatient.Adapters(), set.Adapters()...) {
		asking.Go(func() {
			id := a.Manifest().AdapterID
			var err error
			if strings.HasSuffix(id, "install") {
				err = a.Install(t.Context(), adapters.InstallRequest{DishDir: root, DishName: "dish"}, nil)
			} else {
				_, err = a.Detect(t.Context(), root)
			}
			if got := outcome(err); got != string(want[id]) {
				t.Errorf("%s: got %s, want %s (%v)", id, got, want[id], err)
			}
		})
	}
	asking.Wait()
	for _, a := range set.Adapters() {
		if a.Manifest().AdapterID == "confined-good" {
			if _, err := a.Detect(t.Context(), root+"/other"); err != nil {
				t.Errorf("the good one: %v", err)
			}
		}
	}
	impatient.Close()
	set.Close()
	if left := testrun.LeftIn(dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A separate process runs the install of a confined plugin, and is gone after it. The process that answers
// questions keeps running, even if the install fails.
func TestInstallOfAConfinedPlugin(t *testing.T) {
	for id, want := range map[string]string{
		"confined-good":  "ok",
		"confined-fails": `plugin confined-fails: error 2001: "make" exited with status 1`,
		"confined-exits": string(adapters.Crashed),
	} {
		root, c := t.TempDir(), install(t, t.TempDir(), id)
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		box := &host.Sandbox{Helper: self, Root: root, Scratch: filepath.Join(t.TempDir(), "scratch")}
		set := start(t, Options{Numbers: short(), Sandbox: map[string]*host.Sandbox{id: box}}, c)
		if len(set.Adapters()) == 0 {
			t.Fatal(set.Warnings())
		}
		a := set.Adapters()[0]
		asked := fingerprintOf(t, a)
		var told []string
		err = a.Install(t.Context(), adapters.InstallRequest{DishDir: root, DishName: "dish"}, func(l adapters.Log) { told = append(told, l.Message) })
		if got := outcome(err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
		data, err := os.ReadFile(filepath.Join(root, "pid"))
		installer, _ := strconv.Atoi(string(data))
		switch {
		case err != nil:
			t.Errorf("%s: the dish was not written: %v", id, err)
		case string(data) == asked:
			t.Errorf("%s: the process that answers questions has installed", id)
		case !errors.Is(syscall.Kill(installer, 0), syscall.ESRCH):
			t.Errorf("%s: the installing process %d is left", id, installer)
		case want == "ok" && len(told) != 1:
			t.Errorf("%s: told %q", id, told)
		}
		if again := fingerprintOf(t, a); again != asked {
			t.Errorf("%s: asked process %s, then %s", id, asked, again)
		}
		if _, err := os.Stat(box.Scratch); err != nil {
			t.Errorf("%s: no scratch directory: %v", id, err)
		}
	}
}

func outcome(err error) string {
	var f *adapters.Failure
	switch {
	case errors.As(err, &f):
		return string(f.Code)
	case err != nil:
		return err.Error()
	}
	return "ok"
}

func fingerprintOf(t *testing.T, a adapters.Adapter) string {
	t.Helper()
	text, err := a.(*Process).Ask(t.Context(), "resolvedToolchainFingerprint", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(string(text), `"`)
}

// confineSelf runs the test binary as the helper of a sandbox, if its arguments require that.
func confineSelf() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		_ = sandbox.Enter(os.Args[2:])
		os.Exit(126)
	}
}
