package diskstore

import (
	"strings"
	"testing"
	"time"

	"github.com/zeebo/blake3"
)

// A blob that a process touches after a Prune has listed it stays, with its new time: a record of
// that process may need it.
func TestRemoveUnused(t *testing.T) {
	s, err := New(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sum := blake3.Sum256([]byte("content"))
	if err := s.Add(sum, strings.NewReader("content")); err != nil {
		t.Fatal(err)
	}
	listed, ok := s.blobFile(sum)
	if !ok {
		t.Fatal("the blob is missing")
	}
	later := listed.used.Add(time.Second)
	if !s.touch(blobs, sum, listed.suffix, later) {
		t.Fatal("the blob is missing")
	}
	if removed, err := listed.removeUnused(); removed || err != nil {
		t.Errorf("used since: removed %v, %v", removed, err)
	}
	now, ok := s.blobFile(sum)
	if !ok || !now.used.Equal(later) {
		t.Fatalf("used since: there %v, last use %v, want %v", ok, now.used, later)
	}
	if removed, err := now.removeUnused(); !removed || err != nil || s.HasBlob(sum) {
		t.Errorf("unused: removed %v, %v, there %v", removed, err, s.HasBlob(sum))
	}
}

// A result that is used between the listing of a Prune and its end stays, with its blobs.
func TestVictimsUsedSince(t *testing.T) {
	s, err := New(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	blob, key := blake3.Sum256([]byte("content")), [32]byte{1}
	if err := s.Add(blob, strings.NewReader("content")); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteRecord(key, []byte("record")); err != nil {
		t.Fatal(err)
	}
	needs := func(_ [32]byte, _ []byte, each func([32]byte)) error { each(blob); return nil }
	listed := func() (*inventory, []group) {
		st, err := s.stock()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(st.close)
		inv, err := s.takeInventory(t.Context(), st, needs)
		if err != nil {
			t.Fatal(err)
		}
		gone, _ := inv.keep(Bounds{MaxSize: 1}, 1)
		return inv, gone
	}
	inv, gone := listed()
	if !s.touch(records, key, "", time.Now().Add(time.Second)) {
		t.Fatal("the record is missing")
	}
	if list := inv.victims(gone); len(list) != 0 {
		t.Errorf("used since: %d files are removed", len(list))
	}
	inv, gone = listed()
	if list := inv.victims(gone); len(list) != 2 || !list[0].Record || list[1].Record {
		t.Errorf("unused: %+v", list)
	}
}
