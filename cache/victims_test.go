package cache

import (
	"strings"
	"testing"
	"time"
)

// A blob that a process touches after Prune has listed it stays, with its new time. A record of that
// process may need it.
func TestRemoveUnused(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sum := Sum([]byte("content"))
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
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	blob, key := Sum([]byte("content")), Key{1}
	if err := s.Add(blob, strings.NewReader("content")); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(key, &Record{Outputs: []Output{{Path: "a", Kind: File, Digest: blob}}}); err != nil {
		t.Fatal(err)
	}
	listed := func() (*inventory, []group) {
		st, err := s.stock()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(st.close)
		inv, err := s.takeInventory(t.Context(), st)
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
	if list := inv.victims(gone); len(list) != 2 || !list[0].record || list[1].record {
		t.Errorf("unused: %+v", list)
	}
}

// If the file has too many uses, the earlier half is written to modification times.
func TestCutUses(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	early, late, renewed := [32]byte{1}, [32]byte{2}, [32]byte{3}
	now := time.Now()
	for key, modified := range map[[32]byte]time.Time{early: now.Add(-3 * time.Hour), late: now.Add(-3 * time.Hour), renewed: now} {
		if err := s.Record(key, &Record{}); err != nil {
			t.Fatal(err)
		}
		s.touch(records, key, "", modified)
	}
	used := now.Add(-time.Hour)
	all := []use{{early, used.UnixNano()}, {renewed, used.UnixNano()}}
	for i := range manyUses {
		all = append(all, use{[32]byte{4, byte(i), byte(i >> 8)}, used.UnixNano() + 1})
	}
	s.writeUses(append(all, use{late, used.UnixNano() + 2}))
	s.usage.keys = [][32]byte{{5}}
	s.WriteUses()
	got := s.readUses()
	if last := got[len(got)-1].key; len(got) != manyUses/2 || last != [32]byte{5} || got[len(got)-2].key != late {
		t.Errorf("%d uses, the last of %x", len(got), last)
	}
	for key, want := range map[[32]byte]time.Time{early: used, late: now.Add(-3 * time.Hour), renewed: now} {
		if got, ok := s.recordModified(key); !ok || got.Sub(want).Abs() > time.Millisecond {
			t.Errorf("record %d: modified %v, want %v", key[0], got, want)
		}
	}
}

// A file of uses with other content is treated as missing, whatever its size. Uses in the future are
// ignored.
func TestReadUsesOfAnything(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Record(Key{1}, &Record{}); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UnixNano()
	s.writeUses([]use{{[32]byte{2}, now}, {[32]byte{1}, now - 1}, {[32]byte{3}, now + int64(time.Hour)}})
	whole, _ := s.noted(usedFile, 1<<10)
	if all := s.readUses(); len(all) != 2 || all[0].key != [32]byte{1} {
		t.Errorf("uses %v, want those of 1 and 2", all)
	}
	for n := range len(whole) {
		s.note(usedFile, whole[:n])
		if all := s.readUses(); len(all) > n/usedSize {
			t.Errorf("%d bytes: uses %v", n, all)
		}
	}
	s.note(usedFile, append([]byte("another!"), whole[8:]...))
	if all := s.readUses(); len(all) != 0 {
		t.Errorf("without magic: %v", all)
	}
}
