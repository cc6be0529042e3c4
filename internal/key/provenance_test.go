package key

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
)

// record stores a record with the provenance of ingredients and returns its key.
func record(t *testing.T, s cache.Store, list []ingredient, blobs ...string) cache.Key {
	t.Helper()
	var p Pack
	for _, b := range blobs {
		p.Add([]byte(b))
	}
	r := &cache.Record{Ingredients: p.Add(encodeIngredients(list))}
	data := p.Encode()
	r.Pack = cache.Sum(data)
	key := cache.Key(r.Ingredients)
	if err := errors.Join(s.Add(r.Pack, bytes.NewReader(data)), s.Record(key, r)); err != nil {
		t.Fatal(err)
	}
	return key
}

func TestProvenance(t *testing.T) {
	s, err := cache.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	list := []ingredient{{kindText, "task", "build"}, {KindFiles, "inputs", cache.Sum([]byte("own")).String()}}
	key, other := record(t, s, list, "own", "", "second"), record(t, s, list[:1], "third")
	all := newProvenanceReader(s)
	for range 2 {
		got, err := all.Of(key)
		if err != nil || !cmp.Equal(got.Ingredients, list) {
			t.Fatalf("%v, %v", got, err)
		}
		for _, part := range []string{"own", "second", ""} {
			if b := got.Blob(cache.Sum([]byte(part))); b == nil || string(b) != part {
				t.Errorf("%q is not there", part)
			}
		}
		if b := got.Blob(cache.Sum([]byte("third"))); b != nil {
			t.Errorf("of another pack: %q", b)
		}
		if got, err := all.Of(other); err != nil || !cmp.Equal(got.Ingredients, list[:1]) {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if _, err := all.Of(cache.Key{1}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("of nothing: %v", err)
	}
	if err := s.Record(cache.Key{2}, &cache.Record{}); err != nil {
		t.Fatal(err)
	}
	if _, err := all.Of(cache.Key{2}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("of a record that tells nothing: %v", err)
	}
}

func FuzzDecodePack(f *testing.F) {
	var p Pack
	for _, b := range []string{"a", "", "b"} {
		p.Add([]byte(b))
	}
	f.Add(p.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := decodePack(data)
		if err != nil {
			return
		}
		var p Pack
		for _, d := range u.sums {
			p.Put(d, u.Blob(d))
		}
		again, err := decodePack(p.Encode())
		if err != nil {
			t.Fatal(err)
		}
		p.Each(func(d cache.Digest, b []byte) {
			if !bytes.Equal(again.Blob(d), b) {
				t.Errorf("%x: %q, before %q", d, again.Blob(d), b)
			}
		})
		if len(again.sums) != len(p.blobs) {
			t.Errorf("%d blobs of %d", len(again.sums), len(p.blobs))
		}
	})
}
