package remotetest

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/cache/remote"
)

// Losing is a server that loses files.
type Losing struct {
	Dir  string // where it keeps them
	Open func(t *testing.T, o remote.Options) remote.Store
	// Around calls lose as the server bears it; nil calls it while the server runs.
	Around func(lose func())
}

// RunEvictions lets the server lose one to three of its files, by chance, in each round: a result is a miss then, or a hit with
// all its bytes, and sending it again mends it.
func RunEvictions(t *testing.T, s Losing, rounds int, random *rand.Rand) {
	of := newShop(t, s.Open)
	contents := [][]byte{Noise(10), Noise(5000), Noise(100_000), Noise(2 << 20)}
	for i := range 1200 { // so many that the envelope is a blob of its own
		contents = append(contents, []byte{byte(i), byte(i >> 8)})
	}
	here, hits := NewDisk(t), 0
	small, large := Key(), Key()
	results := []remote.Outgoing{
		{Key: small, Record: Result(t, here, small, contents[:3]...)}, {Key: large, Record: Result(t, here, large, contents...)},
	}
	for range rounds {
		for _, r := range results {
			mustSend(t, of.store(t, nil), here, r.Key, r.Record)
		}
		if s.Around == nil {
			s.lose(t, random)
		} else {
			s.Around(func() { s.lose(t, random) })
		}
		for _, r := range results {
			there := NewDisk(t)
			got, err := Get(bounded(t), of.store(t, nil), there, r.Key)
			switch {
			case err == nil:
				hits++
				same(t, r.Record, got, here, there)
			case !errors.Is(err, remote.ErrMiss):
				t.Fatalf("%v, want a miss or a hit", err)
			}
			mustSend(t, of.store(t, nil), here, r.Key, r.Record)
			there = NewDisk(t)
			if got, err = Get(bounded(t), of.store(t, nil), there, r.Key); err != nil {
				t.Fatalf("not mended: %v", err)
			}
			same(t, r.Record, got, here, there)
		}
	}
	t.Logf("%d hits after %d evictions", hits, rounds)
}

// lose removes files of each kind: results, larger blobs such as that of an envelope, and any.
func (s *Losing) lose(t *testing.T, random *rand.Rand) {
	t.Helper()
	var kinds [3][]string
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() == 0 { // servers have the empty blob without a client that sends it (REAPI)
			return err
		}
		rel, err := filepath.Rel(s.Dir, path)
		if strings.HasPrefix(rel, "ac") {
			kinds[0] = append(kinds[0], path)
		} else if info.Size() >= 4096 {
			kinds[1] = append(kinds[1], path)
		}
		kinds[2] = append(kinds[2], path)
		return err
	})
	if err != nil || len(kinds[0]) < 2 || len(kinds[1]) < 4 || len(kinds[2]) < 1000 {
		t.Fatalf("%d results, %d larger files of %d, %v", len(kinds[0]), len(kinds[1]), len(kinds[2]), err)
	}
	for range 1 + random.IntN(3) {
		kind := kinds[random.IntN(len(kinds))]
		if err := os.Remove(kind[random.IntN(len(kind))]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}
