package key

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

// The memory of fingerprints is a file of the workspace's state. It holds at most
// maxRemembered answers; a workspace with more toolchains than that asks again.
const (
	toolchainsFile    = "toolchains"
	toolchainsVersion = 2
	maxRemembered     = 4096
)

// Toolchains tells the fingerprint of the toolchain that a dish gets. An adapter
// that can tell what its answer depends on is asked once per such basis and then
// never again, in this invocation or a later one, until the basis changes.
// It is safe for concurrent use.
type Toolchains struct {
	state *state.Dir
	runs  bool // see LetRun

	mu      sync.Mutex
	known   map[string]string // basis digest → fingerprint
	pending map[string]*probe
	changed bool
}

type probe struct {
	once  sync.Once
	value string
	err   error
}

// OpenToolchains reads what is remembered in dir.
func OpenToolchains(dir *state.Dir) *Toolchains {
	t := &Toolchains{state: dir, known: make(map[string]string), pending: make(map[string]*probe)}
	blob, err := dir.Load(toolchainsFile, toolchainsVersion)
	if err != nil {
		return t
	}
	r := pack.NewReader(blob)
	for range r.Count(2) {
		basis := r.String()
		t.known[basis] = r.String()
	}
	if r.End() != nil {
		clear(t.known)
	}
	return t
}

// LetRun says that tasks are about to run: what only programs of the repository know is
// asked of them. Before that it is an *adapters.KnownAtRun error, unless an earlier run
// has learned it. It must not be called while somebody asks.
func (t *Toolchains) LetRun() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = true
	clear(t.pending)
}

// Fingerprint returns the fingerprint of the toolchain that a's tasks get in dir.
func (t *Toolchains) Fingerprint(ctx context.Context, a adapters.Adapter, dir string) (string, error) {
	basis, ok, err := adapters.ToolchainBasis(ctx, a, dir)
	if err != nil {
		return "", err
	}
	if !ok {
		return t.ask(ctx, a, dir)
	}
	id := basisID(a.Manifest(), basis)
	p, value, known := t.recall(id)
	if known {
		return value, nil
	}
	p.once.Do(func() {
		if p.value, p.err = t.ask(ctx, a, dir); p.err == nil {
			t.remember(id, p.value)
		}
	})
	return p.value, p.err
}

// ask asks the adapter, and where the answer depends on the project's own programs, and
// they may run, those.
func (t *Toolchains) ask(ctx context.Context, a adapters.Adapter, dir string) (string, error) {
	value, err := a.ToolchainFingerprint(ctx, dir)
	var late *adapters.KnownAtRun
	if !t.runs || !errors.As(err, &late) {
		return value, err
	}
	value, err = adapters.ToolchainAtRun(ctx, a, adapters.RunRequest{Dir: dir})
	if errors.As(err, &late) { // a task without a toolchain has no key, and must not run
		err = fmt.Errorf("the toolchain is unknown: %s", late.Why)
	}
	return value, err
}

func basisID(m *adapters.Manifest, basis string) string {
	sum := blake3.Sum256([]byte(m.AdapterID + "\x00" + m.Identity + "\x00" + basis))
	return hex.EncodeToString(sum[:16])
}

func (t *Toolchains) recall(id string) (p *probe, value string, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if value, known = t.known[id]; known {
		return nil, value, true
	}
	if p = t.pending[id]; p == nil {
		p = new(probe)
		t.pending[id] = p
	}
	return p, "", false
}

func (t *Toolchains) remember(id, value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[id] = value
	t.changed = true
}

// Save writes what was learned, if anything was.
func (t *Toolchains) Save() error {
	payload := t.learned()
	if payload == nil {
		return nil
	}
	return t.state.Store(toolchainsFile, toolchainsVersion, payload)
}

// learned returns the content of the file, nil if it is the same as before.
func (t *Toolchains) learned() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.changed {
		return nil
	}
	t.changed = false
	ids := slices.Sorted(maps.Keys(t.known))
	ids = ids[max(0, len(ids)-maxRemembered):]
	var w pack.Writer
	w.Uint(uint64(len(ids)))
	for _, id := range ids {
		w.String(id)
		w.String(t.known[id])
	}
	return w.Payload()
}
