package main

import (
	"path/filepath"
	"testing"
)

// TestGroupLimit: groupLimit returns the smallest limit of the control group and those above it, and ignores
// invalid limits.
func TestGroupLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, list string
		files      map[string]string
		want       int64
	}{
		{"no groups", "", nil, 0},
		{"version 1", "4:memory:/a\n", map[string]string{"a/memory.max": "5"}, 0},
		{"none", "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n"}, 0},
		{"own", "1:name=x:/\n0::/a/b\n", map[string]string{"a/b/memory.max": "500\n", "a/memory.max": "max\n"}, 500},
		{"above", "0::/a/b\n", map[string]string{"a/b/memory.max": "500\n", "a/memory.max": "400\n", "memory.max": "900\n"}, 400},
		{"of a container", "0::/\n", map[string]string{"memory.max": "300\n"}, 300},
		{"nonsense", "0::/../..\n", map[string]string{"memory.max": "-7"}, 0},
	} {
		root := t.TempDir()
		write(t, root, "list", c.list)
		for name, text := range c.files {
			write(t, root, "mount/"+name, text)
		}
		if got := groupLimit(filepath.Join(root, "mount"), filepath.Join(root, "list")); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := machineMemory(); got < 1<<20 {
		t.Errorf("this machine has %d bytes", got)
	}
}
