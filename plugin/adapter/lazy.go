package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// A plugin that had no dish in the last invocation need not start in this one: bento
// remembers its manifest and its answers about directories. Its Process is asleep until a
// question has no remembered answer.

// note is the saved state of a plugin that has no dish.
type note struct {
	Basis    string             `json:"basis"`    // the basis for which it is valid
	Manifest json.RawMessage    `json:"manifest"` // as the plugin sent it
	Text     json.RawMessage    `json:"text"`     // the members that bento uses
	Dropped  []string           `json:"dropped,omitempty"`
	Refused  map[string]listing `json:"refused"` // the directories that it refused
	// Answers are the saved answers of a module, in place of Refused.
	Answers map[question]savedAnswer `json:"answers,omitempty"`
}

// basis returns the key of a note: the executable and the options of the start.
func basis(executable string, c adapters.Candidate, o *Options) string {
	return fmt.Sprint(o.Version, " ", executable, " ", o.PassEnv[c.ID], " ", o.Sandbox[c.ID] != nil, " ", o.Settings[c.ID])
}

// idle collects a Process's note for the next invocation.
type idle struct {
	mu      sync.Mutex
	busy    bool // it has a dish, or may have: no note is left
	refused map[string]listing
}

func (i *idle) isBusy() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy = true
}

func (i *idle) refuses(dir string, l listing) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.refused == nil {
		i.refused = make(map[string]listing)
	}
	i.refused[dir] = l
}

// asleep returns the plugin from a valid note, or nil.
func asleep(c adapters.Candidate, o Options) *Process {
	p := newProcess(c, o)
	n, ok := o.noteOf(c)
	if !ok || !o.Lazy && p.saved == nil {
		return nil
	}
	if json.Unmarshal(n.Text, &p.manifest) != nil || p.manifest == nil {
		return nil
	}
	p.manifest.Parallel = p.parallel(p.manifest.Parallel)
	p.raw, p.text, p.dropped = n.Manifest, n.Text, n.Dropped
	p.identify(o.digest(c))
	p.known = n.Refused
	return p
}

// noteOf returns the note of a candidate, if it is valid.
func (o *Options) noteOf(c adapters.Candidate) (n note, ok bool) {
	if o.Notes == nil {
		return n, false
	}
	text, ok := o.Notes.Recall(c.Path)
	if !ok || json.Unmarshal(text, &n) != nil {
		return n, false
	}
	return n, n.Basis == basis(o.digest(c), c, o)
}

// running returns the plugin, and starts it if it is asleep. A failed start is an
// *adapters.Failure, also on later calls.
func (p *Process) running(ctx context.Context) (*host.Plugin, error) {
	if plugin := p.host(); plugin != nil {
		return plugin, nil
	}
	return p.waking.get(ctx, struct{}{}, func() (*host.Plugin, error) {
		plugin, err := p.launch(ctx, p.o.Sandbox[p.id])
		switch {
		case err == nil && !p.take(plugin):
			plugin.Close()
			err = context.Canceled
		case err == nil:
			p.o.Keep.keep(p.basis, p, nil)
		case ctx.Err() == nil:
			p.fail(err)
		}
		return plugin, err
	})
}

// take makes plugin the running process, unless the Process was closed in the meantime.
func (p *Process) take(plugin *host.Plugin) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.plugin = plugin
	return true
}

// host returns the plugin, nil while it is asleep.
func (p *Process) host() *host.Plugin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plugin
}

func (p *Process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	errors.As(err, &p.failure)
}

// failed returns why the plugin cannot answer, or not any more.
func (p *Process) failed() *adapters.Failure {
	p.mu.Lock()
	plugin, f := p.plugin, p.failure
	p.mu.Unlock()
	if plugin == nil {
		return f
	}
	if state, f := plugin.State(); final(state) {
		return f
	}
	return nil
}

// close ends the plugin, and prevents further starts.
func (p *Process) close() {
	p.mu.Lock()
	plugin := p.plugin
	p.closed = true
	p.mu.Unlock()
	if plugin != nil && !p.o.Keep.release(p, plugin) {
		plugin.Close()
	}
}

// Start starts a plugin that is asleep. Others run already.
func (p *Process) Start(ctx context.Context) error {
	_, err := p.running(ctx)
	return err
}

// detect returns the result of ask for dir. It returns false without calling ask if the
// plugin is asleep and refused dir before, and dir has not changed.
func (p *Process) detect(dir string, ask func() (bool, error)) (bool, error) {
	if !p.o.Lazy || p.saved != nil {
		return ask()
	}
	was, isKnown := p.known[dir]
	now := list(dir, p.manifest.FingerprintFiles, was)
	if p.host() == nil && isKnown && now.same(was) && p.settings(dir) == "" {
		p.idle.refuses(dir, now)
		return false, nil
	}
	found, err := ask()
	if found || err != nil {
		p.idle.isBusy()
	} else {
		p.idle.refuses(dir, now)
	}
	return found, err
}

// note leaves a note of a plugin without a dish, and of a module.
func (p *Process) note() {
	n := note{Basis: basis(p.executable, p.from, &p.o), Manifest: p.raw, Text: p.text, Dropped: p.dropped}
	if p.saved != nil {
		n.Answers = p.saved.all()
	}
	p.idle.mu.Lock()
	defer p.idle.mu.Unlock()
	if p.saved == nil && (!p.o.Lazy || p.idle.busy) || p.failed() != nil {
		return
	}
	n.Refused = p.idle.refused
	if text, err := json.Marshal(n); err == nil {
		p.o.Notes.Leave(p.from.Path, text)
	}
}

// Remember saves notes for the next invocation, which then skips two kinds of plugins. A plugin without a
// dish is skipped while it and the directories that it refused do not change. A module is skipped while
// the files that it has looked at do not change. Callers call it at the end of a discovery, and again at
// the end for later answers. Without Options.Notes it does nothing. The error is about writing the notes.
func (s *Set) Remember() error {
	started := false
	for _, e := range s.entries {
		if e.process != nil && s.notes != nil {
			e.process.note()
			started = true
		}
	}
	if !started {
		return nil
	}
	return s.notes.Save()
}
