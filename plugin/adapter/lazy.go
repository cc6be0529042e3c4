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

// A plugin that had nothing to do in the last invocation need not be started in this
// one: what it would say of itself, and of the directories that it was asked about,
// is known. So its Process is asleep, until somebody asks something that is not.

// note is what is remembered of a plugin that had nothing to do.
type note struct {
	Basis    string             `json:"basis"`    // what it holds for
	Manifest json.RawMessage    `json:"manifest"` // as the plugin gave it
	Text     json.RawMessage    `json:"text"`     // what was understood of it
	Dropped  []string           `json:"dropped,omitempty"`
	Refused  map[string]listing `json:"refused"` // the directories that are none of its own
}

// basis is what a note holds for: this executable, under these conditions.
func basis(executable string, c adapters.Candidate, o *Options) string {
	return fmt.Sprint(o.Version, " ", executable, " ", o.PassEnv[c.ID], " ", o.Sandbox[c.ID] != nil)
}

// idle is what a Process notes for the next invocation.
type idle struct {
	mu      sync.Mutex
	busy    bool // it has a dish, or may have: nothing is noted
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

// asleep gives the plugin as a note has it, nil when there is none that holds.
func asleep(c adapters.Candidate, o Options) *Process {
	if o.Notes == nil {
		return nil
	}
	var n note
	text, ok := o.Notes.Recall(c.Path)
	if !ok || json.Unmarshal(text, &n) != nil {
		return nil
	}
	executable := o.digest(c)
	p := newProcess(c, o)
	if n.Basis != basis(executable, c, &o) || json.Unmarshal(n.Text, &p.manifest) != nil || p.manifest == nil {
		return nil
	}
	p.raw, p.text, p.dropped = n.Manifest, n.Text, n.Dropped
	p.identify(executable)
	p.known = n.Refused
	return p
}

// running gives the plugin, which is started if it is asleep. That it could not be is
// an *adapters.Failure, also the next time.
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

// take makes plugin the one that is asked, unless the Process was closed meanwhile.
func (p *Process) take(plugin *host.Plugin) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.plugin = plugin
	return true
}

// host gives the plugin, nil while it is asleep.
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

// failed gives why the plugin cannot be asked, or not any more.
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

// close ends the plugin, and lets none be started any more.
func (p *Process) close() {
	p.mu.Lock()
	plugin := p.plugin
	p.closed = true
	p.mu.Unlock()
	if plugin != nil && !p.o.Keep.release(p, plugin) {
		plugin.Close()
	}
}

// Start starts a plugin that is asleep. Others are running already.
func (p *Process) Start(ctx context.Context) error {
	_, err := p.running(ctx)
	return err
}

// detect gives the answer of ask about dir, without asking if the plugin is asleep
// and dir is what it was when the answer was no.
func (p *Process) detect(dir string, ask func() (bool, error)) (bool, error) {
	if p.o.Notes == nil {
		return ask()
	}
	was, isKnown := p.known[dir]
	now := list(dir, p.manifest.FingerprintFiles, was)
	if p.host() == nil && isKnown && now.same(was) {
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

// note leaves a note of a plugin that had nothing to do so far.
func (p *Process) note() {
	p.idle.mu.Lock()
	defer p.idle.mu.Unlock()
	if p.idle.busy || p.failed() != nil {
		return
	}
	text, err := json.Marshal(note{Basis: basis(p.executable, p.from, &p.o), Manifest: p.raw, Text: p.text, Dropped: p.dropped, Refused: p.idle.refused})
	if err == nil {
		p.o.Notes.Leave(p.from.Path, text)
	}
}

// Remember has the plugins that had nothing to do so far left out of the next
// invocation, as long as they and the directories that they were asked about stay as
// they are. It is for the end of a discovery, and does nothing without Options.Notes.
// The error says that this could not be written.
func (s *Set) Remember() error {
	var notes *host.Notes
	for _, e := range s.entries {
		if e.process != nil && e.process.o.Notes != nil {
			notes = e.process.o.Notes
			e.process.note()
		}
	}
	if notes == nil {
		return nil
	}
	return notes.Save()
}
