package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/rawfile"
)

// tempDir contains files that are made before they are moved to their place.
const tempDir = "tmp"

// Temp makes an empty directory, on the file system of the workspace, for files that are then moved
// to their place in it. Remove of the result removes it with its content. The next Temp or Sweep of
// any process removes those of dead processes.
func (d *Dir) Temp() (*owndir.Temp, error) {
	parent, err := d.sub(tempDir, true)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	d.Sweep()
	return parent.Temp()
}

// TempElsewhere is Temp in the system's directory of temporary files, for a workspace without
// state.
func TempElsewhere() (*owndir.Temp, error) {
	parent, err := owndir.Open(os.TempDir(), nil)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return parent.Temp()
}

// LazyTemp is Temp for a caller that may need no directory: the first call of open makes it. open
// returns it opened; the caller closes it. Call remove when no open runs or follows. For a user for
// whom bento saves nothing in the workspace it is TempElsewhere.
func (d *Dir) LazyTemp() (open func() (*rawfile.File, error), remove func()) {
	temp, remove := d.onceTemp()
	open = func() (*rawfile.File, error) {
		t, err := temp()
		if err != nil {
			return nil, err
		}
		return t.Again()
	}
	return open, remove
}

// LazyDirs is LazyTemp for a caller that needs many empty directories: each call of next returns one,
// and discard removes it with its content. If again is set and the directory is empty, discard keeps
// it for another call of next; then no process may have it open.
func (d *Dir) LazyDirs() (next func() (path string, discard func(again bool), err error), remove func()) {
	temp, remove := d.onceTemp()
	var mu sync.Mutex
	var idle []string
	take := func(t *owndir.Temp) (string, error) {
		mu.Lock()
		if last := len(idle) - 1; last >= 0 {
			defer mu.Unlock()
			name := idle[last]
			idle = idle[:last]
			return name, nil
		}
		mu.Unlock()
		name := owndir.RandomName()
		sub, err := t.Enter(name, true)
		if err == nil {
			sub.Close()
		}
		return name, err
	}
	next = func() (string, func(bool), error) {
		t, err := temp()
		if err != nil {
			return "", nil, err
		}
		name, err := take(t)
		if err != nil {
			return "", nil, err
		}
		return filepath.Join(t.Path(), name), func(again bool) {
			if !again || !isEmpty(t.Dir, name) {
				_ = t.RemoveAll(name)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			idle = append(idle, name)
		}, nil
	}
	return next, remove
}

func isEmpty(d *owndir.Dir, name string) bool {
	sub, err := d.Enter(name, false)
	if err != nil {
		return false
	}
	defer sub.Close()
	return sub.IsEmpty()
}

// onceTemp is LazyTemp, but temp does not open the directory.
func (d *Dir) onceTemp() (temp func() (*owndir.Temp, error), remove func()) {
	away := func() {}
	temp = sync.OnceValues(func() (*owndir.Temp, error) {
		t, err := d.Temp()
		var guest *owner.GuestError
		if errors.As(err, &guest) {
			t, err = TempElsewhere()
		}
		if err == nil {
			away = t.Remove
		}
		return t, err
	})
	return temp, sync.OnceFunc(func() { away() })
}

// Sweep removes the temporary files of killed processes in the directory. It ignores errors.
func (d *Dir) Sweep() {
	self, err := d.self(context.Background(), false)
	if err != nil {
		return
	}
	defer self.Close()
	self.SweepFiles()
	if temp, err := self.Enter(tempDir, false); err == nil {
		temp.Sweep()
		temp.Close()
	}
}
