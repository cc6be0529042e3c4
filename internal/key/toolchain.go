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

// The fingerprints are a file of the workspace's state. It holds at most maxRemembered
// answers; a workspace with more toolchains than that asks again.
const (
	toolchainsFile    = "toolchains"
	toolchainsVersion = 3
	maxRemembered     = 4096
)

// Toolchains returns the fingerprints of the toolchains of dishes. It remembers the answer of an
// adapter that returns a basis, which is everything that the answer depends on: it asks the
// adapter again, in this invocation or a later one, only for another basis.
// It is safe for concurrent use.
type Toolchains struct {
	state *state.Dir
	runs  bool // see LetRun

	mu      sync.Mutex
	known   map[string]answer // by basis digest
	pending map[string]*probe
	changed bool
}

// answer is the fingerprint of a toolchain, or the missing tool. A run asks again after the
// latter, and so does every later command: only commands that run nothing use it.
type answer struct {
	fingerprint string
	missing     string // the tool; "" for none
	hint        string
}

// value returns the answer as adapters do.
func (a answer) value() (string, error) {
	if a.missing != "" {
		return "", &adapters.MissingTool{Tool: a.missing, Hint: a.hint}
	}
	return a.fingerprint, nil
}

type probe struct {
	once  sync.Once
	value string
	err   error
}

// OpenToolchains reads the fingerprints that are kept in dir.
func OpenToolchains(dir *state.Dir) *Toolchains {
	t := &Toolchains{state: dir, known: make(map[string]answer), pending: make(map[string]*probe)}
	if payload, err := dir.Load(toolchainsFile, toolchainsVersion); err == nil {
		t.known = decodeToolchains(payload)
	}
	return t
}

// decodeToolchains reads a payload that learned returned. An invalid one is empty.
func decodeToolchains(payload []byte) map[string]answer {
	known := make(map[string]answer)
	r := pack.NewReader(payload)
	for range r.Count(4) {
		basis := r.String()
		known[basis] = answer{r.String(), r.String(), r.String()}
	}
	if r.End() != nil {
		clear(known)
	}
	return known
}

// LetRun permits adapters to run programs of the repository, because tasks are about to run. Before
// that, Fingerprint returns an *adapters.KnownAtRun error for a toolchain that only they know,
// unless an earlier run has stored it. The caller makes no concurrent calls.
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
	p, known, ok := t.lookup(id)
	if ok {
		return known.value()
	}
	p.once.Do(func() {
		p.value, p.err = t.ask(ctx, a, dir)
		t.keep(id, p.value, p.err)
	})
	return p.value, p.err
}

// ask asks the adapter. If only the project's own programs know the answer, and they may run, it
// runs them.
func (t *Toolchains) ask(ctx context.Context, a adapters.Adapter, dir string) (string, error) {
	value, err := a.ToolchainFingerprint(ctx, dir)
	var atRun *adapters.KnownAtRun
	if !t.runs || !errors.As(err, &atRun) {
		return value, err
	}
	value, err = adapters.ToolchainAtRun(ctx, a, adapters.RunRequest{Dir: dir})
	if errors.As(err, &atRun) { // a task without a toolchain has no key, and must not run
		err = fmt.Errorf("the toolchain is unknown: %s", atRun.Why)
	}
	return value, err
}

func basisID(m *adapters.Manifest, basis string) string {
	sum := blake3.Sum256([]byte(m.AdapterID + "\x00" + m.Identity + "\x00" + basis))
	return hex.EncodeToString(sum[:16])
}

func (t *Toolchains) lookup(id string) (p *probe, known answer, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok = t.known[id]; ok && (known.missing == "" || !t.runs) {
		return nil, known, true
	}
	if p = t.pending[id]; p == nil {
		p = new(probe)
		t.pending[id] = p
	}
	return p, known, false
}

// keep keeps an answer for later. Other errors than a missing tool may be gone next time.
func (t *Toolchains) keep(id, value string, err error) {
	said := answer{fingerprint: value}
	if missing, ok := err.(*adapters.MissingTool); ok {
		said = answer{missing: missing.Tool, hint: missing.Hint}
	} else if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[id] != said {
		t.known[id] = said
		t.changed = true
	}
}

// Save writes the answers, if there are new ones.
func (t *Toolchains) Save() error {
	payload := t.learned()
	if payload == nil {
		return nil
	}
	return t.state.Store(toolchainsFile, toolchainsVersion, payload)
}

// learned returns the content of the file, nil if there are no new answers.
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
		for _, text := range []string{t.known[id].fingerprint, t.known[id].missing, t.known[id].hint} {
			w.String(text)
		}
	}
	return w.Payload()
}
