// Package tail keeps the last words of a plugin.
package tail

import (
	"io"
	"strings"
	"sync"
)

// Tail passes on what is written to it and keeps the end. It is safe for concurrent use.
type Tail struct {
	next io.Writer
	size int

	mu   sync.Mutex
	kept []byte // at most twice the size
}

// New makes a Tail of so many bytes that writes to next, nil for nobody.
func New(size int, next io.Writer) *Tail { return &Tail{next: next, size: size} }

// Write never fails: a plugin must not die of a terminal that is gone.
func (t *Tail) Write(p []byte) (int, error) {
	if t.next != nil {
		_, _ = t.next.Write(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-t.size):]...)
	if len(t.kept) > 2*t.size {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.size:]...)
	}
	return len(p), nil
}

// Reset forgets what was written.
func (t *Tail) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = nil
}

// String gives the last bytes, from the start of a line where one was cut.
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
