package php

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
)

// LockDigest implements adapters.LockDigester: the packages of composer.lock, which all
// belong to the package beside it.
func (a *Adapter) LockDigest(_ context.Context, dir string) (adapters.LockAnswer, error) {
	f := a.Files(dir)
	answer := adapters.LockAnswer{File: filepath.Join(dir, lockFile)}
	lock, err := a.locks.Read(f, lockFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		answer.File = ""
	case err != nil:
		answer.Whole = err.Error()
	default:
		answer.Digest, answer.Whole = lock.Digest()
	}
	answer.Reads = f.Reads()
	return answer, nil
}
