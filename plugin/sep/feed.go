package sep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Feed is the Provider of a run. Its messages are those of Add: the findings and the ends of tasks, with
// the task as conversation. Its contacts are the code owners of the workspace. It is read-only: Send is
// unavailable. Several extensions may share one.
type Feed struct {
	owners func() []Contact // by id

	mu    sync.Mutex
	first int // number of list[0], from 1
	list  []Message
	bytes int
}

var _ Provider = (*Feed)(nil)

// The bounds of a Feed, and of one of its messages.
const (
	maxMessages     = 2000
	maxMessageBytes = 1 << 20
	maxContent      = 16 << 10
)

// NewFeed returns a feed. owners is called once, when an extension first asks for the contacts, and
// returns the code owners, which ParseOwners reads.
func NewFeed(owners func() []string) *Feed {
	return &Feed{first: 1, owners: sync.OnceValue(func() []Contact {
		list := []Contact{}
		for _, o := range owners() {
			list = append(list, Contact{ID: o, Name: strings.TrimPrefix(o, "@")})
		}
		slices.SortFunc(list, func(a, b Contact) int { return cmp.Compare(a.ID, b.ID) })
		return list
	})}
}

// Add adds a message. Of the messages the newest 2,000 and 1 MiB are kept. Content over 16 KiB is
// cut.
func (f *Feed) Add(conversation, content string, at time.Time) {
	if len(content) > maxContent {
		cut := maxContent
		for cut > 0 && !utf8.RuneStart(content[cut]) {
			cut--
		}
		content = content[:cut] + "…"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, Message{
		ID: strconv.Itoa(f.first + len(f.list)), Conversation: conversation, Direction: "in", Content: content, Timestamp: at.UTC(),
	})
	f.bytes += len(content)
	for len(f.list) > maxMessages || f.bytes > maxMessageBytes {
		f.bytes -= len(f.list[0].Content)
		f.list[0] = Message{}
		f.list, f.first = f.list[1:], f.first+1
	}
}

// Messages returns the newest messages before the cursor, which is the id of a message.
func (f *Feed) Messages(_ context.Context, q MessageQuery) (MessagePage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := len(f.list)
	if q.Before != "" {
		n, err := strconv.Atoi(q.Before)
		if err != nil || n < 1 {
			return MessagePage{}, &CursorError{Member: "before", Value: q.Before}
		}
		end = max(0, min(end, n-f.first))
	}
	page := MessagePage{Messages: []Message{}}
	for i := end - 1; i >= 0; i-- {
		if q.Conversation != "" && f.list[i].Conversation != q.Conversation {
			continue
		}
		if len(page.Messages) == q.Limit {
			page.Next = page.Messages[q.Limit-1].ID
			break
		}
		page.Messages = append(page.Messages, f.list[i])
	}
	slices.Reverse(page.Messages)
	return page, nil
}

// Contacts returns the code owners whose id is above the cursor.
func (f *Feed) Contacts(_ context.Context, q ContactQuery) (ContactPage, error) {
	owners := f.owners()
	i, found := slices.BinarySearchFunc(owners, q.After, func(c Contact, id string) int { return cmp.Compare(c.ID, id) })
	if found {
		i++
	}
	end := min(i+q.Limit, len(owners))
	page := ContactPage{Contacts: append([]Contact{}, owners[i:end]...)}
	if end < len(owners) {
		page.Next = owners[end-1].ID
	}
	return page, nil
}

// Send is unavailable: a run has no recipients. bento sends no messages for an extension, which can use
// the network itself.
func (f *Feed) Send(context.Context, Outgoing) (Sent, error) {
	return Sent{}, fmt.Errorf("%w: the messages of a run are read-only", ErrUnavailable)
}

// CursorError is the error of a cursor that no page had.
type CursorError struct{ Member, Value string }

func (e *CursorError) Error() string {
	return fmt.Sprintf("%s is %.60q, required the member \"next\" of a page", e.Member, e.Value)
}

// The bounds of a file of code owners.
const (
	maxOwnersFile = 3 << 20
	maxOwners     = 5000
	maxOwner      = 256
)

// ParseOwners returns the owners of a CODEOWNERS file, sorted, without duplicates: @user, @group/team and
// mail addresses. It ignores lines that are no rules, and everything after 3 MiB or 5,000 owners.
func ParseOwners(data []byte) []string {
	seen := make(map[string]bool)
	for line := range strings.Lines(string(data[:min(len(data), maxOwnersFile)])) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0][0] == '#' || fields[0][0] == '[' || fields[0][0] == '^' {
			continue
		}
		for _, owner := range fields[1:] {
			if at := strings.IndexByte(owner, '@'); at >= 0 && len(owner) > 1 && len(owner) <= maxOwner && utf8.ValidString(owner) && len(seen) < maxOwners {
				seen[owner] = true
			}
		}
	}
	owners := make([]string, 0, len(seen))
	for owner := range seen {
		owners = append(owners, owner)
	}
	slices.Sort(owners)
	return owners
}
