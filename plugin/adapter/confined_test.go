package adapter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/plugin/host"
)

// confinedKid gives the plugins of this file. They tell their process in answer to
// a question, and leave it in the dish when they install.
func confinedKid(id string) func(*kid) {
	name, ok := strings.CutPrefix(id, "confined-")
	if !ok {
		return nil
	}
	pid := strconv.Itoa(os.Getpid())
	return func(k *kid) {
		for {
			switch q := k.read(); q.Method {
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

// An install of a confined plugin is done by a process of its own, which is gone after
// it; the one that is asked lives on, whatever becomes of the other.
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

// confineSelf makes the test binary the helper of a sandbox, when it is called so.
func confineSelf() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		_ = sandbox.Enter(os.Args[2:])
		os.Exit(126)
	}
}
