package companion

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
)

// TestLazyStartsNothing: a run starts no process for an extension that no event starts, not even the guard process. The
// guard runs before an eager extension starts, and before an extension starts for a command.
func TestLazyStartsNothing(t *testing.T) {
	t.Parallel()
	for _, spawn := range []string{"lazy", "eager"} {
		t.Run(spawn, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir, started := filepath.Join(root, "k"), filepath.Join(root, "started")
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "manifest.toml"), fmt.Sprintf("[plugin]\nname = 'k'\nversion = '1.0.0'\nabi_version = 2\n[capabilities]\nevent_bus = true\n"+
				"[provides]\ncli_namespaces = ['k']\n[subscribes]\nsnapshots = ['run.finished']\n[lifecycle]\nspawn = '%s'\n", spawn))
			write(t, filepath.Join(dir, "k"), "#!/bin/sh\ntouch '"+started+"'\nexec "+program+"\n")
			cfg := &config.Workspace{Root: root, Extensions: map[string]config.Extension{
				"k": {Own: true, Path: dish.Text{Text: dir}, Grant: []string{"event_bus"}, SetEnv: map[string]string{kidVariable: "k"}, Wait: time.Minute},
			}}
			var guards, early atomic.Int64
			o := Options{
				Places: Places{Root: root, Records: &Records{Dir: filepath.Join(root, "records")}}, State: state.Open(root),
				Environ: adapters.NewEnviron(os.Environ()),
				Guard: func() {
					guards.Add(1)
					if _, err := os.Stat(started); err == nil {
						early.Add(1)
					}
				},
			}
			s := Open(t.Context(), cfg, o)
			for _, ev := range events(3) {
				s.Report(ev)
			}
			s.Close()
			_, err = os.Stat(started)
			if want := spawn == "eager"; (err == nil) != want || (guards.Load() > 0) != want {
				t.Errorf("after a run: started %t, %d guards", err == nil, guards.Load())
			}
			os.Remove(started)
			guards.Store(0)
			one := Find(cfg, o.Places)
			s = OpenOne(t.Context(), one, one[0].ID, o)
			_, _ = s.Command(t.Context(), "k", nil)
			s.Close()
			if _, err = os.Stat(started); err != nil || guards.Load() != 1 || early.Load() > 0 {
				t.Errorf("after a command: %v, %d guards, %d of them late", err, guards.Load(), early.Load())
			}
		})
	}
}
