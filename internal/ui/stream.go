package ui

import (
	"bytes"
	"net/http"
	"time"
)

// pingTime is the longest silence of a stream: a write finds out that a browser is gone.
const pingTime = 15 * time.Second

// events sends what happens, as server-sent events, until the browser is gone or the server ends.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer s.hub.enter()()
	w.Header().Set("Content-Type", "text/event-stream")
	stream, last := http.NewResponseController(w), seen{}
	_ = stream.SetReadDeadline(time.Time{}) // the request is read; a timeout would end the stream
	ping := time.NewTicker(pingTime)
	defer ping.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		list, changed := s.hub.since(&last)
		var b bytes.Buffer
		for _, n := range list {
			b.WriteString("event: " + n.event + "\ndata: ")
			b.Write(encode(n.value)) // has no line ends
			b.WriteString("\n\n")
		}
		if b.Len() == 0 {
			b.WriteString(": still here\n\n")
		}
		_ = stream.SetWriteDeadline(time.Now().Add(patience))
		if _, err := w.Write(b.Bytes()); err != nil || stream.Flush() != nil {
			return
		}
		pause.Reset(lookTime)
		select { // a page hears at most one message each lookTime
		case <-r.Context().Done():
			return
		case <-pause.C:
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-ping.C:
		}
	}
}
