package host

import (
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/adapters"
)

// The message of a timeout says what came instead of the answer.
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
