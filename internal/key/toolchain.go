package key

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

// The fingerprints are a file of the workspace's state, and of the state that all workspaces of the
// user share. It holds at most maxRemembered answers; a workspace with more toolchains than that
// asks again.
const (
	toolchainsFile    = "toolchains"
	toolchainsVersion = 5
	maxRemembered     = 4096
)

// Toolchains returns the fingerprints of the toolchains of dishes. Some adapters return a basis: everything that the
// answer depends on. Their answers are remembered, also by later invocations, and the adapter is asked again only if
// the basis has changed. Other workspaces of the user reuse the fingerprints that need no program of the repository.
// It is safe for concurrent use.
type Toolchains struct {
	state  *state.Dir
	shared *state.Shared
	others func() map[string]answer // the answers in shared
	runs   bool                     // see LetRun

	mu      sync.Mutex
	known   map[string]answer // by basis digest
	pending map[string]*probe
	ahead   map[toolchainOf]string // basis digests, until AskAhead ends
	changed bool
	news    map[string]answer // for shared
}

// answer is the fingerprint of a toolchain, or the missing tool. Only commands that run nothing use a
// stored missing tool: a run asks for the tool again.
type answer struct {
	Fingerprint string
	Missing     string // the tool; "" for none
	Hint        string
}

// value returns the answer as adapters do.
func (a answer) value() (string, error) {
	if a.Missing != "" {
		return "", &adapters.MissingTool{Tool: a.Missing, Hint: a.Hint}
	}
	return a.Fingerprint, nil
}

type probe struct {
	once  sync.Once
	value string
	err   error
}

// OpenToolchains reads the fingerprints that are kept in dir. It reads those in shared when dir lacks
// one.
func OpenToolchains(dir *state.Dir, shared *state.Shared) *Toolchains {
	t := &Toolchains{state: dir, shared: shared, pending: make(map[string]*probe), news: make(map[string]answer)}
	payload, _ := dir.Load(toolchainsFile, toolchainsVersion) // without, the tools are asked
	t.known = decodeToolchains(payload)
	t.others = sync.OnceValue(t.readShared)
	return t
}

func (t *Toolchains) readShared() map[string]answer {
	payload, _ := t.shared.Load(toolchainsFile, toolchainsVersion) // without, the tools are asked
	return decodeToolchains(payload)
}

// decodeToolchains reads a payload that encodeToolchains returned. An invalid one is empty.
func decodeToolchains(payload []byte) map[string]answer {
	var known map[string]answer
	if pack.Unmarshal(payload, &known) != nil || known == nil {
		return make(map[string]answer)
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
	id, ok, err := t.basis(ctx, toolchainOf{a, dir})
	if err != nil {
		return "", err
	}
	if !ok {
		return t.ask(ctx, a, dir)
	}
	p, known, ok := t.lookup(id)
	if ok {
		return known.value()
	}
	p.once.Do(func() {
		if other, ok := t.others()[id]; ok && other.Missing == "" {
			p.value = other.Fingerprint
			t.keep(id, p.value, nil)
			return
		}
		p.value, p.err = a.ToolchainFingerprint(ctx, dir)
		if p.err == nil {
			t.share(id, p.value)
		}
		p.value, p.err = t.atRun(ctx, a, dir, p.value, p.err)
		t.keep(id, p.value, p.err)
	})
	return p.value, p.err
}

// ask asks the adapter.
func (t *Toolchains) ask(ctx context.Context, a adapters.Adapter, dir string) (string, error) {
	value, err := a.ToolchainFingerprint(ctx, dir)
	return t.atRun(ctx, a, dir, value, err)
}

// atRun returns the answer of an adapter. If only the project's own programs know it, and they may
// run, it runs them.
func (t *Toolchains) atRun(ctx context.Context, a adapters.Adapter, dir, value string, err error) (string, error) {
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
	if known, ok = t.known[id]; ok && (known.Missing == "" || !t.runs) {
		return nil, known, true
	}
	if p = t.pending[id]; p == nil {
		p = new(probe)
		t.pending[id] = p
	}
	return p, known, false
}

// keep keeps an answer for later. It keeps no error but a missing tool: others may not occur again.
func (t *Toolchains) keep(id, value string, err error) {
	news := answer{Fingerprint: value}
	if missing, ok := err.(*adapters.MissingTool); ok {
		news = answer{Missing: missing.Tool, Hint: missing.Hint}
	} else if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[id] != news {
		t.known[id] = news
		t.changed = true
	}
}

// share keeps a fingerprint for other workspaces.
func (t *Toolchains) share(id, value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.news[id] = answer{Fingerprint: value}
}

// Save writes the answers, if there are new ones. If the shared state cannot be written, other
// workspaces ask again.
func (t *Toolchains) Save() error {
	if news := t.takeNews(); len(news) > 0 {
		all := t.readShared()
		maps.Copy(all, news)
		if len(all) > maxRemembered { // most of them are of tools that are gone
			all = news
		}
		_ = t.shared.Store(toolchainsFile, toolchainsVersion, encodeToolchains(all))
	}
	payload := t.learned()
	if payload == nil {
		return nil
	}
	return t.state.Store(toolchainsFile, toolchainsVersion, payload)
}

func (t *Toolchains) takeNews() map[string]answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	news := t.news
	t.news = make(map[string]answer)
	return news
}

// learned returns the content of the file, nil if there are no new answers.
func (t *Toolchains) learned() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.changed {
		return nil
	}
	t.changed = false
	return encodeToolchains(t.known)
}

func encodeToolchains(known map[string]answer) []byte {
	for id := range known {
		if len(known) > maxRemembered {
			delete(known, id)
		}
	}
	return pack.Marshal(known)
}
