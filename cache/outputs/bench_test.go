//go:build unix

package outputs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
	"github.com/bentobuild/bento/cache/outputs"
)

// contents returns different blobs of size bytes. Half of each can be compressed.
func contents(n, size int) [][]byte {
	rng := rand.New(rand.NewPCG(1, uint64(size)))
	all := make([][]byte, n)
	for i := range all {
		all[i] = bytes.Repeat([]byte("package x // "), size/13+1)[:size]
		for j := 0; j < size; j += 2 {
			if i%2 == 0 || j < 16 {
				all[i][j] = byte(rng.Uint32())
			}
		}
	}
	return all
}

var sizes = map[string]int{"2KiB": 2 << 10, "64KiB": 64 << 10, "4MiB": 4 << 20}

// BenchmarkRestore restores a task with one output, as after rm -rf of its directory.
func BenchmarkRestore(b *testing.B) {
	for name, size := range sizes {
		b.Run(name, func(b *testing.B) {
			benchmarkRestore(b, contents(1, size))
		})
	}
}

// BenchmarkRestoreMany restores a task with many outputs in few directories.
func BenchmarkRestoreMany(b *testing.B) { benchmarkRestore(b, contents(1000, 2<<10)) }

func benchmarkRestore(b *testing.B, blobs [][]byte) {
	s, _ := openDisk(b)
	var out []cache.Output
	for i, data := range blobs {
		out = append(out, cache.Output{
			Path: fmt.Sprintf("packages/p/dist/d%02d/f%04d", i/50, i), Kind: cache.File, Mode: 0o644,
			Digest: cachetest.Add(b, s, data), Size: int64(len(data)),
		})
	}
	root := b.TempDir()
	b.SetBytes(int64(len(blobs) * len(blobs[0])))
	i := 0
	for b.Loop() {
		ws := filepath.Join(root, strconv.Itoa(i))
		if err := os.Mkdir(ws, 0o777); err != nil {
			b.Fatal(err)
		}
		if _, err := restore(s, ws, filepath.Join(root, "stage"), out, outputs.Options{}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkRestoreKept restores outputs that are already up to date.
func BenchmarkRestoreKept(b *testing.B) {
	s, _ := openDisk(b)
	root := b.TempDir()
	out := captured(b, s, tree{"p/dist/a": "644 " + strings.Repeat("a", 2000)})
	o := outputs.Options{Current: func(string) (cache.Digest, bool) { return out[0].Digest, true }}
	if _, err := restore(s, root, "", out, o); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := restore(s, root, "", out, o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCapture(b *testing.B) {
	for name, size := range sizes {
		b.Run(name, func(b *testing.B) {
			root := b.TempDir()
			makeTree(b, root, tree{"p/dist/a": "644 " + string(contents(1, size)[0])})
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := outputs.Capture(nil, nil, root, []string{"p/dist/a"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
