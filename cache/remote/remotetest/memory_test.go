package remotetest

import (
	"testing"

	"github.com/bentobuild/bento/cache/remote"
)

func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) remote.Backend { return NewMemory() })
}
