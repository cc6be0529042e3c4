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

// Who asks a plugin that is gone learns which call ended it, whoever waited for that
// call, and however many waited behind it.
func TestLaterCallsNameTheOneThatBrokeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) {
			c.read()
			time.Sleep(time.Second) // the others wait meanwhile
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
			ask(c, true, `it is not asked any more since detect of "/w/y": malformed frame`)
		}
		calls.Wait()
		ask(Call{Method: "links", Dir: "/w/y"}, true, `it is not asked any more since detect of "/w/y": malformed frame`)
		calls.Wait()
	})
}

// A deadline that is missed says what had come instead of the answer, in whole sentences.
func TestLateSaysWhatCame(t *testing.T) {
	for name, c := range map[string]struct {
		write func(c *child, r request)
		want  string
	}{
		"nothing": {func(*child, request) {}, "no answer to detect within 30s"},
		"a message that is short": {
			func(c *child, _ request) { fmt.Fprint(c.stdout, "Content-Length: 40\r\n\r\n{}") },
			"no answer to detect within 30s; 2 of 40 bytes of a message had come; is Content-Length right?",
		},
		"no line": {
			func(c *child, _ request) { fmt.Fprint(c.stdout, "hello") },
			`no answer to detect within 30s; "hello" had come, and no end of that line`,
		},
		"no message": {
			func(c *child, _ request) { c.Send([]byte(`{"jsonrpc":"2.0"}`)) },
			"no answer to detect within 30s; it wrote a message that was passed over: the message has neither a method nor an id",
		},
		"a long id": {
			func(c *child, _ request) {
				c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%0300d","result":null}`, 7))
			},
			"no answer to detect within 30s; it wrote a message that was passed over: the id has more than 256 bytes",
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
