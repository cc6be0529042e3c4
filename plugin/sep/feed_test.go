package sep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFeed reads all messages page by page, through the protocol.
func TestFeed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := NewFeed(func() []string { return []string{"@b", "@a", "c@example.com"} })
		for i := range 5 {
			f.Add(fmt.Sprintf("task%d", i%2), fmt.Sprint("m", i), time.Now())
		}
		talk(t, Options{Provider: f}, func(c *child) {
			at := `"timestamp":"2000-01-01T00:00:00Z"`
			for _, q := range []struct{ method, params, want string }{
				{"host.messages.list", `{"limit":2}`, `{"messages":[{"id":"4","conversation":"task1","direction":"in","content":"m3",` + at + `},{"id":"5","conversation":"task0","direction":"in","content":"m4",` + at + `}],"next":"4"}`},
				{"host.messages.list", `{"conversation":"task0","before":"5"}`, `{"messages":[{"id":"1","conversation":"task0","direction":"in","content":"m0",` + at + `},{"id":"3","conversation":"task0","direction":"in","content":"m2",` + at + `}]}`},
				{"host.messages.list", `{"before":"1"}`, `{"messages":[]}`},
				{"host.messages.list", `{"before":"0"}`, `-32602 {"reason":"invalid_params","path":"before"} params: before is "0", required the member "next" of a page`},
				{"host.contacts.list", `{"limit":2}`, `{"contacts":[{"id":"@a","name":"a"},{"id":"@b","name":"b"}],"next":"@b"}`},
				{"host.contacts.list", `{"limit":2,"after":"@b"}`, `{"contacts":[{"id":"c@example.com","name":"c@example.com"}]}`},
				{"host.messages.send", `{"destination":"task0","content":"x"}`, `-32018 {"reason":"unavailable"} not offered by bento: the messages of a run are read-only`},
			} {
				if got := c.ask(q.method, q.params); got != q.want {
					t.Errorf("%s %s:\n got %s\nwant %s", q.method, q.params, got, q.want)
				}
			}
		})
	})
}

func nobody() []string { return nil }

// TestFeedBounds: the oldest messages are removed, the cursors of the others stay the same, and long
// content is cut.
func TestFeedBounds(t *testing.T) {
	f := NewFeed(nobody)
	for range maxMessages + 10 {
		f.Add("a", "x", time.Now())
	}
	page, err := f.Messages(t.Context(), MessageQuery{Limit: 200, Before: "13"})
	if err != nil || len(page.Messages) != 2 || page.Messages[0].ID != "11" {
		t.Errorf("got %d messages, %v", len(page.Messages), err)
	}
	for range 100 {
		f.Add("a", strings.Repeat("ä", maxContent), time.Now())
	}
	if f.bytes > maxMessageBytes || len(f.list) > 66 || !strings.HasSuffix(f.list[0].Content, "ä…") {
		t.Errorf("%d bytes in %d messages", f.bytes, len(f.list))
	}
}

func TestOwners(t *testing.T) {
	got := ParseOwners([]byte("# comment @no\n* @all @org/team # @no\n[Section][2] @no\n^[Optional] @no\n/docs/ docs@example.com @all\n/empty\n\n/x notanowner @\r\n"))
	if diff := cmp.Diff([]string{"@all", "@org/team", "docs@example.com"}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzOwners(f *testing.F) {
	f.Add([]byte("* @all @org/team # @no\n[Section] @no\n/docs/ docs@example.com\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		owners := ParseOwners(data)
		if !slices.IsSorted(owners) || len(slices.Compact(slices.Clone(owners))) != len(owners) {
			t.Fatalf("%q", owners)
		}
		for _, o := range owners {
			if !strings.Contains(o, "@") || strings.ContainsAny(o, " \t\n") || len(o) > maxOwner {
				t.Fatalf("%q", o)
			}
		}
	})
}
