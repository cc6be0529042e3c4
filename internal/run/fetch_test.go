package run_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/run"
)

// late is a store in another directory, whose results reach the store of a workspace only when it is asked.
type late struct {
	*testing.T
	from, to *cache.Disk
	asked    [][]cache.Key
	lies     bool // it returns keys whose results it did not bring
}

// fetch is an Env.Fetch.
func (l *late) fetch(_ context.Context, keys []cache.Key) (arrived []cache.Key) {
	l.asked = append(l.asked, slices.Clone(keys))
	for _, k := range keys {
		r, err := l.from.Lookup(k)
		if l.lies || err == nil && l.bring(k, r) == nil {
			arrived = append(arrived, k)
		} else if err != nil && !errors.Is(err, cache.ErrMiss) {
			l.Error(err)
		}
	}
	return arrived
}

// bring copies a result with its blobs.
func (l *late) bring(k cache.Key, r *cache.Record) error {
	blobs := []cache.Digest{r.Pack, r.Log}
	for _, o := range r.Outputs {
		if o.Kind == cache.File {
			blobs = append(blobs, o.Digest)
		}
	}
	for _, d := range blobs {
		if _, own := r.Small[d]; own || d == (cache.Digest{}) {
			continue
		}
		f, err := l.from.Open(d)
		if err != nil {
			return err
		}
		err = l.to.Add(d, f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return l.to.Record(k, r)
}

// Misses whose results are asked for at once and arrive are hits like any other: nothing is executed, and the
// outputs are those of the first run. A key that needs the outputs of another task is asked for once that has
// arrived.
func TestFetch(t *testing.T) {
	for name, lies := range map[string]bool{"arrives": false, "lies": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if err := copyTo(filepath.Join(b.root, "d/dish.toml"), []byte(lateTasks)); err != nil {
				t.Fatal(err)
			}
			b.run("all")
			before := b.made()
			home, _ := b.env.Lookup("HOME")
			for _, err := range []error{
				os.Rename(filepath.Join(home, "cache"), filepath.Join(home, "late")), os.RemoveAll(filepath.Join(b.root, ".bento")),
				os.RemoveAll(filepath.Join(b.root, "d/out")), os.RemoveAll(filepath.Join(b.root, "d/gen.txt")),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			from, err := cache.Open(filepath.Join(home, "late"), nil)
			if err != nil {
				t.Fatal(err)
			}
			to, err := cache.Open(filepath.Join(home, "cache"), nil)
			if err != nil {
				t.Fatal(err)
			}
			far := &late{T: t, from: from, to: to, lies: lies}
			b.fetch = far.fetch
			results, _ := b.run("all")
			for name, r := range results {
				if want := map[bool]run.Outcome{false: run.CacheHit, true: run.Built}[lies || name == "all"]; r.Outcome != want {
					t.Errorf("%s: %s %s, want %s", name, r.Outcome, r.Message, want)
				}
			}
			if after := b.made(); !slices.Equal(before, after) {
				t.Errorf("made %q, want %q", after, before)
			}
			sizes := make([]int, len(far.asked))
			for i, keys := range far.asked {
				sizes[i] = len(keys)
			}
			if !slices.Equal(sizes, []int{2, 1}) {
				t.Errorf("asked for %d keys, want 2 and then 1", sizes)
			}
		})
	}
}

// made describes the outputs of all tasks.
func (b *bench) made() (list []string) {
	err := filepath.WalkDir(filepath.Join(b.root, "d"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		target, _ := os.Readlink(p)
		list = append(list, fmt.Sprintf("%s %v %q %s", d.Name(), fi.Mode(), data, target))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return list
}

const lateTasks = `language = "none"
[tasks.gen]
run = "cat src.c > gen.txt"
outputs = ["gen.txt"]
[tasks.build]
run = "mkdir out; cat gen.txt > out/all; chmod 755 out/all; ln -s all out/link"
depends_on = ["gen"]
inputs = ["gen.txt"]
outputs = ["out/*"]
[tasks.check]
run = "echo checked"
inputs = ["src.c"]
[tasks.all]
run = "true"
depends_on = ["build", "check"]
cache = false
`
