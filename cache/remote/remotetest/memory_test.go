package remotetest

import (
	"testing"

	"github.com/bentobuild/bento/cache/remote"
)

func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) remote.Backend { return NewMemory() })
}

func TestMemoryAsStore(t *testing.T) {
	var server *Memory
	last := ""
	RunStore(t, func(t *testing.T, o remote.Options) remote.Store {
		if t.Name() != last {
			server, last = NewMemory(), t.Name()
		}
		return remote.OverBackend(server, o)
	})
}
