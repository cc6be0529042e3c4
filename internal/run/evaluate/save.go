package evaluate

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/bentobuild/bento/internal/state"
)

// The secret keys the recorded digests of environment values. It stays in the
// workspace.
const (
	secretFile    = "secret"
	secretVersion = 1
)

// localSecret gives the workspace's secret, made at its first use. Where it cannot
// be kept, it is only for this invocation, and what `why` says of variables holds
// no longer than that.
func localSecret(dir *state.Dir) (secret [32]byte) {
	if kept, err := dir.Load(secretFile, secretVersion); err == nil && len(kept) == len(secret) {
		copy(secret[:], kept)
		return secret
	}
	rand.Read(secret[:]) //nolint:errcheck // it never fails
	_ = dir.Store(secretFile, secretVersion, secret[:])
	return secret
}

// Save writes what was learned for the next invocation. It does so also after an
// interrupt, hence the context of its own.
func (e *Evaluator) Save() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, err := range []error{e.memory.Save(ctx), e.o.Toolchains.Save(), e.tree.Index().Save()} {
		if err != nil {
			e.warn("state_unwritable", "bento's memory of this workspace cannot be written: "+err.Error(),
				"the next run will work out again what this one knew")
		}
	}
}
