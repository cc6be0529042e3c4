//go:build !linux

package host

import (
	"os"

	"github.com/bentobuild/bento/adapters"
)

// pinned needs a file without a name that can be executed, which only Linux has.
func pinned(string, string, adapters.Environ) (*os.File, error) {
	return nil, distrust("others may write to it, and on this system its digest alone is not enough")
}
