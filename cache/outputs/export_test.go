package outputs

import "github.com/bentobuild/bento/cache"

// Capture calls Capture of a Reader that is used once.
func Capture(stop <-chan struct{}, s cache.Store, root string, paths []string) ([]cache.Output, error) {
	return new(Reader).Capture(stop, s, root, paths)
}
