package tree

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/state"
)

// workspace makes a git repository of 1,000 directories with 20 files of 2 kB, or
// takes the one in BENTO_BENCH_DIR.
func workspace(b *testing.B) string {
	b.Helper()
	if dir := os.Getenv("BENTO_BENCH_DIR"); dir != "" {
		return dir
	}
	needGit(b)
	dir := tempDir(b)
	runGit(b, dir, "init", "-q")
	text := strings.Repeat("0123456789abcdef", 125)
	write(b, dir, ".gitignore", "dist/\nnode_modules\n*.log\n.ninja_*\n")
	for p := range 1000 {
		for f := range 20 {
			write(b, dir, fmt.Sprintf("packages/p%04d/src/f%02d.txt", p, f), text)
		}
		write(b, dir, fmt.Sprintf("packages/p%04d/dist/out.txt", p), text)
	}
	runGit(b, dir, "add", ".")
	return dir
}

func BenchmarkWalk(b *testing.B) {
	dir := workspace(b)
	b.Run("walk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Walk(context.Background(), dir, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git-status", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("git", "-C", dir, "status", "--porcelain").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWarm measures the queries of a run with nothing to do.
func BenchmarkWarm(b *testing.B) {
	dir := workspace(b)
	st := state.Open(dir)
	once := func() (reads int64) {
		t, err := Walk(context.Background(), dir, &Options{State: st})
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range t.Entries() {
			if _, err := t.Index().Sum(e); err != nil && e.Kind == File {
				b.Fatal(err)
			}
		}
		reads = t.Index().Reads()
		if err := t.Index().Save(); err != nil {
			b.Fatal(err)
		}
		return reads
	}
	once()
	once()
	b.ReportAllocs()
	for b.Loop() {
		if n := once(); n != 0 {
			b.Fatalf("%d files read", n)
		}
	}
}

func BenchmarkIndexLoad(b *testing.B) {
	dir := workspace(b)
	t, err := Walk(context.Background(), dir, &Options{State: state.Open(dir)})
	if err != nil {
		b.Fatal(err)
	}
	sumAllFiles(b, t)
	b.ReportAllocs()
	for b.Loop() {
		if openIndex(&Tree{root: t.root, state: t.state}).saved.Dirs() == 0 {
			b.Fatal("no index")
		}
	}
}

// BenchmarkCold reads every file.
func BenchmarkCold(b *testing.B) {
	dir := workspace(b)
	t, err := Walk(context.Background(), dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	var size int64
	for _, e := range t.Entries() {
		size += e.Size
	}
	b.SetBytes(size)
	for b.Loop() {
		ix := openIndex(&Tree{root: t.root})
		for _, e := range t.Entries() {
			if _, err := ix.Sum(e); err != nil && e.Kind == File {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	dir := workspace(b)
	t, err := Walk(context.Background(), dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, globs := range []string{"**", "src/**", "**/*.txt package.json", "src/**/f*.txt !**/f01.txt //package.json", "dist/*.txt"} {
		b.Run(strings.ReplaceAll(globs, "/", "|"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := CompileSet("packages/p0007", strings.Fields(globs))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := t.Select(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func sumAllFiles(b *testing.B, t *Tree) {
	b.Helper()
	for _, e := range t.Entries() {
		if _, err := t.Index().Sum(e); err != nil && e.Kind == File {
			b.Fatal(err)
		}
	}
	if err := t.Index().Save(); err != nil {
		b.Fatal(err)
	}
}
