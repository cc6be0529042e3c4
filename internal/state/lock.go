package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/rawfile"
)

// Who waits for a lock looks again after the first pause, then ever later.
const (
	firstLook = time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// Lock is Hold for who needs no more than to release it.
func (d *Dir) Lock(ctx context.Context, name string, waiting func(owner string)) (unlock func(), err error) {
	h, err := d.Hold(ctx, name, waiting)
	if err != nil {
		return nil, err
	}
	return h.Release, nil
}

// Held is a lock that was taken.
type Held struct {
	// File is the lock for as long as any process has it open, or until Release: a
	// process that is to go on holding it when this one dies is given it.
	File *os.File

	signed bool
}

// Release frees the lock, whoever has it open.
func (h *Held) Release() {
	if h.signed {
		_ = h.File.Truncate(0)
	}
	unlock(h.File)
	h.File.Close()
}

// Hold takes the lock name, exclusive among all processes and within this one. If
// another holds it, waiting (may be nil) is called once with who that is, such as
// "process 4711 since 15:04:05", or "" when that is not known, and Hold waits
// until the lock is free or ctx is done. The kernel frees it when its holder dies.
// The file stays. What is in its place and no file of a trusted user is a
// *RefusedError; a file that has another name too is locked, and not written.
func (d *Dir) Hold(ctx context.Context, name string, waiting func(owner string)) (*Held, error) {
	dir, base, err := d.at(name, true)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, own, err := dir.Update(base)
	if err != nil {
		return nil, err
	}
	if err := acquire(ctx, f, waiting); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	if own {
		sign(f)
	}
	return &Held{File: f.Std(), signed: own}, nil
}

func acquire(ctx context.Context, f *rawfile.File, waiting func(string)) error {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		err := f.TryLock()
		if !errors.Is(err, rawfile.ErrLocked) {
			return err
		}
		if waiting != nil {
			waiting(signer(f))
			waiting = nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// sign writes who holds the lock. It is for people only, so it may fail.
func sign(f *rawfile.File) {
	_ = f.Truncate(0)
	_, _ = f.WriteAt(fmt.Appendf(nil, "process %d since %s\n", os.Getpid(), time.Now().Format(time.TimeOnly)), 0)
}

func signer(f *rawfile.File) string {
	if f.Rewind() != nil {
		return ""
	}
	data, _ := io.ReadAll(io.LimitReader(f, 100))
	return strings.TrimSpace(string(data))
}
