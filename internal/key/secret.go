package key

import (
	"crypto/rand"

	"github.com/bentobuild/bento/internal/state"
)

// The secret keys the recorded digests of environment values. It stays in the
// workspace.
const (
	secretFile    = "secret"
	secretVersion = 1
)

// LocalSecret returns the workspace's secret, and makes it at its first use. If the secret cannot be
// stored, it is valid for this invocation only, and `why` cannot compare variables with earlier runs.
func LocalSecret(dir *state.Dir) (secret [32]byte) {
	if kept, err := dir.LoadPrivate(secretFile, secretVersion); err == nil && len(kept) == len(secret) {
		copy(secret[:], kept)
		return secret
	}
	rand.Read(secret[:]) //nolint:errcheck // it never fails
	_ = dir.StorePrivate(secretFile, secretVersion, secret[:])
	return secret
}
