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
