package state

import (
	"context"
	"sync"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// tempDir holds what is made beside its final place.
const tempDir = "tmp"

// Temp makes an empty directory for files on their way to their place in the
// workspace, on the same file system. Its Remove removes it with all it holds. Those of
// processes that died are removed by the next Temp or Sweep of any process.
func (d *Dir) Temp() (*owndir.Temp, error) {
	parent, err := d.sub(tempDir, true)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	d.Sweep()
	return parent.Temp()
}

// LazyTemp is Temp for who may need no directory: the first call of open makes it. Each
// opens it for the caller, who closes it. remove comes when no open is running or to come.
func (d *Dir) LazyTemp() (open func() (*rawfile.File, error), remove func()) {
	away := func() {}
	temp := sync.OnceValues(func() (*owndir.Temp, error) {
		t, err := d.Temp()
		if err == nil {
			away = t.Remove
		}
		return t, err
	})
	open = func() (*rawfile.File, error) {
		t, err := temp()
		if err != nil {
			return nil, err
		}
		return t.Again()
	}
	return open, sync.OnceFunc(func() { away() })
}

// Sweep removes the temporary files that killed processes left in the directory.
// What it cannot remove stays.
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
