package action

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a second attempt reads of what the first has written is its own; what either has read counts.
func TestUsedAfter(t *testing.T) {
	began := time.Unix(1, 0)
	first := &Used{Began: began, Files: []UsedFile{
		{Path: "/w/both", Use: Stat}, {Path: "/w/first", Use: Read}, {Path: "/w/made", Use: Stat | Write, Absent: true},
	}, Outside: []string{"/a", "/b"}, Unseen: []string{"why"}}
	second := &Used{Began: time.Unix(2, 0), Files: []UsedFile{
		{Path: "/w/both", Use: Read}, {Path: "/w/gone", Use: Read, Absent: true}, {Path: "/w/made", Use: Read | Remove},
	}, Outside: []string{"/b", "/c"}, LacksRights: true}
	want := &Used{Began: began, Files: []UsedFile{
		{Path: "/w/both", Use: Stat | Read}, {Path: "/w/first", Use: Read}, {Path: "/w/gone", Use: Read, Absent: true},
		{Path: "/w/made", Use: Stat | Write | Remove, Absent: true},
	}, Outside: []string{"/a", "/b", "/c"}, Unseen: []string{"why"}, LacksRights: true}
	if diff := cmp.Diff(want, second.After(first)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if second.After(nil) != second {
		t.Error("after nothing, want the same")
	}
}
