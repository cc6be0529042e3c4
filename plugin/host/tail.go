package host

import (
	"io"
	"strings"
	"sync"
)

// Tail forwards writes and keeps their end. It is safe for concurrent use.
type Tail struct {
	next io.Writer
	size int

	mu   sync.Mutex
	kept []byte // at most twice the size and one
}

// NewTail returns a tail that keeps size bytes, and forwards to next unless that is nil.
func NewTail(size int, next io.Writer) *Tail { return &Tail{next: next, size: size} }

// Write never fails: a plugin must not end when the terminal is gone.
func (t *Tail) Write(p []byte) (int, error) {
	if t.next != nil {
		_, _ = t.next.Write(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	const cut = 1 // a byte more, so that String knows
	t.kept = append(t.kept, p[max(0, len(p)-t.size-cut):]...)
	if len(t.kept) > 2*t.size+cut {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.size-cut:]...)
	}
	return len(p), nil
}

// Reset drops the kept bytes.
func (t *Tail) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = nil
}

// String returns the last bytes, from the start of a line where one was cut.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.kept)
	if len(text) > t.size {
		text = text[len(text)-t.size:]
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
