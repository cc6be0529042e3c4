package key

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/internal/tree"
)

// fewFiles is the smallest number of unread files that readFiles reads.
const fewFiles = 8

// readFiles reads the files of entries that the index lacks, in parallel. It leaves fewer than
// fewFiles to Index.Sum, which the caller calls next. It ignores errors, because Index.Sum returns
// them again.
func readFiles(ix *tree.Index, entries []tree.Entry) {
	var unread []tree.Entry
	for _, e := range entries {
		if _, known := ix.Known(e); !known && e.Kind == tree.File {
			unread = append(unread, e)
		}
	}
	if len(unread) < fewFiles {
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(unread)); i = next.Add(1) - 1 {
				_, _ = ix.Sum(unread[i])
			}
		})
	}
	wg.Wait()
}
