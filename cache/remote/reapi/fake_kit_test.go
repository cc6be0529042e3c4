package reapi

import (
	"testing"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// TestFakes runs the kit of backends with servers that announce what no real one does. The stubs of the API decode
// what the client sends, and encode what it gets.
func TestFakes(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*fake{
		"plain":       {},
		"all at once": {instance: "main/linux", zstd: true, maxBatch: 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !f.zstd {
				t.Skip("one of both will do")
			}
			address := f.start(t)
			remotetest.Run(t, func(t *testing.T) remote.Backend {
				return client(t, address+"/"+f.instance)
			})
		})
	}
}
