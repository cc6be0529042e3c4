//go:build !linux

package host

import (
	"os"

	"github.com/bentobuild/bento/adapters"
)

// pinned needs an anonymous executable file, which only Linux has.
func pinned(string, string, adapters.Environ) (*os.File, error) {
	return nil, distrust("other users may write to it, and on this system a digest does not protect it")
}
