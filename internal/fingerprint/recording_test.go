package fingerprint

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
)

// record stores a recording of ingredients and gives its key.
func record(t *testing.T, s cache.Store, list []Ingredient, own [][]byte, more ...[][]byte) cache.Key {
	t.Helper()
	add := func(blob []byte) cache.Digest {
		if err := s.Add(cache.Sum(blob), bytes.NewReader(blob)); err != nil {
			t.Fatal(err)
		}
		return cache.Sum(blob)
	}
	r := &cache.Record{Ingredients: add(EncodeBundle(append([][]byte{EncodeIngredients(list)}, own...)...))}
	for _, parts := range more {
		r.Refs = append(r.Refs, add(EncodeBundle(parts...)))
	}
	key := cache.Key(r.Ingredients)
	if err := s.Record(key, r); err != nil {
		t.Fatal(err)
	}
	return key
}

func TestRecording(t *testing.T) {
	s, err := cache.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	list := []Ingredient{{Text, "task", "build"}, {Files, "inputs", cache.Sum([]byte("own")).String()}}
	key := record(t, s, list, [][]byte{[]byte("own")}, [][]byte{[]byte("first"), {}}, [][]byte{[]byte("second")})
	got, err := Recorded(s, key)
	if err != nil || !cmp.Equal(got.Ingredients, list) {
		t.Fatalf("%v, %v", got, err)
	}
	for _, part := range []string{"own", "second", "first", "own"} {
		if string(got.Blob(cache.Sum([]byte(part)))) != part {
			t.Errorf("%q is not there", part)
		}
	}
	if b := got.Blob(cache.Sum([]byte("else"))); b != nil {
		t.Errorf("something else: %q", b)
	}
	if _, err := Recorded(s, cache.Key{1}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("of nothing: %v", err)
	}
}

func FuzzDecodeBundle(f *testing.F) {
	f.Add(EncodeBundle([]byte("a"), nil, []byte("b")))
	f.Fuzz(func(t *testing.T, blob []byte) {
		parts, err := DecodeBundle(blob)
		if err != nil {
			return
		}
		if again, err := DecodeBundle(EncodeBundle(parts...)); err != nil || !slices.EqualFunc(parts, again, bytes.Equal) {
			t.Errorf("%q, %v", again, err)
		}
	})
}
