package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// errLocked says that another holder has the lock.
var errLocked = errors.New("locked")

// Who waits for a lock looks again after the first pause, then ever later.
const (
	firstLook = time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// Lock takes the lock name, exclusive among all processes and within this one. If
// another holds it, waiting (may be nil) is called once with who that is, such as
// "process 4711 since 15:04:05", or "" when that is not known, and Lock waits
// until the lock is free or ctx is done. The kernel frees it when its holder dies.
// The file stays.
func (d *Dir) Lock(ctx context.Context, name string, waiting func(owner string)) (unlock func(), err error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if _, err := d.Make(filepath.ToSlash(filepath.Dir(filepath.FromSlash(name)))); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(d.Path(name), os.O_RDWR|os.O_CREATE|nonblock, 0o666)
	if err != nil {
		return nil, err
	}
	if err := acquire(ctx, f, waiting); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	sign(f)
	return func() {
		_ = f.Truncate(0)
		f.Close() // frees the lock
	}, nil
}

func acquire(ctx context.Context, f *os.File, waiting func(string)) error {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		err := tryLock(f)
		if !errors.Is(err, errLocked) {
			return err
		}
		if waiting != nil {
			waiting(owner(f))
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
func sign(f *os.File) {
	_ = f.Truncate(0)
	_, _ = f.WriteAt(fmt.Appendf(nil, "process %d since %s\n", os.Getpid(), time.Now().Format(time.TimeOnly)), 0)
}

func owner(f *os.File) string {
	data, _ := io.ReadAll(io.NewSectionReader(f, 0, 100))
	return strings.TrimSpace(string(data))
}
