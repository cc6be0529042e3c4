package mcp

import (
	"encoding/json"
	"time"
)

// Bounds of progress. A client that does not read them must not stop a run, so they are queued.
const (
	progressPause = 100 * time.Millisecond
	maxMessage    = 200 // bytes
)

// progress returns a function that sends the progress of a call to a client that has passed a token. It is for one
// goroutine at a time. Of messages in quick succession it sends the first.
func (c *connection) progress(token json.RawMessage) func(message string) {
	if len(token) == 0 || token[0] == '{' || token[0] == '[' || token[0] == 'n' {
		return func(string) {}
	}
	n, last := 0, time.Time{}
	return func(message string) {
		if n++; time.Since(last) < progressPause {
			return
		}
		last = time.Now()
		_ = c.peer.Post("notifications/progress", map[string]any{ // the client may have ended
			"progressToken": token, "progress": n, "message": message[:min(len(message), maxMessage)],
		})
	}
}
