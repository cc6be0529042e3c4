package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Hold tries again after the first pause, then after longer and longer ones.
const (
	firstLook = time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// Lock is Hold for a caller that only releases the lock.
func (d *Dir) Lock(ctx context.Context, name string, waiting func(holder string)) (unlock func(), err error) {
	h, err := d.Hold(ctx, name, waiting)
	if err != nil {
		return nil, err
	}
	return h.Release, nil
}

// Held is a lock that this process holds.
type Held struct {
	// File keeps the lock as long as any process has it open, or until Release. Pass it to a process
	// that must keep the lock if this process dies.
	File *os.File

	signed bool
}

// Release releases the lock, even if other processes have the file open.
func (h *Held) Release() {
	if h.signed {
		_ = h.File.Truncate(0)
	}
	unlock(h.File)
	h.File.Close()
}

// Hold takes the lock name, exclusive among all processes and within this one. If another process
// holds it, Hold calls waiting (may be nil) once with the holder and the lock, such as "process
// 4711 since 15:04:05 has the lock /path", and waits until the lock is free or ctx is done. The
// kernel releases it when its holder dies. The file stays. Hold returns a *RefusedError for
// anything but a file of a trusted user; it locks but does not write a file with a second hard
// link.
func (d *Dir) Hold(ctx context.Context, name string, waiting func(holder string)) (*Held, error) {
	dir, base, err := d.at(name, true)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, own, err := dir.Update(base, owndir.Private)
	if err != nil {
		return nil, err
	}
	if err := acquire(ctx, f, d.Shown(name), waiting); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %q: %w", d.Shown(name), err)
	}
	if own {
		sign(f)
	}
	return &Held{File: f.Std(), signed: own}, nil
}

func acquire(ctx context.Context, f *rawfile.File, path string, waiting func(string)) error {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		err := f.TryLock()
		if !errors.Is(err, rawfile.ErrLocked) {
			return err
		}
		if waiting != nil {
			waiting(cmp.Or(signer(f), "a process") + " has the lock " + path)
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

// sign writes the holder of the lock into the file. It ignores errors, because the holder is only for
// messages.
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
