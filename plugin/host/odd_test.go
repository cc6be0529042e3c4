package host

import (
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/adapters"
)

// The message of a timeout describes the message that arrived in place of the answer.
func TestDeadlineNamesWhatCame(t *testing.T) {
	for sent, want := range map[string]string{
		`{"jsonrpc":"2.0","id":77,"result":{}}`:    "a response with the id 77, which has no request",
		`{"jsonrpc":"2.0","id":1e999,"result":{}}`: "a response with the id 1e999, which has no request",
		`{"jsonrpc":"2.0","method":"telemetry"}`:   `a notification "telemetry"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			o, _ := options(greeted(func(c *child) {
				c.read()
				_ = c.Send([]byte(sent))
				c.hang()
			}))
			code, message := codeOf(callError(start(t, o), Call{Method: "detect"}))
			if want := "timed out after 30s: no answer to detect; it wrote " + want; code != adapters.Timeout || message != want {
				t.Errorf("%s: got %q %q, want %q", sent, code, message, want)
			}
		})
	}
}

// A process that has just ended is not ready, even if live has not set the next state yet.
func TestStateOfAnEndedSession(t *testing.T) {
	over := make(chan struct{})
	close(over)
	for code, want := range map[adapters.Code]State{adapters.Crashed: Restarting, adapters.Timeout: Failed} {
		p := &Plugin{state: Ready, tail: NewTail(1, nil), current: &session{process: &process{done: over, cause: &ended{code, "why"}}}}
		if state, f := p.State(); state != want || f == nil || f.Code != code {
			t.Errorf("%s: state %v, %v, want %v", code, state, f, want)
		}
	}
}
