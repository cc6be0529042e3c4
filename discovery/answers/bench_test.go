package answers

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// BenchmarkKnown reads the saved answers of 1,000 members of a pnpm workspace, with links and a lockfile,
// as the second invocation does. The tree is walked before. The memory is opened and asked about each
// member.
func BenchmarkKnown(b *testing.B) {
	root, dirs := adaptertest.PNPM(b, 1000)
	if err := os.Mkdir(filepath.Join(root, ".bento"), 0o755); err != nil {
		b.Fatal(err)
	}
	back := time.Now().Add(-time.Hour)
	if err := os.Chtimes(root, back, back); err != nil {
		b.Fatal(err)
	}
	shown := new(snapshot.Snapshot)
	all := snapshot.Options{Env: adaptertest.Env(), Snapshot: shown}
	list := builtin.All(all)
	st := state.Open(root)
	walk := func() Options {
		files, err := tree.Walk(b.Context(), root, &tree.Options{State: st})
		if err != nil {
			b.Fatal(err)
		}
		shown.Hold(NewView(files, nil))
		return Options{Saved: st.OpenParts("answers", 1), Tree: files, Source: all.Source(), Basis: "b", Adapters: list}
	}
	first := Open(walk())
	var pnpm adapters.Adapter
	for _, a := range list {
		if yes, err := a.Detect(b.Context(), dirs[0]); err == nil && yes {
			pnpm = a
			break
		}
	}
	for _, dir := range dirs {
		if _, err := first.Ask(b.Context(), pnpm, dir); err != nil {
			b.Fatal(err)
		}
	}
	save(b, first)
	if err := first.o.Tree.Index().Save(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	used := time.Duration(0)
	for range b.N {
		b.StopTimer()
		o := walk()
		before := adaptertest.CPU(b)
		b.StartTimer()
		m := Open(o)
		for _, dir := range dirs {
			if !m.Knows(pnpm, dir) {
				b.Fatalf("%s is not known because of %q", dir, m.blamed(ask(pnpm, dir)))
			}
			if answer, err := m.Ask(b.Context(), pnpm, dir); err != nil || answer.Lock.Digest == "" {
				b.Fatal(answer.Lock, err)
			}
		}
		used += adaptertest.CPU(b) - before
	}
	adaptertest.ReportTime(b, used)
}
