//go:build unix

package owner

import (
	"path/filepath"
	"testing"
)

// BenchmarkWays checks one plugin behind a link, as each invocation does.
func BenchmarkWays(b *testing.B) {
	path, err := filepath.EvalSymlinks("/usr/bin/env")
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if _, err := (Trusted{}).Ways().To(path); err != nil {
			b.Fatal(err)
		}
	}
}
