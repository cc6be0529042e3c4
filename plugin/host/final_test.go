package host

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// Once a plugin has ended, every later call names the call that ended it. So do calls that were waiting
// then.
func TestLaterCallsNameTheOneThatBrokeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) {
			c.read()
			time.Sleep(time.Second) // meanwhile the other calls wait
			c.Send([]byte("{x}"))
			c.hang()
		}))
		p := start(t, o)
		var calls sync.WaitGroup
		ask := func(c Call, late bool, want string) {
			calls.Go(func() {
				var f *adapters.Failure
				err := callError(p, c)
				if !errors.As(err, &f) || f.Late != late || !strings.HasPrefix(f.Message, want) {
					t.Errorf("%s of %q: got %v, want %q", c.Method, c.Dir, err, want)
				}
			})
			synctest.Wait()
		}
		ask(Call{Method: "detect", Dir: "/w/y"}, false, "malformed frame")
		for _, c := range []Call{{Method: "detect", Dir: "/w/z"}, {Method: "fingerprint"}} {
			ask(c, true, `it is not used since detect of "/w/y": malformed frame`)
		}
		calls.Wait()
		ask(Call{Method: "links", Dir: "/w/y"}, true, `it is not used since detect of "/w/y": malformed frame`)
		calls.Wait()
	})
}

// The message of a timeout describes the bytes that arrived in place of the answer.
func TestLateSaysWhatCame(t *testing.T) {
	for name, c := range map[string]struct {
		write func(c *child, r request)
		want  string
	}{
		"nothing": {func(*child, request) {}, "timed out after 30s: no answer to detect"},
		"a message that is short": {
			func(c *child, _ request) { fmt.Fprint(c.stdout, "Content-Length: 40\r\n\r\n{}") },
			"timed out after 30s: no answer to detect; read 2 of 40 bytes of a message; is Content-Length right?",
		},
		"no line": {
			func(c *child, _ request) { fmt.Fprint(c.stdout, "hello") },
			`timed out after 30s: no answer to detect; read "hello" without the end of that line`,
		},
		"no message": {
			func(c *child, _ request) { c.Send([]byte(`{"jsonrpc":"2.0"}`)) },
			"timed out after 30s: no answer to detect; it wrote an ignored message: the message has neither a method nor an id",
		},
		"a long id": {
			func(c *child, _ request) {
				c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%0300d","result":null}`, 7))
			},
			"timed out after 30s: no answer to detect; it wrote an ignored message: the id has more than 256 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, _ := options(greeted(func(ch *child) { c.write(ch, ch.read()); ch.hang() }))
				_, message := codeOf(callError(start(t, o), Call{Method: "detect"}))
				if message != c.want {
					t.Errorf("got  %s\nwant %s", message, c.want)
				}
			})
		})
	}
}
