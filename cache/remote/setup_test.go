package remote

import (
	"time"

	"github.com/bentobuild/bento/cache"
)

// sample returns a record with each kind of output.
func sample() *cache.Record {
	data := []byte("small")
	return &cache.Record{
		Outputs: []cache.Output{
			{Path: "a/dist/app", Kind: cache.File, Mode: 0o755, Digest: cache.Sum([]byte("app")), Size: 3},
			{Path: "a/dist/empty", Kind: cache.Dir, Mode: 0o755},
			{Path: "a/dist/link", Kind: cache.Link, Target: "app"},
			{Path: "a/dist/small", Kind: cache.File, Mode: 0o644, Digest: cache.Sum(data), Size: int64(len(data))},
		},
		Small:   map[cache.Digest][]byte{cache.Sum(data): data},
		Log:     cache.Sum([]byte("log\n")),
		LogSize: 4,
		Created: time.Unix(1_700_000_000, 5).UTC(), Duration: 3 * time.Second,
	}
}
