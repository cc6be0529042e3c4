package node

import (
	"os"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func linksAndLock(b *testing.B, a *Adapter, dirs []string) {
	for _, dir := range dirs {
		if _, err := a.Links(b.Context(), dir); err != nil {
			b.Fatal(err)
		}
		if l, err := a.LockDigest(b.Context(), dir); err != nil || l.Digest == "" {
			b.Fatal(l, err)
		}
	}
}

// BenchmarkLinksAndLocks reads the links and the lockfile of a workspace for each of
// its members, with nothing known (cold), and by an adapter that has read all before
// (warm). What a second invocation has to do is in discovery/answers.
func BenchmarkLinksAndLocks(b *testing.B) {
	_, dirs := adaptertest.PNPM(b, 1000)
	b.Run("cold", func(b *testing.B) {
		defer adaptertest.ReportCPU(b)()
		for b.Loop() {
			linksAndLock(b, newPNPM(), dirs)
		}
	})
	b.Run("warm", func(b *testing.B) {
		a := newPNPM()
		linksAndLock(b, a, dirs)
		defer adaptertest.ReportCPU(b)()
		for b.Loop() {
			linksAndLock(b, a, dirs)
		}
	})
}

func newPNPM() *Adapter {
	return NewPNPM(snapshot.Options{Env: adapters.NewEnviron(os.Environ())})
}

// BenchmarkWorkspace asks everything about each member of the workspace, as discovery
// does.
func BenchmarkWorkspace(b *testing.B) {
	_, dirs := adaptertest.PNPM(b, 1000)
	defer adaptertest.ReportCPU(b)()
	for b.Loop() {
		family := All(snapshot.Options{Env: adapters.NewEnviron(os.Environ())})
		for _, dir := range dirs {
			for _, a := range family {
				if yes, err := a.Detect(b.Context(), dir); !yes || err != nil {
					continue
				}
				for name, ask := range asks(a.(*Adapter)) {
					if err := ask(b.Context(), dir); err != nil {
						b.Fatal(name, err)
					}
				}
				if _, err := a.(*Adapter).ToolchainBasis(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
				break
			}
		}
	}
}
