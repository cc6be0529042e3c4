package record

import (
	"slices"

	"github.com/bentobuild/bento/internal/tree"
)

// behindLink returns the first link through which an output of the task would be reached, "" for none: the
// files behind it are neither found nor restored. A link that the task has made is an output itself.
func (x *Execution) behindLink() string {
	for p := range x.set.Patterns() {
		for i := range len(p.Prefix) {
			if at := i + 1; at < len(p.Prefix) && p.Prefix[at] != '/' {
				continue
			}
			dir := p.Prefix[:i+1]
			e, err := x.Tree.Stat(dir)
			if err != nil {
				break
			}
			if e.Kind != tree.Link {
				continue
			}
			_, before := x.before[dir]
			if dir == p.Prefix && p.Rest == "" && (!before || slices.Contains(x.Last.Outputs, dir)) {
				break
			}
			return dir
		}
	}
	return ""
}
