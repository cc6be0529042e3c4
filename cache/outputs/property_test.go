//go:build unix

package outputs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
)

// drawTree draws a workspace with few names, so that two of them collide in every way.
func drawTree(t *rapid.T, label string) tree {
	paths := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab\n](/[ab](/[a\xff])?)?`), 0, 8, rapid.ID[string]).Draw(t, label)
	files := tree{}
	for _, p := range paths {
		if conflicts(files, p) {
			continue
		}
		mode := rapid.SampledFrom([]string{"644", "755", "444", "600", "700"}).Draw(t, "mode")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			files[p] = "-> " + rapid.SampledFrom([]string{"a", "b", "nowhere/x", "./a/b"}).Draw(t, "target")
		case 1:
			files[p] = mode + "/"
		default:
			content := rapid.SampledFrom([]string{"", "x", "y", strings.Repeat("z", 9000)}).Draw(t, "content")
			files[p] = mode + " " + content
		}
	}
	return files
}

// conflicts reports whether the path p conflicts with one of files.
func conflicts(files tree, p string) bool {
	for q := range files {
		if strings.HasPrefix(p, q+"/") || strings.HasPrefix(q, p+"/") {
			return true
		}
	}
	return false
}

func isDir(what string) bool { return strings.HasSuffix(what, "/") }

// A restore in another workspace makes exactly the captured and recorded outputs, whatever was there
// before.
func TestRestoreIsCaptureReversed(t *testing.T) {
	s, _ := openDisk(t)
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		defer os.RemoveAll(root)
		old, want := drawTree(rt, "old"), drawTree(rt, "want")
		from, to := filepath.Join(root, "from"), filepath.Join(root, "to")
		if err := errors.Join(os.MkdirAll(from, 0o777), os.MkdirAll(to, 0o777)); err != nil {
			t.Fatal(err)
		}
		makeTree(t, from, want)
		makeTree(t, to, old)
		made := &cache.Record{}
		out, err := outputs.Capture(nil, made.With(s), from, sortedKeys(want))
		if err != nil {
			rt.Fatal(err)
		}
		made.Outputs = out
		key := cache.Key{byte(n), byte(n >> 8)}
		if err := s.Record(key, made); err != nil {
			rt.Fatal(err)
		}
		record, err := s.Lookup(key)
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(out, record.Outputs) {
			rt.Fatalf("recorded as %v, want %v", record.Outputs, out)
		}
		o, stage := outputs.Options{Stale: sortedKeys(old)}, filepath.Join(root, "stage")
		if _, err := restore(record.With(s), to, stage, record.Outputs, o); err != nil {
			rt.Fatalf("restore: %v", err)
		}
		if diff := cmp.Diff(want, readTree(t, to)); diff != "" {
			rt.Fatalf("-want +got:\n%s", diff)
		}
		again, err := outputs.Capture(nil, nil, to, sortedKeys(want))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(out, again); diff != "" {
			rt.Fatalf("captured again, -want +got:\n%s", diff)
		}
		stats, err := restore(record.With(s), to, stage, record.Outputs, o)
		if err != nil || stats.Kept != len(out) || stats.Written+stats.Removed > 0 {
			rt.Fatalf("restored again: %+v, %v", stats, err)
		}
	})
}
