package adapter

import (
	"fmt"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/host"
)

// Keep keeps plugins running from one Set to the next. It starts a plugin again only if its executable or
// its rights have changed, or if it stopped working. Each Set sends its questions again. The zero Keep is
// ready; a nil one keeps nothing. It is safe for concurrent use.
type Keep struct {
	mu     sync.Mutex
	kept   map[string]*lasting
	closed bool
	ending sync.WaitGroup
}

// lasting is a plugin that runs on, or the failure of its start.
type lasting struct {
	first *Process // the Process that started it
	err   error    // of the start
	users int      // processes of sets that are not closed
	stale bool     // the last Set does not use it
}

// basis returns the key of the files and rights that c is started with. Two starts with the same basis
// start the same plugin. The key is empty for a nil Keep.
func (k *Keep) basis(c adapters.Candidate, o *Options) string {
	if k == nil {
		return ""
	}
	granted := ""
	if box := o.Sandbox[c.ID]; box != nil {
		granted = fmt.Sprintf("%q %q %q", box.Root, box.Read, box.Write)
	}
	return fmt.Sprintf("%s %q %s %q %s %q", c.ID, c.Path, o.digest(c), o.PassEnv[c.ID], granted, o.Settings[c.ID])
}

// again returns a kept plugin as a Process without answers. If no process is kept it returns nil, and the
// failure if that is known.
func (k *Keep) again(at string, c adapters.Candidate, o Options) (*Process, error) {
	if k == nil {
		return nil, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.kept[at]
	switch {
	case l == nil || l.err == nil && l.first.failed() != nil:
		return nil, nil
	case l.err != nil:
		l.stale = false
		return nil, l.err
	}
	l.users++
	l.stale = false
	f := l.first
	return &Process{
		id: f.id, install: f.install, from: c, o: o, reader: answer.NewReader(), asker: o.asker(), saved: f.saved,
		manifest: f.manifest, raw: f.raw, text: f.text, dropped: f.dropped, executable: f.executable,
		plugin: f.host(), basis: at, isKept: true,
	}, nil
}

// keep records the result of a start: p runs, unless err is set. The result of another
// start in the meantime stays.
func (k *Keep) keep(at string, p *Process, err error) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.kept[at]; k.closed || old != nil && (old.err != nil || old.first.failed() == nil) {
		return
	}
	if k.kept == nil {
		k.kept = make(map[string]*lasting)
	}
	k.drop(at)
	l := &lasting{first: p, err: err}
	if err == nil {
		l.users, p.basis, p.isKept = 1, at, true
	}
	k.kept[at] = l
}

// release records that a set no longer needs a plugin. It reports whether the plugin keeps running;
// otherwise the set must end it.
func (k *Keep) release(p *Process, plugin *host.Plugin) (runsOn bool) {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !p.isKept || p.isReleased {
		return p.isKept
	}
	p.isReleased = true
	l := k.kept[p.basis]
	if l == nil || l.err != nil || l.first.host() != plugin {
		return k.closed
	}
	if l.users--; l.users == 0 && (l.stale || l.first.failed() != nil) {
		k.drop(p.basis)
	}
	return true
}

// sweep ends the plugins that no Set uses after a Set has started.
func (k *Keep) sweep(entries []*entry) {
	if k == nil {
		return
	}
	used := make(map[string]bool)
	for _, e := range entries {
		used[e.basis] = true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for at, l := range k.kept {
		if l.stale = !used[at]; l.stale && l.users == 0 {
			k.drop(at)
		}
	}
}

// drop ends a plugin if it runs.
func (k *Keep) drop(at string) {
	l := k.kept[at]
	if l == nil {
		return
	}
	delete(k.kept, at)
	if l.err == nil {
		k.ending.Go(l.first.host().Close)
	}
}

// Close ends all plugins at once, and returns when their processes have ended. From then on
// Keep keeps nothing.
func (k *Keep) Close() {
	k.mu.Lock()
	k.closed = true
	for at := range k.kept {
		k.drop(at)
	}
	k.mu.Unlock()
	k.ending.Wait()
}
