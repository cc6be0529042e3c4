package gomod

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/lockgraph"
)

// Sums are the lines of a go.sum by the path of their module,
// https://go.dev/ref/mod#go-sum-files.
type Sums map[string][]string

// ParseSums reads a go.sum.
func ParseSums(path string, data []byte) (Sums, error) {
	all := make(Sums)
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue // as go itself does
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d is not a line of a %s", n, filepath.Base(path))
		}
		all[fields[0]] = append(all[fields[0]], fields[1]+" "+fields[2])
	}
	return all, nil
}

// Digest returns the digest of the lines for these modules.
func (s Sums) Digest(paths map[string]bool) string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		of := slices.Sorted(slices.Values(s[path]))
		for _, line := range slices.Compact(of) {
			lines = append(lines, path+" "+line)
		}
	}
	return lockgraph.Of(lines...).String()
}
